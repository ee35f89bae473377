// Curves below the Gantt charts, on the same span of time: dygraphs draws them. It gets at most one point for each pixel column,
// the mean over it and the least and the greatest value in it (the band), so that the cost does not grow with the run.

const kCurves = [
  {name: "queued", label: "jobs that wait", integer: true},
  {name: "busy", label: "busy cores", integer: true, most: (run) => run.cores},
  {name: "mpl", label: "processes per busy core", integer: false},
  {name: "free_while_queued", label: "free cores while jobs wait", integer: true},
  {name: "waiting_processors", label: "processors that waiting jobs ask for", integer: true, optional: true},
];
const kDashes = [null, [7, 3], [2, 2], [10, 3, 2, 3], [4, 4], [12, 4], [1, 3]];
const kLineColours = {light: ["#0072b2", "#b64a00", "#007a5a", "#8a3f73"], dark: ["#7cc4f2", "#ffb26b", "#5fd6b2", "#e8a3cf"]};
/** Of line `k`; with the four colours 28 lines differ. */
const dashesOf = (k) => kDashes[k % kDashes.length];

/** A step function whose extremes (over powers of 16 points) and means are found in few steps for any range. NaN: undefined. */
class StepFunction {
  constructor(times, values, end) {
    Object.assign(this, {times, values, end});
    this.integral = new Float64Array(times.length + 1);
    this.weight = new Float64Array(times.length + 1);
    for (let i = 0; i < times.length; ++i) {
      const length = (i + 1 < times.length ? times[i + 1] : Math.max(end, times[i])) - times[i];
      const defined = !Number.isNaN(values[i]);
      this.integral[i + 1] = this.integral[i] + (defined ? values[i] * length : 0);
      this.weight[i + 1] = this.weight[i] + (defined ? length : 0);
    }
    this.levels = [{least: values, most: values}];
    for (let size = values.length; size > 16;) {
      const below = this.levels[this.levels.length - 1];
      size = Math.ceil(size / 16);
      const least = new Float64Array(size).fill(Infinity), most = new Float64Array(size).fill(-Infinity);
      for (let i = 0; i < below.least.length; ++i) {
        const k = i >> 4;
        if (below.least[i] < least[k]) least[k] = below.least[i];
        if (below.most[i] > most[k]) most[k] = below.most[i];
      }
      this.levels.push({least, most});
    }
  }
  /** Value at an instant, NaN outside. */
  at(time) {
    return time < this.times[0] || time > this.end ? NaN : this.values[lastBefore(this.times, time)];
  }
  /** [integral, time in which it is defined] from the first point until `time`. */
  until(time, k) {
    if (k < 0) return [0, 0];
    const length = Math.max(0, Math.min(time, this.end) - this.times[k]);
    const value = this.values[k];
    return Number.isNaN(value) ? [this.integral[k], this.weight[k]] : [this.integral[k] + value * length, this.weight[k] + length];
  }
  /** [least, most] of the values in [low, high). */
  extremes(low, high) {
    let [least, most] = [Infinity, -Infinity];
    for (let level = 0; low < high; ++level) {
      const {least: lows, most: highs} = this.levels[level];
      const last = level + 1 === this.levels.length;
      while (low < high && (last || low & 15)) {
        if (lows[low] < least) least = lows[low];
        if (highs[low] > most) most = highs[low];
        ++low;
      }
      while (low < high && high & 15) {
        --high;
        if (lows[high] < least) least = lows[high];
        if (highs[high] > most) most = highs[high];
      }
      [low, high] = [low >> 4, high >> 4];
    }
    return [least, most];
  }
}

/** 0 and one or two round values up to `top`. */
function valueTicks(top, integer) {
  let step = 10 ** Math.floor(Math.log10(top));
  if (integer) step = Math.max(1, step);
  const factor = [5, 2, 1, 0.5, 0.2].find((one) => one * step <= top / 1.05 && (!integer || Number.isInteger(one * step))) || 1;
  const ticks = [{v: 0, label: "0"}];
  for (let v = factor * step; v <= top && ticks.length < 4; v += factor * step) ticks.push({v, label: numberText(v, 3)});
  return ticks;
}

/** Index of the last time that is not after `at`, -1 before the first. */
function lastBefore(times, at) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** A piece of a line for a key. */
function lineSample(colour, dash) {
  const canvas = element("canvas", {width: 38, height: 8, "aria-hidden": "true"});
  const context = canvas.getContext("2d");
  [context.strokeStyle, context.lineWidth] = [colour, 2];
  context.setLineDash(dash || []);
  context.beginPath();
  context.moveTo(0, 4);
  context.lineTo(38, 4);
  context.stroke();
  return canvas;
}

/** The band between the least and the greatest value, for dygraphs: a rectangle a point. Its own plotter closes a path for each point of
 *  one large path, which takes ten times as long as all the rest of a curve. */
function bandPlotter({drawingContext: context, points, plotArea, color}) {
  context.save();
  context.globalAlpha = 0.3;
  context.fillStyle = color;
  for (let i = 0; i + 1 < points.length; ++i) {
    const {canvasx, y_top: top, y_bottom: bottom} = points[i];
    const [x, y] = [Math.round(canvasx), plotArea.y + top * plotArea.h];
    const [width, height] = [Math.round(points[i + 1].canvasx) - x, (bottom - top) * plotArea.h];
    if (width > 0 && Math.abs(height) > 0.5) context.fillRect(x, y, width, height);
  }
  context.restore();
}

class Curves {
  constructor(runs, view, isDark) {
    Object.assign(this, {runs, view, isDark, charts: [], turn: 0, functions: new Map()});
    this.box = element("section", {class: "curves", "aria-label": "load of the machine over time"});
  }
  /** Makes all figures, for the data and the theme; what is open or closed stays so. */
  make() {
    const open = new Map(this.charts.map(({curve, box}) => [curve.name, box.open]));
    this.look = this.isDark() ? "dark" : "light";
    this.box.replaceChildren();
    for (const chart of this.charts) chart.graph.destroy();
    this.charts = [];
    for (const curve of kCurves) {
      if (!this.runs.some((run) => run.series[curve.name] && run.series.time && run.series.time.length > 0)) continue;
      const plot = element("div", {class: "curve-plot"});
      const readout = element("span", {class: "readout", "aria-hidden": "true"});
      const box = element("details", {class: "curve", open: open.get(curve.name) ?? !curve.optional},
                          element("summary", {}, element("span", {class: "curve-name"}, curve.label), readout), plot);
      this.box.append(box);
      const chart = {curve, plot, readout, box, graph: null};
      box.addEventListener("toggle", () => box.open && this.draw(chart));
      this.charts.push(chart);
      chart.graph = {destroy() {}};
      if (box.open) this.draw(chart);
    }
    if (this.runs.length > 1) this.box.append(this.key());
  }
  key() {
    const colours = kLineColours[this.isDark() ? "dark" : "light"];
    return element("p", {class: "key"}, this.runs.map((run, k) =>
      element("span", {}, lineSample(colours[k % 4], dashesOf(k)), ` ${run.name}`)));
  }
  functionOf(run, name) {
    const key = `${run.index} ${name}`;
    if (!this.functions.has(key)) {
      const times = run.series.time;
      const values = run.series[name];
      this.functions.set(key, times && values && times.length > 0 ? new StepFunction(times, values, run.end) : null);
    }
    return this.functions.get(key);
  }
  /** Rows for dygraphs within the window: [time, [least, mean, most] of run 0, of run 1, ...]. */
  rows(curve, columns) {
    const {t0, t1} = this.view;
    const functions = this.runs.map((run) => this.functionOf(run, curve.name));
    const spans = functions.map((one) => (one ? [Math.max(0, lastBefore(one.times, t0)), lastBefore(one.times, t1) + 1] : [0, 0]));
    const rows = [];
    if (spans.reduce((sum, [low, high]) => sum + Math.max(0, high - low), 0) <= columns) {
      const times = new Set([t0, t1]);
      functions.forEach((one, k) => {
        for (let i = spans[k][0]; one && i < spans[k][1]; ++i) times.add(Math.min(t1, Math.max(t0, one.times[i])));
        if (one && one.end > t0 && one.end < t1) times.add(one.end);
      });
      for (const time of [...times].sort((a, b) => a - b)) {
        rows.push([time, ...functions.map((one) => {
          const value = one ? one.at(time) : NaN;
          return [value, value, value];
        })]);
      }
      return rows;
    }
    const width = (t1 - t0) / columns;
    const before = functions.map((one, k) => (one ? {k: spans[k][0], sums: one.until(t0, lastBefore(one.times, t0))} : null));
    for (let column = 0; column < columns; ++column) {
      const [begin, end] = [t0 + column * width, t0 + (column + 1) * width];
      rows.push([begin, ...functions.map((one, r) => {
        if (!one || end < one.times[0] || begin > one.end) return [NaN, NaN, NaN];
        const k = lastBefore(one.times, end);
        const [least, most] = one.extremes(before[r].k, k + 1);
        const sums = one.until(end, k);
        const [area, time] = [sums[0] - before[r].sums[0], sums[1] - before[r].sums[1]];
        before[r] = {k: Math.max(0, k), sums};
        if (time <= 0) return [NaN, NaN, NaN];
        return [least, Math.min(most, Math.max(least, area / time)), most];
      })]);
    }
    return rows;
  }
  draw(chart) {
    const {curve, plot} = chart;
    const width = plot.clientWidth;
    if (!chart.box.open || width < kGutter + 40) return;
    const {t0, t1} = this.view;
    const file = this.rows(curve, Math.max(50, Math.floor(width - kGutter - kRightGap)));
    const look = this.isDark() ? "dark" : "light";
    const most = curve.most ? Math.max(...this.runs.map(curve.most)) : null;
    let top = most || 0;
    if (!most) for (const row of file) for (let k = 1; k < row.length; ++k) if (row[k][2] > top) top = row[k][2];
    const valueRange = [0, Math.max(top * 1.08, 1.08)];
    if (chart.look === look && chart.width === width) {
      chart.graph.updateOptions({file, dateWindow: [t0, t1], valueRange});
      return;
    }
    chart.graph.destroy();
    Object.assign(chart, {look, width});
    chart.graph = new Dygraph(plot, file, {
      labels: ["time", ...this.runs.map((run, k) => `${k + 1}: ${run.name}`)],
      width, height: 74, dateWindow: [t0, t1], valueRange, stepPlot: true, legend: "never", showLabelsOnHighlight: false,
      xRangePad: 0, rightGap: kRightGap, strokeWidth: 1.5, customBars: true, plotter: [bandPlotter, Dygraph.Plotters.linePlotter],
      colors: kLineColours[look].slice(0, Math.max(1, Math.min(4, this.runs.length))),
      series: Object.fromEntries(this.runs.map((run, k) => [`${k + 1}: ${run.name}`, {strokePattern: dashesOf(k), color: kLineColours[look][k % 4]}])),
      gridLineColor: look === "dark" ? "#3a424d" : "#dde2e8", axisLineColor: look === "dark" ? "#5a6573" : "#aab2bd",
      axes: {
        x: {drawAxis: false, drawGrid: true, independentTicks: true,
            ticker: (from, to) => timeTicks(from, to, (width - kGutter) / 90).at.map((v) => ({v, label: ""}))},
        y: {axisLabelWidth: kGutter - 6, axisLabelFontSize: 11, ticker: (from, to) => valueTicks(to, curve.integer)},
      },
      interactionModel: this.pointer(), highlightCircleSize: 0,
    });
  }
  /** Drag pans, ctrl+wheel zooms, as on the Gantt chart; a move shows the values. */
  pointer() {
    let last = null;
    return {
      mousedown: (event) => {
        last = event.clientX;
        const move = (next) => {
          this.view.pan((last - next.clientX) / (this.box.clientWidth - kGutter - kRightGap));
          last = next.clientX;
        };
        const up = () => {
          window.removeEventListener("mousemove", move);
          window.removeEventListener("mouseup", up);
        };
        window.addEventListener("mousemove", move);
        window.addEventListener("mouseup", up);
        event.preventDefault();
      },
      mousemove: (event) => this.read(event),
      mouseout: () => this.charts.forEach((chart) => (chart.readout.textContent = "")),
      wheel: (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        this.view.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * 0.004))), this.timeAt(event.clientX));
        event.preventDefault();
      },
    };
  }
  timeAt(clientX) {
    const box = this.box.getBoundingClientRect();
    const part = (clientX - box.left - kGutter) / (box.width - kGutter - kRightGap);
    return this.view.t0 + part * (this.view.t1 - this.view.t0);
  }
  read(event) {
    const time = this.timeAt(event.clientX);
    for (const {curve, readout} of this.charts) {
      const values = this.runs.map((run) => {
        const k = run.series.time && run.series[curve.name] ? lastBefore(run.series.time, time) : -1;
        return k < 0 || time > run.end ? "-" : numberText(run.series[curve.name][k], 3);
      });
      readout.textContent = `${values.join(" | ")} at ${instantText(time, (this.view.t1 - this.view.t0) / 500)}`;
    }
  }
  /** All of them now, or, while the window moves, one in each call. */
  redraw(all) {
    const open = this.charts.filter((chart) => chart.box.open);
    if (all) open.forEach((chart) => this.draw(chart));
    else if (open.length > 0) this.draw(open[this.turn++ % open.length]);
  }
}
