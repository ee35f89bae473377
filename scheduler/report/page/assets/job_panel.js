// The panel of the selected job: its data, what was done to it and for whom, its neighbours, why it waited.

const kJobRows = [
  ["user", "user", numberText], ["queue", "queue", numberText], ["submitted", "submit", instantText],
  ["started", "start", instantText], ["ended", "end", instantText], ["waited", "wait", durationText],
  ["response", "response", durationText], ["bounded slowdown", "bounded_slowdown", numberText],
  ["estimate", "estimate", durationText], ["run time", "runtime", durationText], ["processes asked for", "processes", numberText],
  ["processes given", "given", numberText], ["optimal size", "optimal", numberText], ["cores at the start", "cores", numberText],
  ["most processes on a core", "max_mpl", numberText], ["time shrunk", "shrunk_time", durationText],
  ["time suspended", "suspended_time", durationText], ["time in a group", "group_time", durationText],
];


/** "node 3", "nodes 0-3" or, with gaps between them, "on nodes between 0 and 9"; by their hosts where they are known. */
function nodesText(nodes, run) {
  const all = [...new Set(nodes)].sort((a, b) => a - b);
  if (all.length === 0) return "";
  const [low, high] = [all[0], all[all.length - 1]];
  if (all.length === 1) return run.nodeName(low);
  if (run.json.hosts && all.length <= 8) return all.map((node) => run.nodeName(node)).join(", ");
  const [first, last] = run.json.hosts ? [run.nodeName(low), run.nodeName(high)] : [low, high];
  if (nodes.length > 2 && high - low + 1 > all.length) return `on nodes between ${first} and ${last}`;
  return run.json.hosts ? `${first} to ${last}` : `nodes ${low}-${high}`;
}

class JobPanel {
  constructor(view, box) {
    Object.assign(this, {view, box});
    this.heading = element("h2", {tabindex: "-1"});
    this.body = element("div", {class: "job-body"});
    box.append(element("header", {}, this.heading,
                       element("button", {type: "button", "aria-label": "close the job", onclick: () => view.select(null, -1)}, "×")), this.body);
  }
  focus() {
    if (!this.box.hidden) this.heading.focus();
  }
  show() {
    const {view, body} = this;
    this.box.hidden = !view.selected;
    body.replaceChildren();
    if (!view.selected) return;
    const {run, row} = view.selected;
    const id = run.idOf(row);
    this.heading.textContent = `Job ${run.nameOf(row)}`;
    const subtitle = [view.data.runs.length > 1 ? `in ${run.name}` : "", run.className(row), run.outcome(row)].filter((part) => part !== "");
    body.append(element("p", {class: "quiet"}, subtitle.join(", ")));
    const reason = run.jobs.reason ? run.jobs.reason.get(row) : "";
    if (reason) body.append(element("p", {class: "words"}, reason));
    body.append(element("p", {class: "actions"},
                        element("button", {type: "button", onclick: () => view.fitSelected()}, "show all of it (f)"),
                        element("a", {href: view.fragment({f: null})}, "link to this view")));
    this.resizes(run, row);
    this.section("Data", this.data(run, row));
    this.where(run, row);
    this.neighbours(run, row);
    this.why(run, row);
    this.elsewhere(run, id);
  }
  section(title, ...children) {
    this.body.append(element("section", {}, element("h3", {}, title), ...children));
  }
  data(run, row) {
    const rows = [];
    for (const [label, name, text] of kJobRows) {
      const value = run.value(name, row);
      if (Number.isNaN(value)) continue;
      if (/_time$/.test(name) && value === 0) continue;
      if (name === "optimal" && value <= 0) continue;
      rows.push(element("tr", {}, element("th", {scope: "row"}, label), element("td", {}, text(value))));
    }
    if (run.value("node_share", row) === 1) rows.push(element("tr", {}, element("th", {scope: "row"}, "shares nodes"), element("td", {}, "yes")));
    return element("table", {class: "facts"}, element("tbody", {}, rows));
  }
  resizes(run, row) {
    const all = resizesOf(run, row);
    if (all.length === 0) return;
    const items = all.slice(0, 60).map(({at, text, other, own}) => {
      const item = element("li", {}, element("span", {class: "when"}, `${instantText(at)} `));
      if (own) {
        item.append(text);
        if (other >= 0) item.append(text.startsWith("shrunk") ? " for " : " because of ", this.view.jobLink(run, other));
      } else {
        item.append(this.view.jobLink(run, other), ` was ${text} for this job`);
      }
      return item;
    });
    this.section("Changes of size", element("ul", {class: "events"}, items),
                 all.length > 60 ? element("p", {class: "quiet"}, `and ${all.length - 60} more`) : null);
  }
  where(run, row) {
    const {from, to, first, last, flags, mpl} = run.stretches.open();
    const parts = run.stretchesOf(row);
    if (parts.length === 0) return;
    const lines = [];
    for (const i of parts) {
      const words = [];
      if (flags[i] & kSuspended) words.push("suspended");
      if (flags[i] & kShrunk) words.push(`shrunk, ${mpl[i]} processes per core`);
      if (flags[i] & kGrouped) words.push("in a group");
      const line = lines[lines.length - 1];
      const cores = rangeText(first[i], last[i]);
      const nodes = run.nodeOf(0) === 0 ? [run.nodeOf(first[i]), run.nodeOf(last[i])] : [];
      if (line && line.from === from[i] && line.to === to[i]) {
        line.cores.push(cores);
        line.nodes.push(...nodes);
      } else {
        lines.push({from: from[i], to: to[i], cores: [cores], nodes, rest: words});
      }
    }
    const items = lines.slice(0, 40).map((line) => element("li", {}, element("span", {class: "when"},
      `${instantText(line.from)} to ${instantText(line.to)} `), [`${/^\d+$/.test(line.cores.join()) ? "core" : "cores"} ${line.cores.join(", ")}`, nodesText(line.nodes, run), ...line.rest].filter((word) => word !== "").join("; ")));
    this.section("Where it was", element("ul", {class: "events"}, items),
                 lines.length > 40 ? element("p", {class: "quiet"}, `and ${lines.length - 40} more`) : null);
  }
  neighbours(run, row) {
    const found = neighboursOf(run, row);
    const groups = (run.json.groups || []).filter((group) => group.primary === row || (group.jobs || []).includes(row)).slice(0, 8);
    const items = [];
    const list = (title, rows) => {
      if (rows.length === 0) return;
      items.push(element("li", {}, `${title}: `, rows.flatMap((other, k) => [k > 0 ? ", " : "", this.view.jobLink(run, other)])));
    };
    list("on the same cores meanwhile", found.cores);
    list("on the same nodes meanwhile", found.nodes);
    list("on its cores before", found.before);
    list("on its cores afterwards", found.after);
    for (const group of groups) list(`group from ${instantText(group.from)} to ${instantText(group.to)}`, [...new Set([group.primary, ...group.jobs])].filter((other) => other !== row && other >= 0));
    if (items.length > 0) this.section("Neighbours", element("ul", {class: "events"}, items), found.more ? element("p", {class: "quiet"}, "and more") : null);
  }
  why(run, row) {
    if (!run.whyRows && run.why.job) run.whyRows = new Map([...run.why.job].map((job, k) => [job, k]));
    const k = run.whyRows ? run.whyRows.get(row) : undefined;
    if (k !== undefined) {
      this.section(run.value("wait", row) <= 0 ? "Its start" : "Why it waited", element("div", {class: "why"}, this.linked(run, run.why.text.get(k))));
    } else if (run.value("wait", row) > 0) {
      this.section("Why it waited", element("p", {class: "quiet"}, "This page has no text for it. Ask for it: ",
                                            element("code", {}, `replay why ${run.json.folder || "RUN"} ${run.nameOf(row)}`)));
    }
  }
  /** A text in which "job 7" is a link. */
  linked(run, text) {
    const parts = [];
    let end = 0;
    for (const match of text.matchAll(/\bjob (\d+)\b/g)) {
      const row = run.rowOf(Number(match[1]));
      if (row < 0) continue;
      parts.push(text.slice(end, match.index), this.view.jobLink(run, row, match[0]));
      end = match.index + match[0].length;
    }
    parts.push(text.slice(end));
    return parts;
  }
  elsewhere(run, id) {
    const items = this.view.data.runs.filter((other) => other !== run && other.rowOf(id) >= 0).map((other) => {
      const row = other.rowOf(id);
      return element("li", {}, this.view.jobLink(other, row, other.name), ": waited ", durationText(other.value("wait", row)),
                     ", ran ", durationText(other.value("end", row) - other.value("start", row)));
    });
    if (items.length > 0) this.section("In the other runs", element("ul", {class: "events"}, items));
  }
}
