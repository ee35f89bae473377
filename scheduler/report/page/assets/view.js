// What the user looks at: a span of time common to all runs, cores for each run, colours, filter, the selected job. It is
// kept in the fragment of the address, so that a link shows the same.

const kLeastSpan = 1e-4;

class View {
  constructor(data) {
    this.data = data;
    this.begin = Math.min(...data.runs.map((run) => run.begin));
    this.end = Math.max(...data.runs.map((run) => run.end));
    if (!(this.end > this.begin)) this.end = this.begin + 1;
    this.listeners = [];
    this.reset();
  }
  reset() {
    this.t0 = this.begin;
    this.t1 = this.end;
    this.mode = "job";
    this.filter = "";
    this.theme = "auto";
    this.selected = null;  // {run, row}
    this.mark = null;      // [from, to]
    for (const run of this.data.runs) [run.c0, run.c1] = [0, run.cores];
  }
  /** Calls `listener(what)` at each change; what: "time", "cores", "colours", "selection" or "all". */
  onChange(listener) {
    this.listeners.push(listener);
  }
  changed(what) {
    for (const listener of this.listeners) listener(what);
    this.keepSoon();
  }
  /** A little more than the whole run may be in the window, and no less than 0.1 ms. */
  show(t0, t1) {
    const whole = this.end - this.begin;
    const span = Math.min(Math.max(t1 - t0, kLeastSpan), whole * 1.1);
    const middle = (t0 + t1) / 2;
    const room = Math.max(whole * 0.05, span * 0.25);
    this.t0 = Math.min(Math.max(middle - span / 2, this.begin - room), this.end + room - span);
    this.t1 = this.t0 + span;
    this.changed("time");
  }
  zoom(factor, around = (this.t0 + this.t1) / 2) {
    this.show(around - (around - this.t0) * factor, around + (this.t1 - around) * factor);
  }
  pan(part) {
    const by = (this.t1 - this.t0) * part;
    this.show(this.t0 + by, this.t1 + by);
  }
  whole() {
    for (const run of this.data.runs) [run.c0, run.c1] = [0, run.cores];
    [this.t0, this.t1] = [this.begin, this.end];
    this.changed("all");
  }
  showCores(run, c0, c1) {
    const span = Math.min(Math.max(c1 - c0, Math.min(2, run.cores)), run.cores);
    run.c0 = Math.min(Math.max((c0 + c1) / 2 - span / 2, 0), run.cores - span);
    run.c1 = run.c0 + span;
    this.changed("cores");
  }
  zoomCores(run, factor, around = (run.c0 + run.c1) / 2) {
    this.showCores(run, around - (around - run.c0) * factor, around + (run.c1 - around) * factor);
  }
  select(run, row) {
    this.selected = run && row >= 0 ? {run, row} : null;
    this.changed("selection");
  }
  /** Selects a job and moves the window if none of it is in it. */
  goTo(run, row) {
    const [from, to] = this.spanOf(run, row);
    const far = to < this.t0 + (this.t1 - this.t0) * 0.02 || from > this.t1 - (this.t1 - this.t0) * 0.02;
    this.selected = {run, row};
    if (far) this.show((from + to) / 2 - (this.t1 - this.t0) / 2, (from + to) / 2 + (this.t1 - this.t0) / 2);
    this.changed("selection");
  }
  fitSelected() {
    if (!this.selected) return this.whole();
    const [from, to] = this.spanOf(this.selected.run, this.selected.row);
    const room = Math.max((to - from) * 0.25, 0.01);
    return this.show(from - room, to + room);
  }
  spanOf(run, row) {
    const submit = run.value("submit", row);
    const start = run.value("start", row);
    const end = run.value("end", row);
    const from = Number.isNaN(start) ? submit : start;
    return [Number.isNaN(from) ? run.begin : from, Number.isNaN(end) ? (Number.isNaN(start) ? from : run.end) : end];
  }

  /** The fragment that shows this view, with some of its parts replaced (null: left out). */
  fragment(replaced = {}) {
    const digits = Math.max(1, Math.min(6, Math.ceil(3 - Math.log10(this.t1 - this.t0))));
    const time = (value) => String(Number(value.toFixed(digits)));
    const parts = {};
    if (Math.abs(this.t0 - this.begin) > 1e-6 || Math.abs(this.t1 - this.end) > 1e-6) {
      parts.t = `${time(this.t0)},${time(this.t1)}`;
    }
    for (const run of this.data.runs) {
      if (run.c1 - run.c0 < run.cores) parts[`c${run.index}`] = `${run.c0.toFixed(1)},${run.c1.toFixed(1)}`;
    }
    if (this.mode !== "job") parts.by = this.mode;
    if (this.filter !== "") parts.f = this.filter;
    if (this.theme !== "auto") parts.theme = this.theme;
    if (this.mark) parts.m = this.mark.map(time).join(",");
    if (this.selected) {
      if (this.selected.run.index > 0) parts.run = this.selected.run.index;
      parts.job = this.selected.run.idOf(this.selected.row);
    }
    Object.assign(parts, replaced);
    return `#${Object.entries(parts).filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%3A", ":")}`).join("&")}`;
  }
  /** A link to a job that keeps the rest of the view. */
  jobLink(run, row, text) {
    const replaced = {job: run.idOf(row), run: run.index > 0 ? run.index : null};
    const follow = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.goTo(run, row);
    };
    return element("a", {href: this.fragment(replaced), class: "job-link", onclick: follow}, text || `job ${run.nameOf(row)}`);
  }
  /** Takes the view from the address; what it cannot read stays as it was. */
  restore() {
    const given = new URLSearchParams(location.hash.slice(1));
    const pair = (name) => {
      const values = (given.get(name) || "").split(",").map(Number);
      return values.length === 2 && values.every(Number.isFinite) && values[0] < values[1] ? values : null;
    };
    const run = this.data.runs[Number(given.get("run") || 0)];
    const row = run && given.has("job") ? run.rowOf(Number(given.get("job"))) : -1;
    this.selected = row >= 0 ? {run, row} : null;
    this.mode = given.get("by") || "job";
    this.filter = given.get("f") || "";
    this.theme = ["light", "dark"].includes(given.get("theme")) ? given.get("theme") : "auto";
    this.mark = pair("m");
    for (const each of this.data.runs) {
      const cores = pair(`c${each.index}`);
      if (cores && cores[0] >= 0 && cores[1] <= each.cores) [each.c0, each.c1] = cores;
    }
    const time = pair("t");
    [this.t0, this.t1] = time || [this.begin, this.end];
    if (time) this.show(time[0], time[1]);
    else if (this.selected) this.goTo(run, row);
  }
  /** Writes the address when the view has not changed for a moment: browsers limit how often it may be written. */
  keepSoon() {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.keep(), 200);
  }
  keep() {
    clearTimeout(this.keeping);
    const fragment = this.fragment();
    this.kept = fragment;
    if (fragment !== (location.hash || "#")) history.replaceState(null, "", fragment);
  }
}
