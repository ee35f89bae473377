// Distributions of wait, response and slowdown: the share of jobs up to a value, for all jobs, by class or by size.

const kOf = {wait: ["wait", "s"], response: ["response", "s"], slowdown: ["bounded slowdown", ""]};

class Distributions {
  constructor(runs, isDark) {
    Object.assign(this, {runs, isDark, by: "all", graphs: []});
    this.box = element("div", {});
    const kinds = new Set(runs.flatMap((run) => (run.json.ecdf || []).map((one) => one.by)));
    this.choice = element("select", {id: "ecdf-by", onchange: () => {
      this.by = this.choice.value;
      this.draw();
    }}, [...kinds].map((by) => element("option", {value: by}, {all: "all jobs", class: "class", size: "size"}[by] || by)));
    this.logarithmic = element("input", {type: "checkbox", id: "ecdf-log", checked: true, onchange: () => this.draw()});
    this.plots = element("div", {class: "ecdfs"});
    if (kinds.size === 0) this.box.append(element("p", {class: "quiet"}, "No job has ended: there is nothing to distribute."));
    else this.box.append(element("p", {class: "controls"}, element("label", {for: "ecdf-by"}, "lines for "), this.choice,
                                 element("label", {for: "ecdf-log"}, this.logarithmic, " logarithmic")), this.plots);
  }
  choices() {
    return {by: this.by, logarithmic: this.logarithmic.checked};
  }
  /** As before, where that can be chosen. */
  choose({by, logarithmic}) {
    if ([...this.choice.options].some((one) => one.value === by)) this.by = this.choice.value = by;
    this.logarithmic.checked = logarithmic;
  }
  draw() {
    for (const graph of this.graphs) graph.destroy();
    this.graphs = [];
    this.plots.replaceChildren();
    if (!this.choice.isConnected) return;
    // All figures first: they share the width.
    for (const draw of Object.keys(kOf).map((of) => this.plot(of))) if (draw) draw();
  }
  /** Places the figure of one quantity; returns what draws it, null if it has no line. */
  plot(of) {
    const lines = this.runs.flatMap((run) => (run.json.ecdf || []).filter((one) => one.of === of && one.by === this.by)
      .map((one) => ({run, name: this.runs.length > 1 ? `${run.name}: ${one.name}` : one.name, median: one.median, columns: this.columnsOf(one)})));
    const shown = lines.filter((line) => line.columns.x && line.columns.x.length > 0);
    if (shown.length === 0) return null;
    const [label, unit] = kOf[of];
    const plot = element("div", {class: "ecdf-plot", role: "img", "aria-label": `share of jobs by ${label}: ${shown.map((line) =>
      `${line.name} median ${numberText(line.median)}`).join("; ")}`});
    const key = element("p", {class: "key"});
    this.plots.append(element("figure", {class: "ecdf"}, element("figcaption", {}, unit ? `${label}, ${unit}` : label), plot, key));
    const logarithmic = this.logarithmic.checked;
    const floor = of === "slowdown" ? 1 : 0.1;
    const place = (x) => (logarithmic ? Math.log10(Math.max(floor, x)) : x);
    const all = new Map();
    shown.forEach((line, k) => {
      const {x, y} = line.columns;
      const add = (at, value) => {
        if (!all.has(at)) all.set(at, new Array(shown.length).fill(null));
        all.get(at)[k] = value;
      };
      for (let i = 0; i < x.length; ++i) add(place(x[i]), y[i]);
    });
    const look = this.isDark() ? "dark" : "light";
    const colours = shown.map((_, k) => kLineColours[look][k % 4]);
    const rows = [...all.entries()].sort((a, b) => a[0] - b[0]).map(([at, values]) => [at, ...values]);
    const most = Math.max(rows[rows.length - 1][0], rows[0][0] + (logarithmic ? 0.3 : 1e-3));
    // Each line begins at 0 and goes on to the right edge.
    rows.unshift([rows[0][0] - (most - rows[0][0]) * 0.01, ...shown.map(() => 0)]);
    const lastOf = (k) => rows.findLast((row) => row[k + 1] !== null)[k + 1];
    rows.push([most * 1.0001 + 1e-9, ...shown.map((_, k) => lastOf(k))]);
    const labels = shown.map((line, k) => `${k + 1}: ${line.name}`);
    const valueOf = (v) => (logarithmic ? 10 ** v : v);
    shown.forEach((line, k) => key.append(this.sample(colours[k], dashesOf(k), line)));
    return () => this.graphs.push(new Dygraph(plot, rows, {
      labels: ["x", ...labels], stepPlot: true, connectSeparatedPoints: true, legend: "never", width: plot.clientWidth || 300,
      height: 180, valueRange: [0, 1.02], xRangePad: 0, colors: colours, strokeWidth: 1.8, highlightCircleSize: 0,
      series: Object.fromEntries(labels.map((name, k) => [name, {strokePattern: dashesOf(k), color: colours[k]}])),
      gridLineColor: look === "dark" ? "#3a424d" : "#dde2e8", axisLineColor: look === "dark" ? "#5a6573" : "#aab2bd",
      interactionModel: {}, drawGrid: true,
      axes: {
        x: {axisLabelFontSize: 11, axisLabelFormatter: (v) => numberText(valueOf(v), 2),
            ticker: logarithmic ? (from, to) => logarithmicTicks(from, to, of === "slowdown" ? -Infinity : Math.log10(floor)) : Dygraph.numericLinearTicks},
        y: {axisLabelFontSize: 11, axisLabelWidth: 42, pixelsPerLabel: 34, axisLabelFormatter: (v) => `${Math.round(v * 100)} %`},
      },
    }));
  }
  sample(colour, dash, line) {
    return element("span", {}, lineSample(colour, dash), ` ${line.name} (median ${numberText(line.median, 3)})`);
  }
  columnsOf(one) {
    if (!one.decoded) one.decoded = lazyColumns({x: one.x, y: one.y});
    return one.decoded;
  }
}

/** Round numbers as places on a logarithmic axis: decades, or what lies between them where there are few. `least` stands for all below. */
function logarithmicTicks(from, to, least) {
  const decades = Math.max(1, Math.ceil((to - from) / 5));
  const factors = to - from > 2.2 ? [1] : to - from > 0.8 ? [1, 2, 5] : [1, 1.2, 1.5, 2, 3, 5, 7];
  const ticks = [];
  const start = Number.isFinite(least) ? Math.round(least) : Math.floor(from);
  for (let power = start; power <= to; power += factors.length > 1 ? 1 : decades) {
    for (const factor of factors) {
      const v = power + Math.log10(factor);
      if (v >= from - 1e-9 && v <= to) ticks.push({v, label: `${v <= least + 1e-9 ? "\u2264 " : ""}${numberText(10 ** v, 3)}`});
    }
  }
  return ticks;
}
