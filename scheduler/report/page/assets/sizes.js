// The list of jobs that were shrunk, and for which jobs: what a reader of a malleable run wants to see first.

const kListedSizes = 200;

/** All changes of size in the order of time, a table for each run that has some; null if none has. */
function sizesBox(data, view) {
  const runs = data.runs.filter((run) => run.resizes.job && run.resizes.job.length > 0);
  if (runs.length === 0) return null;
  const few = runs.reduce((sum, run) => sum + run.resizes.job.length, 0) <= 40;
  return element("details", {class: "sizes", open: few}, element("summary", {}, "Which job was shrunk, and for which"),
                 runs.map((run) => sizesOf(run, view, data.runs.length > 1)));
}

function sizesOf(run, view, named) {
  const {job, at, from, to, for: sake} = run.resizes;
  const order = Array.from(job.keys()).sort((a, b) => at[a] - at[b]);
  const shrinks = order.filter((i) => to[i] < from[i]);
  const expands = order.filter((i) => to[i] > from[i]).length;
  const rows = order.slice(0, kListedSizes).map((i) => {
    const isShrunk = to[i] < from[i];
    const other = sake && sake[i] >= 0 && sake[i] !== job[i] ? sake[i] : -1;
    return element("tr", {}, element("td", {class: "when"}, instantText(at[i])), element("td", {}, view.jobLink(run, job[i])),
                   element("td", {}, isShrunk ? "shrunk" : to[i] > from[i] ? "expanded" : "moved"),
                   element("td", {}, `${from[i]} to ${counted(to[i], "core")}`),
                   element("td", {}, other >= 0 ? ["for ", view.jobLink(run, other)] : ""));
  });
  const left = order.length - rows.length;
  const victims = new Set(shrinks.map((i) => job[i])).size;
  return element("section", {}, named ? element("h3", {}, run.name) : null,
    element("p", {class: "quiet"}, `${counted(victims, "job")} ${victims === 1 ? "was" : "were"} shrunk ${counted(shrinks.length, "time")}` +
            ` and expanded ${counted(expands, "time")}. The Gantt chart hatches what is shrunk; select a job for arrows to and from it.`),
    element("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": `changes of size in ${run.name}`},
            element("table", {class: "metrics plain"}, element("tbody", {}, rows))),
    left > 0 ? element("p", {class: "quiet"}, `and ${numberText(left)} more: click a job for its own`) : null);
}
