// What is text on the page: warnings, the table of metrics, the list of jobs, what the page leaves out.

const kWarningWords = {disturbed: "disturbed", overrun: "over its estimate", failed: "failed", lost: "lost", cut: "cut off", rejected: "rejected", note: "note"};

function warningsBox(data, view) {
  const items = data.runs.flatMap((run) => (run.json.warnings || []).map((warning) => ({run, warning})));
  if (items.length === 0) return null;
  const rank = {cut: 0, failed: 1, lost: 2, disturbed: 3, overrun: 4, rejected: 5, note: 6};
  items.sort((a, b) => (rank[a.warning.kind] ?? 9) - (rank[b.warning.kind] ?? 9));
  const lines = items.map(({run, warning}) => {
    const row = warning.job === undefined || warning.job === null ? -1 : warning.job;
    return element("li", {class: `warning-${warning.kind}`}, element("strong", {}, kWarningWords[warning.kind] || warning.kind), " ",
                   data.runs.length > 1 ? `${run.name}: ` : "", warning.text, " ",
                   row >= 0 ? view.jobLink(run, row, "show") : warning.at === undefined || warning.at === null ? null
                            : element("a", {href: view.fragment({t: `${warning.at - 30},${warning.at + 30}`})}, "show"));
  });
  const notes = items.filter(({warning}) => warning.kind === "note").length;
  const warnings = lines.length - notes;
  const open = Math.min(warnings, 4);
  const more = (from, to, word) => {
    if (to <= from) return null;
    const left = to - from - 500;
    return element("details", {}, element("summary", {}, counted(to - from, word)), element("ul", {}, lines.slice(from, Math.min(to, from + 500))),
                   left > 0 ? element("p", {}, `and ${left} more, which only the log has`) : null);
  };
  return element("section", {class: warnings > 0 ? "warnings" : "warnings notes", "aria-label": "warnings"},
                 open > 0 ? element("ul", {}, lines.slice(0, open)) : null, more(open, warnings, "more warning"), more(warnings, lines.length, "note"));
}

// What a reader compares first; and, only where they are not 0, how many jobs did not end well.
const kKeyMetrics = ["jobs", "mean_wait", "p50_wait", "p95_wait", "mean_response", "mean_bounded_slowdown", "p95_bounded_slowdown", "utilisation",
                     "fragmentation", "mean_mpl", "mean_queue", "makespan", "shrinks"];
const kBadEnds = ["jobs_failed", "jobs_lost", "jobs_overrun", "jobs_killed", "jobs_cancelled", "jobs_rejected", "jobs_unfinished"];

const metricOf = (run, name) => (run.json.metrics || []).find((one) => one.name === name);

/** The metrics that count, and all of them folded. */
function metricsTables(data) {
  const names = new Map();
  for (const run of data.runs) for (const metric of run.json.metrics || []) if (!names.has(metric.name)) names.set(metric.name, metric);
  if (names.size === 0) return [element("p", {class: "quiet"}, "No figures: the run has no job that ended.")];
  const isBad = (name) => data.runs.some((run) => metricOf(run, name) && metricOf(run, name).value > 0);
  const first = [...kBadEnds.filter(isBad), ...kKeyMetrics];
  const keys = [...names.values()].filter((metric) => first.includes(metric.name));
  return [metricsTable(data, keys, "figures"),
          element("details", {class: "all-figures"}, element("summary", {}, `All ${names.size} figures`), metricsTable(data, [...names.values()], "all figures"))];
}

/** Change against the first run in percent, where that says something. */
function changeText(run, first, name) {
  const [metric, base] = [metricOf(run, name), metricOf(first, name)];
  if (run === first || !metric || !base || !(Math.abs(base.value) > 1e-9) || !Number.isFinite(metric.value)) return null;
  const change = (metric.value / base.value - 1) * 100;
  if (Math.abs(change) < 0.05) return "=";
  return `${change > 0 ? "+" : "\u2212"}${numberText(Math.abs(change), Math.abs(change) < 10 ? 2 : 3)} %`;
}

/** Some metrics, a column for each run. */
function metricsTable(data, metrics, label) {
  const cell = (run, name) => {
    const metric = metricOf(run, name);
    if (!metric) return element("td", {}, "-");
    const change = changeText(run, data.runs[0], name);
    const text = [numberText(metric.value), change ? element("span", {class: "change"}, ` ${change}`) : null];
    if (Number.isFinite(metric.low) && Number.isFinite(metric.high)) {
      const mean = Number.isFinite(metric.mean) ? `mean ${numberText(metric.mean)}, ` : "";
      text.push(element("span", {class: "confidence", title: "over the seeds, with 95 % confidence"}, ` ${mean}${numberText(metric.low)} to ${numberText(metric.high)}`));
    }
    return element("td", {}, text);
  };
  const rows = metrics.map((metric) => element("tr", {},
    element("th", {scope: "row", title: metric.definition}, metric.label || metric.name, metric.unit && metric.unit !== "jobs" ? element("span", {class: "quiet"}, `, ${metric.unit}`) : null),
    data.runs.map((run) => cell(run, metric.name))));
  return element("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": label}, element("table", {class: "metrics"},
    element("thead", {}, element("tr", {}, element("th", {scope: "col"}, "metric"), data.runs.map((run) => element("th", {scope: "col"}, run.name)))),
    element("tbody", {}, rows)));
}

/** What is known of each run itself. */
function headersTable(data) {
  const names = [...new Set(data.runs.flatMap((run) => (run.json.header || []).map(([name]) => name)))];
  const value = (run, name) => ((run.json.header || []).find(([one]) => one === name) || ["", "-"])[1];
  return element("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": "table of the runs"}, element("table", {class: "metrics plain"},
    element("thead", {}, element("tr", {}, element("th", {scope: "col"}, "run"), data.runs.map((run) => element("th", {scope: "col"}, run.name)))),
    element("tbody", {}, names.map((name) => element("tr", {}, element("th", {scope: "row"}, name), data.runs.map((run) => element("td", {}, value(run, name))))))));
}

const kListColumns = [["job", "id", numberText], ["user", "user", numberText], ["class", "class", null], ["processes", "processes", numberText],
                      ["submitted", "submit", (value) => instantText(value, 1)], ["waited", "wait", durationText], ["response", "response", durationText],
                      ["slowdown", "bounded_slowdown", numberText], ["cores", "cores", numberText], ["time shrunk", "shrunk_time", durationText]];

/** The jobs that pass the filter as a table, sorted by any column: also for those who do not see the picture. */
class JobList {
  constructor(data, view) {
    Object.assign(this, {data, view, by: "wait", down: true, most: 50});
    this.rows = element("tbody", {});
    this.note = element("p", {class: "quiet"});
    this.heads = kListColumns.map(([label, name]) => element("th", {scope: "col"}, element("button", {type: "button", onclick: () => {
      [this.by, this.down] = [name, this.by === name ? !this.down : name !== "id" && name !== "submit"];
      this.fill();
    }}, label)));
    this.run = data.runs[0];
    const choice = data.runs.length < 2 ? null : element("select", {"aria-label": "run", onchange: (event) => {
      this.run = data.runs[Number(event.target.value)];
      this.fill();
    }}, data.runs.map((run) => element("option", {value: run.index}, run.name)));
    this.more = element("button", {type: "button", onclick: () => {
      this.most += 200;
      this.fill();
    }}, "show more");
    this.box = element("details", {class: "jobs", id: "jobs"}, element("summary", {}, "Jobs"), choice,
      element("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": "table of jobs"},
              element("table", {class: "metrics"}, element("thead", {}, element("tr", {}, this.heads)), this.rows)), this.note, this.more);
    this.box.addEventListener("toggle", () => this.fill());
  }
  fill() {
    if (!this.box.open) return;
    const {run, by} = this;
    const column = run.jobs[by];
    let rows = Array.from({length: run.count}, (_, row) => row);
    if (run.matches) rows = rows.filter((row) => run.matches[row]);
    const sign = this.down ? -1 : 1;
    const key = (row) => (column && !Number.isNaN(column[row]) ? column[row] : this.down ? -Infinity : Infinity);
    rows.sort((a, b) => sign * (key(a) - key(b)) || a - b);
    kListColumns.forEach(([, name], k) => this.heads[k].setAttribute("aria-sort", name === by ? (this.down ? "descending" : "ascending") : "none"));
    this.rows.replaceChildren(...rows.slice(0, this.most).map((row) => element("tr", {}, kListColumns.map(([, name, text]) => {
      if (name === "id") return element("td", {}, this.view.jobLink(run, row, run.nameOf(row)));
      if (name === "class") return element("td", {}, run.className(row) || "-");
      return element("td", {}, text(run.value(name, row)));
    }))));
    this.note.textContent = rows.length > this.most ? `${numberText(this.most)} of ${numberText(rows.length)}` : counted(rows.length, "job");
    this.more.hidden = rows.length <= this.most;
  }
}

function limitsBox(data) {
  const lines = data.runs.flatMap((run) => (run.json.limits || []).map((text) => (data.runs.length > 1 ? `${run.name}: ${text}` : text)));
  if (lines.length === 0) return null;
  return element("details", {class: "limits", open: lines.length <= 3}, element("summary", {}, "What this page leaves out"), element("ul", {}, lines.map((text) => element("li", {}, text))));
}
