// The Gantt chart of one run: cores from top to bottom, time from left to right. One canvas has the picture, a second one
// above it what changes often: the selected job, the job under the pointer, marks.

const kGutter = 58, kRightGap = 6, kAxisHeight = 20, kSliceHeight = 14;
const kMostDrawn = 30000;  // stretches, where there is a coarser picture

class Gantt {
  constructor(run, view, colours) {
    Object.assign(this, {run, view, colours});
    this.slices = (run.json.slices || []).length > 0 ? kSliceHeight : 0;
    this.top = kAxisHeight + this.slices;
    this.canvas = element("canvas", {class: "picture", "aria-hidden": "true"});
    this.over = element("canvas", {
      class: "over", tabindex: "0", role: "application", "aria-roledescription": "Gantt chart",
      "aria-label": `Gantt chart of run ${run.name}: ${counted(run.count, "job")} on ${counted(run.cores, "core")}. ` +
                    "Arrow keys go from job to job, Enter shows the job's data, question mark lists all keys.",
    });
    this.box = element("div", {class: "gantt"}, this.canvas, this.over);
    this.context = this.canvas.getContext("2d", {alpha: false, willReadFrequently: true});
    this.hover = -1;
  }
  /** Height that shows each core where that is possible, in CSS pixels. */
  static heightOf(run, runs) {
    const most = Math.max(150, Math.min(window.innerHeight * (runs > 1 ? 0.36 : 0.56), runs > 1 ? 360 : 620));
    return Math.round(Math.min(most, Math.max(56, run.cores * (run.cores <= 4 ? 44 : 26))) + kAxisHeight);
  }
  resize() {
    const ratio = Math.min(2, Math.max(1, Math.round(window.devicePixelRatio || 1)));
    const width = Math.max(kGutter + 40, Math.floor(this.box.clientWidth));
    const height = Math.max(this.top + 30, Math.floor(this.box.clientHeight));
    if (this.width === width && this.height === height && this.ratio === ratio) return false;
    Object.assign(this, {width, height, ratio});
    for (const canvas of [this.canvas, this.over]) {
      [canvas.width, canvas.height] = [width * ratio, height * ratio];
      [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
    }
    this.plotWidth = width - kGutter - kRightGap;
    this.plotHeight = height - this.top;
    this.image = this.context.createImageData(this.plotWidth * ratio, this.plotHeight * ratio);
    this.pixels = new Uint32Array(this.image.data.buffer);
    return true;
  }
  xOf(time) {
    return kGutter + ((time - this.view.t0) / (this.view.t1 - this.view.t0)) * this.plotWidth;
  }
  timeAt(x) {
    return this.view.t0 + ((x - kGutter) / this.plotWidth) * (this.view.t1 - this.view.t0);
  }
  yOf(core) {
    return this.top + ((core - this.run.c0) / (this.run.c1 - this.run.c0)) * this.plotHeight;
  }
  coreAt(y) {
    return this.run.c0 + ((y - this.top) / this.plotHeight) * (this.run.c1 - this.run.c0);
  }

  draw() {
    const {run, view, context, ratio} = this;
    const {dark, paint} = this.colours(run);
    const raster = new Raster(this.pixels, this.plotWidth * ratio, this.plotHeight * ratio, dark ? kBandsDark : kBandsLight, ratio);
    const set = this.chosen();
    if (set !== this.set) this.hover = -1;  // a place in the other one
    this.set = set;
    raster.draw(run, this.set, view.t0, view.t1, paint);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = dark ? "#16191e" : "#ffffff";
    context.fillRect(0, 0, this.width, this.height);
    context.putImageData(this.image, kGutter * ratio, this.top * ratio);
    this.drawClosed(context, dark);
    context.fillStyle = context.strokeStyle = dark ? "#aab4c0" : "#4b5563";
    this.drawAxis(context, dark);
    this.drawGutter(context);
    this.drawLabels(context, raster.labels);
    if (run.count === 0) this.drawEmpty(context);
    this.drawOver();
  }
  /** The finest picture that few enough stretches of the window allow; cells of up to three pixels if there are very many. */
  chosen() {
    const {run, view} = this;
    const secondsPerPixel = (view.t1 - view.t0) / (this.plotWidth * this.ratio);
    const picture = run.picture(secondsPerPixel);
    if (run.levels.length === 0 || !run.stretches.arrays) return picture;
    const few = run.stretches.lowerBound(view.t1) - run.stretches.lowerBound(view.t0) < kMostDrawn;
    return few ? run.stretches : picture !== run.stretches ? picture : run.picture(secondsPerPixel * 3);
  }
  drawAxis(context, dark) {
    const {view} = this;
    const ticks = timeTicks(view.t0, view.t1, this.plotWidth / 90);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "alphabetic";
    context.textAlign = "center";
    context.lineWidth = 1;
    context.beginPath();
    for (const at of ticks.at) {
      const x = Math.round(this.xOf(at)) + 0.5;
      if (x < kGutter - 1 || x > this.width - kRightGap + 1) continue;
      context.moveTo(x, kAxisHeight - 5);
      context.lineTo(x, kAxisHeight);
      const text = instantText(at, ticks.step);
      const half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(Math.max(x, kGutter + half), this.width - half - 1), 11);
    }
    context.stroke();
    for (const slice of this.slices ? this.run.json.slices : []) {
      if (slice.to <= view.t0 || slice.from >= view.t1) continue;
      const [left, right] = [Math.max(kGutter, this.xOf(slice.from)), Math.min(this.width - kRightGap, this.xOf(slice.to))];
      const shades = dark ? ["#3d4654", "#57657a", "#76879f"] : ["#e6eaf0", "#c8d1dd", "#a5b2c4"];
      context.fillStyle = shades[slice.class % 3];
      context.fillRect(left, kAxisHeight + 1, Math.max(1, right - left), kSliceHeight - 2);
      context.fillStyle = dark ? "#e6eaf0" : "#1f2937";
      const name = (this.run.json.classes || [])[slice.class] || String(slice.class);
      if (right - left > 40) context.fillText(name, (left + right) / 2, kAxisHeight + 10);
      else if (right - left > 9) context.fillText(name[0], (left + right) / 2, kAxisHeight + 10);
    }
  }
  /** Nodes that are not up: hatched, as are the jobs that run on there, with the reason where there is room. */
  drawClosed(context, dark) {
    const {run, view} = this;
    const spans = (run.json.closed || []).filter(({from, to, first, last}) =>
      to > view.t0 && from < view.t1 && last >= run.c0 && first < run.c1);
    if (spans.length === 0) return;
    const tile = element("canvas", {width: "8", height: "8"});
    const hatch = tile.getContext("2d");
    hatch.strokeStyle = dark ? "#8b97a6" : "#6b7684";
    for (const x of [-8, 0, 8]) {
      hatch.moveTo(x, 8);
      hatch.lineTo(x + 8, 0);
    }
    hatch.stroke();
    const [ground, ink] = dark ? ["#20242b", "#e6eaf0"] : ["#ffffff", "#1f2937"];
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "left";
    context.textBaseline = "middle";
    for (const {from, to, first, last, text} of spans) {
      const [x0, x1] = [Math.max(kGutter, this.xOf(from)), Math.min(this.width - kRightGap, this.xOf(to))];
      const [y0, y1] = [Math.max(this.top, this.yOf(first)), Math.min(this.height, this.yOf(last + 1))];
      context.fillStyle = context.createPattern(tile, "repeat");
      context.fillRect(x0, y0, Math.max(1, x1 - x0), Math.max(1, y1 - y0));
      const wide = context.measureText(text).width;
      if (wide + 8 > x1 - x0 || y1 - y0 < 13) continue;
      context.fillStyle = ground;
      context.fillRect(x0 + 2, y1 - 13, wide + 4, 12);
      context.fillStyle = ink;
      context.fillText(text, x0 + 4, y1 - 7);
    }
  }
  /** The text of a node that is closed at a place; undefined if none is. */
  closedAt(x, y) {
    const [time, core] = [this.timeAt(x), Math.floor(this.coreAt(y))];
    if (x < kGutter || y < this.top) return undefined;
    return (this.run.json.closed || []).findLast(({from, to, first, last}) =>
      from <= time && to > time && first <= core && last >= core)?.text;
  }
  /** Names of nodes, or of cores where there is room, left of the picture. */
  drawGutter(context) {
    const {run} = this;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = context.strokeStyle;
    const perCore = this.plotHeight / (run.c1 - run.c0);
    const sizes = run.groups.map((group) => group.cores);
    const hasNodes = Math.max(0, ...sizes) > 1 || run.json.hosts !== undefined;
    const byNode = hasNodes && perCore < 15;
    const unit = byNode ? Math.min(...sizes) : 1;
    const [begin, end] = byNode ? [run.nodeOf(run.c0), run.nodeOf(Math.min(run.c1, run.cores - 1)) + 1] : [run.c0, run.c1];
    let step = 1;
    while (step * unit * perCore < 13) step *= 2;
    for (let k = Math.floor(begin / step) * step; k < end; k += step) {
      const [first, cores] = byNode ? run.coresOf(k) : [k, 1];
      const y = this.yOf(first) + Math.min(cores, step * unit) * perCore / 2;
      if (y < this.top + 5 || y > this.height - 4) continue;
      const node = hasNodes && !byNode ? run.nodeOf(k) : -1;
      const place = node >= 0 ? k - run.coresOf(node)[0] : k;
      const isNamed = byNode || (place === 0 && node >= 0 && run.json.hosts);  // a host stands at its first core
      const text = isNamed ? run.nodeName(byNode ? k : node) : node >= 0 ? `${node}.${place}` : `core ${k}`;
      context.fillText(text, kGutter - 5, y, kGutter - 10);
    }
    if (run.c1 - run.c0 < run.cores) this.drawWindow(context);
  }
  /** Where the shown cores are in the machine: a bar at the far left. */
  drawWindow(context) {
    const {run} = this;
    context.fillRect(1, this.top + (run.c0 / run.cores) * this.plotHeight, 3,
                     Math.max(4, ((run.c1 - run.c0) / run.cores) * this.plotHeight));
  }
  drawEmpty(context) {
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = "14px system-ui, sans-serif";
    context.fillStyle = context.strokeStyle;
    context.fillText("This run has no jobs.", kGutter + this.plotWidth / 2, this.top + this.plotHeight / 2);
  }
  drawLabels(context, labels) {
    const {ratio, run, view} = this;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.font = "11px system-ui, sans-serif";
    this.digit = this.digit || context.measureText("0").width;
    const by = view.mode;
    if (labels.length > 900) labels.sort((a, b) => b.width * b.height - a.width * a.height).length = 900;
    for (const light of [true, false]) {
      const ink = light ? "#101418" : "#ffffff";
      for (const {row, i, x, y, width, height, pixel} of labels) {
        if (isLight(pixel) !== light) continue;
        let text = run.nameOf(row) + (run.endedWell(row) ? "" : " ✕");
        let more = "";
        const sake = by === "job" && this.set.arrays.flags[i] & kShrunk ? run.sakeOf(row, this.set.arrays.from[i]) : -1;
        if (sake >= 0) more = ` for ${run.nameOf(sake)}`;
        else if (by === "user" && run.jobs.user) more = ` u${run.jobs.user[row]}`;
        else if (by === "class") more = ` ${run.className(row)}`;
        else if (by === "size") more = ` ${run.jobs.processes[row]}p`;
        else if (by === "slowdown") more = ` ${numberText(run.jobs.bounded_slowdown[row], 2)}x`;
        else if (by === "mpl") more = ` ${this.set.arrays.mpl[i]}/core`;
        else if (by === "difference" && run.waitDifference && run.waitDifference(row) !== 0) more = ` ${signedDuration(run.waitDifference(row))}`;
        const fits = (words) => words.length * this.digit + 6 <= width / ratio;
        if (fits(text + more)) text += more;
        else if (!fits(text)) continue;
        const [left, middle] = [kGutter + x / ratio + 4, this.top + (y + height / 2) / ratio + 0.5];
        if (this.set.arrays.flags[i] & kShrunk) {  // text on hatches is hard to read
          context.fillStyle = colourOf(pixel);
          context.fillRect(left - 2, middle - 6.5, context.measureText(text).width + 4, 12);
        }
        context.fillStyle = ink;
        context.fillText(text, left, middle);
      }
    }
  }

  /** Outlines of jobs, marks and groups; a few dozen lines at most. */
  drawOver() {
    const {run, view, ratio, over} = this;
    const context = over.getContext("2d");
    const {dark} = this.colours(run);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.save();
    context.beginPath();
    context.rect(kGutter, 0, this.plotWidth, this.height);
    context.clip();
    if (view.mark) {
      const [left, right] = view.mark.map((time) => this.xOf(time));
      context.fillStyle = dark ? "rgba(255,255,255,.14)" : "rgba(0,60,160,.12)";
      context.fillRect(left, 0, right - left, this.height);
    }
    for (const line of run.lines || []) {
      const x = this.xOf(line.at);
      context.strokeStyle = context.fillStyle = dark ? "#ff9d76" : "#b42318";
      context.lineWidth = 2;
      context.setLineDash([5, 3]);
      context.strokeRect(x, kAxisHeight - 6, 0, this.height);
      context.setLineDash([]);
      context.beginPath();
      context.moveTo(x - 5, kAxisHeight - 8);
      context.lineTo(x + 5, kAxisHeight - 8);
      context.lineTo(x, kAxisHeight);
      context.fill();
    }
    if (view.selected) {
      const row = view.selected.run === run ? view.selected.row : run.rowOf(view.selected.run.idOf(view.selected.row));
      if (row >= 0) this.outline(context, row, dark, view.selected.run === run);
      if (row >= 0 && view.selected.run === run) this.arrows(context, row, dark);
    }
    if (this.hover >= 0 && this.set.arrays) this.frame(context, this.hover, this.set.arrays, dark ? "#ffffff" : "#000000", 1);
    context.restore();
  }
  frame(context, i, {from, to, first, last}, colour, thick) {
    const [x0, x1] = [Math.max(kGutter - 4, this.xOf(from[i])), Math.min(this.width + 4, this.xOf(to[i]))];
    const [y0, y1] = [this.yOf(first[i]), this.yOf(last[i] + 1)];
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.strokeRect(x0, y0, Math.max(1, x1 - x0), Math.max(1, y1 - y0));
  }
  outline(context, row, dark, strong) {
    const {run, view} = this;
    const arrays = run.stretches.open();
    const shown = run.stretchesOf(row).filter((i) => arrays.to[i] > view.t0 && arrays.from[i] < view.t1);
    for (const [colour, thick] of [[dark ? "#000000" : "#ffffff", strong ? 6 : 4], [dark ? "#ffffff" : "#000000", strong ? 3 : 1.5]]) {
      for (const i of shown) this.frame(context, i, arrays, colour, thick);
    }
    const [submit, start] = [run.value("submit", row), run.value("start", row)];
    if (!strong || Number.isNaN(submit) || !(start > submit) || shown.length === 0) return;
    const y = this.yOf((arrays.first[shown[0]] + arrays.last[shown[0]] + 1) / 2);
    context.strokeStyle = dark ? "#ffffff" : "#000000";
    context.lineWidth = 1.5;
    context.setLineDash([2, 3]);
    context.beginPath();
    context.moveTo(this.xOf(submit), y);
    context.lineTo(this.xOf(start), y);
    context.stroke();
    context.setLineDash([]);
    context.strokeRect(this.xOf(submit), y - 5, 0, 10);
  }
  /** Arrows from the jobs that were shrunk to those they were shrunk for: those of a job and to it. */
  arrows(context, row, dark) {
    const {run, view} = this;
    const {from, first, last} = run.stretches.open();
    const middle = (job, at, late) => {
      const own = run.stretchesOf(job);
      const i = own.find((one) => (late ? from[one] >= at : from[one] === at));
      return i === undefined ? NaN : this.yOf((first[i] + last[i] + 1) / 2);
    };
    const resizes = resizesOf(run, row).filter(({at, other, text}) => other >= 0 && text.startsWith("shrunk") && at >= view.t0 && at <= view.t1);
    for (const [colour, thick] of [[dark ? "#000000" : "#ffffff", 4.5], [dark ? "#ffffff" : "#000000", 1.8]]) {
      [context.strokeStyle, context.fillStyle, context.lineWidth] = [colour, colour, thick];
      for (const {at, other, own} of resizes.slice(0, 40)) {
        const [x, y0, y1] = [this.xOf(at) + 1, middle(own ? row : other, at, false), middle(own ? other : row, at, true)];
        if (Number.isNaN(y0) || Number.isNaN(y1)) continue;
        const down = y1 > y0 ? 1 : -1;
        context.beginPath();
        context.moveTo(x, y0);
        context.lineTo(x, y1 - 6 * down);
        context.stroke();
        context.beginPath();
        context.arc(x, y0, thick > 2 ? 4 : 2.8, 0, 7);
        context.moveTo(x - (thick > 2 ? 6 : 4.5), y1 - 8 * down);
        context.lineTo(x + (thick > 2 ? 6 : 4.5), y1 - 8 * down);
        context.lineTo(x, y1 + (thick > 2 ? 2 : 0) * down);
        context.fill();
      }
    }
  }
  /** Index in `this.set` of the stretch at a place; -1 if there is none. The lane decides where two jobs share a core. */
  hit(x, y) {
    if (x < kGutter || y < this.top) return -1;
    const time = this.timeAt(x);
    const exact = this.coreAt(y);
    const core = Math.floor(exact);
    const near = ((this.view.t1 - this.view.t0) / this.plotWidth) * 1.5;
    const {from, to, first, last, flags, lane} = this.set.open();
    let best = -1, bestScore = -1;
    this.set.each(time - near, time + near, (i) => {
      if (first[i] > core || last[i] < core) return;
      const within = from[i] <= time && to[i] > time;
      const low = lane !== null && lane[i] === 1;
      const score = (within ? 4 : 0) + (flags[i] & kSuspended ? 0 : 2) + (low === exact - core >= 0.5 ? 1 : 0);
      if (score > bestScore) [best, bestScore] = [i, score];
    });
    return best;
  }
}
