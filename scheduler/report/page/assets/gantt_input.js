// Pointer on a Gantt chart: drag pans, ctrl+wheel zooms, alt+wheel zooms cores, shift+wheel pans; a click selects the job
// below it; two fingers pinch. The plain wheel scrolls the page.

const kClickDistance = 4;

function attachPointer(gantt, view, tip) {
  const {over, run} = gantt;
  const pointers = new Map();
  let moved = 0;
  const place = (event) => {
    const box = over.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  };
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return {distance: Math.max(10, Math.abs(a.x - b.x)), middle: (a.x + b.x) / 2};
  };

  over.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    over.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    gantt.isHeld = true;
    if (pointers.size === 1) moved = 0;
    tip.hide();
  });
  over.addEventListener("pointermove", (event) => {
    const now = place(event);
    const before = pointers.get(event.pointerId);
    if (!before) return hover(now, event);
    const was = pointers.size === 2 ? spread() : null;
    pointers.set(event.pointerId, now);
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (moved < kClickDistance) return undefined;
    over.classList.add("dragged");
    if (was) {
      const is = spread();
      const around = gantt.timeAt(is.middle);
      view.pan((was.middle - is.middle) / gantt.plotWidth);
      return view.zoom(was.distance / is.distance, around);
    }
    if (run.c1 - run.c0 < run.cores) {
      const by = ((before.y - now.y) / gantt.plotHeight) * (run.c1 - run.c0);
      if (by !== 0) view.showCores(run, run.c0 + by, run.c1 + by);
    }
    return view.pan((before.x - now.x) / gantt.plotWidth);
  });
  const release = (event) => {
    const known = pointers.delete(event.pointerId);
    gantt.isHeld = pointers.size > 0;
    over.classList.remove("dragged");
    if (!known || event.type !== "pointerup" || moved >= kClickDistance || pointers.size > 0) return;
    const {x, y} = place(event);
    const i = gantt.hit(x, y);
    const row = i >= 0 ? gantt.set.arrays.job[i] : -1;
    view.select(run, row);
    over.focus({preventScroll: true});
  };
  over.addEventListener("pointerup", release);
  over.addEventListener("pointercancel", release);
  over.addEventListener("pointerleave", () => {
    gantt.hover = -1;
    tip.hide();
    gantt.drawOver();
  });
  over.addEventListener("dblclick", () => view.fitSelected());

  function hover(now, event) {
    const i = gantt.hit(now.x, now.y);
    if (i !== gantt.hover) {
      gantt.hover = i;
      gantt.drawOver();
    }
    const lines = i < 0 ? [] : stretchText(run, gantt.set.arrays, i);
    const closed = gantt.closedAt(now.x, now.y);
    if (closed) lines.push(closed);
    return lines.length === 0 ? tip.hide() : tip.show(event.clientX, event.clientY, lines);
  }

  over.addEventListener("wheel", (event) => {
    const step = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
    const {x, y} = place(event);
    if (event.ctrlKey || event.metaKey) view.zoom(Math.exp(Math.max(-1, Math.min(1, step * 0.004))), gantt.timeAt(x));
    else if (event.altKey) view.zoomCores(run, Math.exp(Math.max(-1, Math.min(1, step * 0.004))), gantt.coreAt(y));
    else if (event.shiftKey) view.pan((step || event.deltaX) / gantt.plotWidth);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.pan(event.deltaX / gantt.plotWidth);
    else return;
    event.preventDefault();
  }, {passive: false});
}

/** A stretch in words: lines for the tip under the pointer and for screen readers. */
function stretchText(run, {job, from, to, first, last, flags, mpl, processes}, i) {
  const row = job[i];
  const lines = [];
  if (row < 0) {
    lines.push("several small jobs, drawn as one");
  } else {
    const parts = [`job ${run.nameOf(row)}`];
    if (run.value("user", row) >= 0) parts.push(`user ${run.value("user", row)}`);
    if (run.className(row)) parts.push(run.className(row));
    lines.push(parts.join(", "));
  }
  if (row >= 0 && !run.endedWell(row)) lines.push(run.outcome(row));
  lines.push(`${first[i] === last[i] ? "core" : "cores"} ${rangeText(first[i], last[i])}, ` +
             `${instantText(from[i])} to ${instantText(to[i])} (${durationText(to[i] - from[i])})`);
  const flag = flags[i];
  if (flag & kMerged && row >= 0) lines.push("and other jobs: zoom in to see them");
  if (flag & kMerged) lines.push(`${usedOf(flag) < 1 ? `up to ${100 * usedOf(flag)} %` : "more than 75 %"} of this is used`);
  if (flag & kSuspended) lines.push("suspended");
  if (flag & kShrunk) lines.push(`shrunk: ${processes && processes[i] > 0 ? `${processes[i]} processes` : "its processes"}, up to ${mpl[i]} on a core`);
  const sake = flag & kShrunk && row >= 0 ? run.sakeOf(row, from[i]) : -1;
  if (sake >= 0) lines.push(`shrunk for job ${run.nameOf(sake)}`);
  if (row >= 0 && run.waitDifference && run.waitDifference(row) !== 0) lines.push(`waited ${signedDuration(run.waitDifference(row))} against the first run`);
  if (flag & kGrouped) lines.push("in a group of jobs");
  if (flag & kShareable) lines.push("may share its cores or nodes");
  return lines;
}

/** The tip under the pointer. */
class Tip {
  constructor() {
    this.box = element("div", {class: "tip", "aria-hidden": "true"});
    this.box.hidden = true;
    document.body.append(this.box);
  }
  show(x, y, lines) {
    const text = lines.join("\n");
    if (this.box.textContent !== text) this.box.textContent = text;
    this.box.hidden = false;
    const {offsetWidth, offsetHeight} = this.box;
    this.box.style.left = `${Math.max(4, Math.min(x + 14, window.innerWidth - offsetWidth - 8))}px`;
    this.box.style.top = `${y + 18 + offsetHeight > window.innerHeight ? y - offsetHeight - 10 : y + 18}px`;
  }
  hide() {
    this.box.hidden = true;
  }
}
