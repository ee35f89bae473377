// A page of a run that goes on: the server sends what has changed, the page draws it. Docs: docs/formats/report-page.md.

/** Rows as objects -> columns as plain arrays, with the names that the rows have. A text that is absent is empty. */
function toColumns(rows, names) {
  return Object.fromEntries(names.map((name) => {
    const absent = rows.some((row) => typeof row[name] === "string") ? "" : null;
    return [name, rows.map((row) => row[name] ?? absent)];
  }));
}
/** Columns as plain arrays, or rows already -> rows as objects. */
function toRows(columns) {
  if (Array.isArray(columns)) return columns;
  const names = Object.keys(columns || {}).filter((name) => Array.isArray(columns[name]));
  const count = names.length > 0 ? columns[names[0]].length : 0;
  return Array.from({length: count}, (_, k) => Object.fromEntries(names.map((name) => [name, columns[name][k]])));
}

/** What is known of a run so far; `json()` is a run as readData() has them. */
class LiveRun {
  constructor(begin) {
    this.fixed = begin;
    this.names = Object.fromEntries(["jobs", "stretches", "series", "resizes"].map((part) => [part, new Set(Object.keys(begin[part] || {}))]));
    this.jobs = toRows(begin.jobs);
    this.places = new Map(this.jobs.map((job, row) => [job.id, row]));
    // Jobs are named by row in `begin` and by number afterwards: kept by number.
    const numbered = (row) => ({...row, job: row.job < 0 ? null : this.jobs[row.job].id});
    this.stretches = toRows(begin.stretches).map(numbered);
    this.series = toRows(begin.series);
    this.resizes = toRows(begin.resizes).map((one) => ({...numbered(one), for: one.for >= 0 ? this.jobs[one.for].id : -1}));
    this.end = begin.end || begin.begin || 0;
    this.present = null;
    this.complete = false;
  }
  note(part, row) {
    for (const name of Object.keys(row)) this.names[part].add(name);
  }
  take(given) {
    const changes = {...given, jobs: toRows(given.jobs), stretches: toRows(given.stretches), series: toRows(given.series), resizes: toRows(given.resizes)};
    for (const job of changes.jobs) {
      this.note("jobs", job);
      if (!this.places.has(job.id)) {
        this.places.set(job.id, this.jobs.length);
        this.jobs.push(job);
      } else {
        Object.assign(this.jobs[this.places.get(job.id)], job);
      }
      this.seen(job.submit, job.start, job.end);
    }
    // A batch with stretches of a job has all its open ones; a job that has ended has none.
    const told = new Set(changes.stretches.map((one) => one.job));
    for (const job of changes.jobs) if (Number.isFinite(job.end)) told.add(job.id);
    if (told.size > 0) this.stretches = this.stretches.filter((one) => Number.isFinite(one.to) || !told.has(one.job));
    for (const stretch of changes.stretches) {
      this.note("stretches", stretch);
      this.stretches.push(stretch);
      this.seen(stretch.from, stretch.to);
    }
    for (const point of changes.series) {
      this.note("series", point);
      const last = this.series[this.series.length - 1];
      if (last && last.time === point.time) this.series.pop();
      this.series.push(point);
      this.seen(point.time);
    }
    if (given.present) [this.present] = toRows(given.present);
    // In the order of their decisions, which is that of `place`; a resize that is told of again replaces itself.
    for (const {place, ...resize} of changes.resizes) {
      this.note("resizes", resize);
      this.resizes[place ?? this.resizes.length] = resize;
    }
    Object.assign(this.fixed, given.facts);
    for (const warning of changes.warnings || []) {
      const row = this.places.get(warning.job);
      this.fixed.warnings = [...(this.fixed.warnings || []), {...warning, job: row === undefined ? null : row}];
    }
    if (changes.metrics) this.fixed.metrics = changes.metrics;
    this.seen(changes.now);
  }
  finish(last) {
    this.complete = last.complete ?? true;
    this.end = last.end ?? this.end;
  }
  seen(...times) {
    for (const time of times) if (Number.isFinite(time) && time > this.end) this.end = time;
  }
  json() {
    const rowOf = (id) => this.places.get(id) ?? -1;
    const stretches = this.stretches.map((one) => ({...one, job: rowOf(one.job), to: Number.isFinite(one.to) ? one.to : this.end}))
      .sort((a, b) => a.from - b.from);
    const resizes = this.resizes.filter(Boolean).map((one) => ({...one, job: rowOf(one.job), for: rowOf(one.for)}));
    const last = this.series[this.series.length - 1];
    const series = this.present && !(last && last.time >= this.present.time) ? [...this.series, this.present] : this.series;
    return {...this.fixed, end: this.end, complete: this.complete, jobs_in_all: Math.max(this.jobs.length, this.fixed.jobs_in_all || 0), levels: [], jobs: toColumns(this.jobs, [...this.names.jobs]),
            stretches: toColumns(stretches, [...this.names.stretches]), series: toColumns(series, [...this.names.series]),
            resizes: toColumns(resizes, [...this.names.resizes])};
  }
}

/**
 * Follows the run; calls `show(json)` after changes, at most once a frame and for a fifth of the time: the jobs may run on this
 * machine. `say` shows the state of the connection.
 */
function followLive(events, show, say) {
  const source = new EventSource(events);
  let live = null;
  let asked = false;
  let next = 0;
  const soon = () => {
    if (asked) return;
    asked = true;
    setTimeout(() => requestAnimationFrame(() => {
      asked = false;
      const begin = performance.now();
      show(live.json());
      const end = performance.now();
      next = end + 4 * (end - begin);
    }), Math.max(0, next - performance.now()));
  };
  say("connecting to the run ...");
  source.addEventListener("begin", (event) => {
    live = new LiveRun(JSON.parse(event.data));
    say("live: the run goes on");
    soon();
  });
  source.addEventListener("records", (event) => {
    if (!live) return;
    const changes = JSON.parse(event.data);
    for (const one of Array.isArray(changes) ? changes : [changes]) live.take(one);
    soon();
  });
  source.addEventListener("end", (event) => {
    source.close();
    const last = JSON.parse(event.data);
    if (live) live.finish(last);
    say(last.text || "the run is over");
    if (live) soon();
  });
  source.addEventListener("error", () => say(source.readyState === EventSource.CLOSED ? "no connection to the run: it is over, or the address is not valid" : "connection lost, trying again ..."));
  window.addEventListener("pagehide", () => source.close());
}
