// Puts the page together: reads the data, draws the Gantt charts first, then the rest.

/** What tells a folding part of the page from the others, whatever numbers its title has. */
function nameOfDetails(box) {
  const title = box.querySelector("summary .curve-name") || box.querySelector("summary");
  return `${box.className} ${title ? title.textContent.replace(/\d[\d,.]*/g, "#") : ""}`;
}

class Page {
  constructor(data) {
    this.data = data;
    this.dialog = helpDialog();
    this.tip = new Tip();
    this.media = window.matchMedia("(prefers-color-scheme: dark)");
    this.panel = null;
    this.controls();
    this.build(data, null);
    this.media.addEventListener("change", () => this.view.changed("colours"));
    window.addEventListener("hashchange", () => {
      if (location.hash === this.view.kept) return;
      this.view.restore();
      this.view.changed("all");
    });
    new ResizeObserver(() => this.later("all")).observe(byId("runs"));
    window.addEventListener("beforeprint", () => this.print(true));
    window.addEventListener("afterprint", () => this.print(false));
    attachKeys({zoom: (...a) => this.view.zoom(...a), pan: (...a) => this.view.pan(...a), fitSelected: () => this.view.fitSelected(),
                whole: () => this.view.whole()}, this.actions());
  }
  /** Everything that depends on the data; `kept` is the view of before, for a page that is updated. */
  build(data, kept) {
    this.data = data;
    readDifferences(data);
    this.view = new View(data);
    if (kept) kept(this.view);
    else this.view.restore();
    this.view.onChange((what) => this.later(what));
    this.colourKey = "";
    this.gantts = data.runs.map((run) => new Gantt(run, this.view, (one) => ({dark: this.isDark(), paint: one.paint})));
    byId("runs").replaceChildren(...this.gantts.map((gantt) => this.runBox(gantt)));
    for (const gantt of this.gantts) attachPointer(gantt, this.view, this.tip);
    byId("job").replaceChildren();
    this.panel = new JobPanel(this.view, byId("job"));
    byId("title").textContent = data.title;
    byId("filter").value = this.view.filter;
    this.recolour();
    this.drawGantts();
    page.timing.first = performance.now();
    page.view = this.view;
    page.gantts = this.gantts;
  }
  runBox(gantt) {
    const {run} = gantt;
    gantt.box.style.height = `${Gantt.heightOf(run, this.data.runs.length)}px`;
    new ResizeObserver(() => this.later("all")).observe(gantt.box);
    const words = [policyText(run.json.policy, this.data.runs.map((one) => one.json.policy)), baseName(run.json.trace), run.json.machine,
                   run.json.body === "live" ? "real run" : run.json.body === "sim" ? "simulated" : "",
                   counted(run.json.jobs_in_all || run.count, "job"), run.json.complete === false ? "not complete" : ""];
    return element("section", {class: "run", "data-run": run.index, "aria-label": `run ${run.name}`},
      element("h2", {title: [run.json.policy, run.json.trace].filter(Boolean).join("\n")}, run.name, " ",
              element("span", {class: "quiet"}, words.filter((word) => word && word !== run.name).join(", "))), gantt.box);
  }
  /** The rest of the page: curves, distributions, tables. Made after the first picture was shown. */
  fill() {
    const {data, view} = this;
    const before = this.curves ? this.arrangement() : null;
    const isDark = () => this.isDark();
    const curves = this.curves;
    this.curves = new Curves(data.runs, view, isDark);
    byId("curves").replaceChildren(this.curves.box);
    if (curves) for (const chart of curves.charts) chart.graph.destroy();
    this.curves.make();
    byId("warnings").replaceChildren(...[warningsBox(data, view)].filter(Boolean));
    byId("differences").replaceChildren(...[differencesBox(data, view)].filter(Boolean));
    byId("metrics").replaceChildren(element("h2", {}, "Figures"), ...metricsTables(data));
    byId("sizes").replaceChildren(...[sizesBox(data, view)].filter(Boolean));
    byId("signs").replaceChildren(...signSamples(data).map(([name, text]) => element("span", {}, element("span", {class: `swatch sign ${name}`, "aria-hidden": "true"}), text)));
    this.distributions = new Distributions(data.runs, isDark);
    byId("distributions").replaceChildren(element("h2", {}, "Distributions"), this.distributions.box);
    if (before) this.distributions.choose(before.distributions);
    this.distributions.draw();
    const {by, down, most} = this.list || {};
    this.list = new JobList(data, view);
    if (before) Object.assign(this.list, {by, down, most});
    byId("list").replaceChildren(this.list.box);
    byId("about").replaceChildren(...[limitsBox(data), element("details", {}, element("summary", {}, data.runs.length > 1 ? "The runs" : "The run"), headersTable(data)),
                                      element("p", {class: "quiet"}, `Made by ${data.program}.`)].filter(Boolean));
    this.panel.show();
    if (before) this.arrange(before);
    page.timing.filled = performance.now();
    page.ready = true;
  }
  /** What the user has opened, chosen and focused below the charts, for a page that is made anew. */
  arrangement() {
    const active = document.activeElement;
    return {open: new Map([...document.querySelectorAll("details")].map((box) => [nameOfDetails(box), box.open])),
            distributions: this.distributions.choices(), focus: active && active !== document.body ? active.id : ""};
  }
  arrange({open, focus}) {
    for (const box of document.querySelectorAll("details")) box.open = open.get(nameOfDetails(box)) ?? box.open;
    if (focus && document.activeElement === document.body && byId(focus)) byId(focus).focus({preventScroll: true});
  }
  isDark() {
    if (this.printing) return false;
    return this.view.theme === "dark" || (this.view.theme === "auto" && this.media.matches);
  }

  controls() {
    byId("colour").addEventListener("change", (event) => {
      this.view.mode = event.target.value;
      this.view.changed("colours");
    });
    byId("filter").addEventListener("input", (event) => {
      this.view.filter = event.target.value;
      this.view.changed("colours");
    });
    const on = (id, act) => byId(id).addEventListener("click", act);
    on("whole", () => this.view.whole());
    on("closer", () => this.view.zoom(0.6));
    on("wider", () => this.view.zoom(1 / 0.6));
    on("help", () => this.dialog.showModal());
    on("theme", () => this.actions().theme());
  }
  actions() {
    const choose = byId("colour");
    return {
      help: () => this.dialog.open || this.dialog.showModal(),
      filter: () => byId("filter").focus(),
      theme: () => {
        this.view.theme = this.isDark() ? "light" : "dark";
        this.view.changed("colours");
      },
      colour: () => {
        this.view.mode = choose.options[(choose.selectedIndex + 1) % choose.options.length].value;
        this.view.changed("colours");
      },
      cores: (factor) => this.view.zoomCores(this.focused(), factor),
      panel: () => this.panel.focus(),
      mark: () => {
        const {view} = this;
        view.mark = view.mark || !view.selected ? null : view.spanOf(view.selected.run, view.selected.row);
        view.changed("selection");
      },
      escape: () => {
        if (document.activeElement === byId("filter")) byId("filter").blur();
        else if (this.view.selected) this.view.select(null, -1);
      },
      arrow: (direction, box) => {
        const gantt = this.gantts.find((one) => one.box === box);
        const {selected} = this.view;
        const row = neighbourIn(gantt.run, selected && selected.run === gantt.run ? selected.row : -1, direction);
        if (row >= 0) this.view.goTo(gantt.run, row);
      },
    };
  }
  focused() {
    const gantt = this.gantts.find((one) => one.box.contains(document.activeElement));
    return gantt ? gantt.run : this.view.selected ? this.view.selected.run : this.data.runs[0];
  }

  /** Draws in the next frame what has changed until then. */
  later(what) {
    this.changes = this.changes || new Set();
    this.changes.add(what);
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      const changes = this.changes;
      this.changes = this.asked = null;
      this.update(changes);
    });
  }
  update(changes) {
    const has = (what) => changes.has(what) || changes.has("all");
    if (has("colours")) this.recolour();
    if (has("time") || has("cores") || has("colours")) this.drawGantts();
    else if (has("selection")) this.gantts.forEach((gantt) => gantt.drawOver());
    if (has("selection")) {
      this.panel.show();
      document.body.classList.toggle("has-job", Boolean(this.view.selected));
      this.announce();
    }
    if (this.curves && has("colours")) {
      const isOtherTheme = this.curves.look !== (this.isDark() ? "dark" : "light");
      if (isOtherTheme || changes.has("all")) {  // made anew, because a narrower window does not make a figure narrower
        this.curves.make();
        this.distributions.draw();
      }
      this.list.fill();
    } else if (this.curves && has("time")) {
      this.curves.redraw(changes.has("all"));
      clearTimeout(this.settling);
      this.settling = setTimeout(() => this.curves.redraw(true), 90);
    }
    byId("span").textContent = `${instantText(this.view.t0, (this.view.t1 - this.view.t0) / 100)} to ` +
                               `${instantText(this.view.t1, (this.view.t1 - this.view.t0) / 100)} (${durationText(this.view.t1 - this.view.t0)})`;
  }
  drawGantts() {
    for (const gantt of this.gantts) {
      gantt.resize();
      gantt.draw();
    }
  }
  recolour() {
    const {view, data} = this;
    const dark = this.isDark();
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    const modes = colourModes(data, dark);
    if (!modes[view.mode]) view.mode = "job";
    const {test, error} = parseFilter(view.filter);
    const key = `${view.mode} ${dark} ${error ? "" : view.filter}`;
    if (byId("filter").value !== view.filter) byId("filter").value = view.filter;
    let shown = 0, all = 0;
    for (const run of data.runs) {
      if (key !== this.colourKey) {
        run.matches = matchesOf(run, test);
        run.paint = paint(run, modes[view.mode], run.matches, pixelOf(dark ? "#3a414b" : "#dcdfe4"));
      }
      shown += run.matches ? run.matches.count : run.count;
      all += run.count;
    }
    this.colourKey = key;
    byId("filter-result").textContent = error || (test ? `${numberText(shown)} of ${counted(all, "job")}` : "");
    byId("filter").setAttribute("aria-invalid", String(Boolean(error)));
    byId("filter-result").classList.toggle("wrong", Boolean(error));
    const choose = byId("colour");
    if (choose.options.length !== Object.keys(modes).length) {
      choose.replaceChildren(...Object.entries(modes).map(([name, mode]) => element("option", {value: name}, mode.label)));
    }
    choose.value = view.mode;
    this.legend(modes[view.mode]);
  }
  legend(mode) {
    const box = byId("colours");
    const swatches = mode.colours.map((colour, k) => {
      const swatch = element("span", {class: "swatch", "aria-hidden": "true"});
      swatch.style.background = colour;
      return element("span", {}, swatch, mode.texts ? mode.texts[k] : "");
    });
    box.replaceChildren(...(mode.texts ? swatches : [element("span", {class: "strip"}, swatches)]), element("span", {class: "quiet"}, mode.note || ""));
  }
  announce() {
    const {selected} = this.view;
    const value = (name) => selected.run.value(name, selected.row);
    byId("announcement").textContent = !selected ? "no job selected" : `job ${selected.run.nameOf(selected.row)}, ` +
      (Number.isNaN(value("start")) ? "not started" : `${counted(value("cores"), "core")}, started at ${instantText(value("start"))}, ` +
                                                      `waited ${durationText(value("wait"))}`);
  }
  /** On paper: light, and images in place of the canvases. */
  print(begins) {
    this.printing = begins;
    const boxes = [...this.gantts.map((gantt) => gantt.box), byId("curves"), byId("distributions")];
    boxes.forEach(thaw);
    this.recolour();
    for (const box of boxes.slice(0, -1)) box.style.width = begins ? "1000px" : "";
    // Two charts of several runs on a page.
    for (const {box} of this.data.runs.length > 1 ? this.gantts : []) {
      if (begins) [box.dataset.height, box.style.height] = [box.style.height, `${Math.min(300, box.clientHeight)}px`];
      else box.style.height = box.dataset.height;
    }
    this.drawGantts();
    this.curves.make();
    this.distributions.draw();
    if (!begins) return;
    for (const gantt of this.gantts) freeze(gantt.box, gantt.ratio);
    document.querySelectorAll(".curve[open] .curve-plot, .ecdf-plot").forEach((plot) => freeze(plot, window.devicePixelRatio || 1));
    for (const box of boxes) box.style.width = "";
  }
  /** Takes a newer state of a live run; the window follows the end if it reached it. */
  replace(json) {
    if (this.gantts.some((gantt) => gantt.isHeld)) {  // a drag goes on with the chart that it began on
      clearTimeout(this.held);
      this.held = setTimeout(() => this.replace(json), 100);
      return;
    }
    clearTimeout(this.held);
    const old = this.view;
    const focused = this.gantts.findIndex((gantt) => gantt.box.contains(document.activeElement));
    const followed = !old || old.t1 >= old.end - (old.end - old.begin) * 0.002;
    const data = {...this.data, runs: [new Run(json, 0)], differences: []};
    this.build(data, (view) => {
      if (!old || old.data.runs.length === 0) return view.restore();
      Object.assign(view, {mode: old.mode, filter: old.filter, theme: old.theme, mark: old.mark});
      const [from, to] = [view.data.runs[0], old.data.runs[0]];
      if (from.cores === to.cores) [from.c0, from.c1] = [to.c0, to.c1];
      if (old.selected) {
        const row = from.rowOf(to.idOf(old.selected.row));
        view.selected = row >= 0 ? {run: from, row} : null;
      }
      const whole = old.t0 <= old.begin + 1e-9;
      if (!followed) [view.t0, view.t1] = [old.t0, old.t1];
      else if (!whole) [view.t0, view.t1] = [view.end - (old.t1 - old.t0), view.end];
      return undefined;
    });
    this.fill();
    if (focused >= 0 && this.gantts[focused]) this.gantts[focused].over.focus({preventScroll: true});
  }
}

function start() {
  page.timing.start = performance.now();
  try {
    const data = readData();
    const say = (text) => {
      byId("state").textContent = text;
      byId("state").classList.remove("late");
      byId("state").hidden = false;
    };
    if (data.live) {
      let shown = null;
      byId("title").textContent = data.title;
      followLive(data.live.events, (json) => {
        if (shown) return shown.replace(json);
        shown = new Page({...data, runs: [new Run(json, 0)], differences: []});
        page.page = shown;
        return shown.fill();
      }, say);
    } else if (data.runs.length === 0) {
      say("This page has no run.");
    } else {
      byId("state").hidden = true;
      const shown = new Page(data);
      page.page = shown;
      // Two frames: the picture is on the screen before the rest is made.
      requestAnimationFrame(() => setTimeout(() => {
        try {
          shown.fill();
          shown.update(new Set(["all"]));
        } catch (error) {
          complain(error.message);
        }
      }));
    }
  } catch (error) {
    byId("state").hidden = true;
    complain(error.message);
    page.failed = true;
  }
}
start();
