// Keys as in Perfetto: w and s zoom, a and d pan, f shows the selected job, m marks it. Arrows go from job to job.

const kMotions = {w: [0.55, 0], s: [1.8, 0], a: [1, -0.9], d: [1, 0.9]};  // zoom factor and pan in one second

/** The job to go to from the selected one: next or previous on its cores, or on the cores above or below at that time. */
function neighbourIn(run, row, direction) {
  const arrays = run.stretches.open();
  const {count, job, from, to, first, last} = arrays;
  if (row < 0) return count > 0 ? job.find((one) => one >= 0) ?? -1 : -1;
  const own = run.stretchesOf(row);
  if (own.length === 0) return Math.min(run.count - 1, row + 1);
  const start = own[0];
  const middle = (from[start] + to[start]) / 2;
  let best = -1, bestScore = Infinity;
  for (let i = 0; i < count; ++i) {
    if (job[i] === row || job[i] < 0) continue;
    let score = Infinity;
    const onCores = first[i] <= last[start] && last[i] >= first[start];
    const atTime = from[i] <= middle && to[i] > middle;
    if (direction === "right" && onCores && from[i] > from[start]) score = from[i] - from[start];
    if (direction === "left" && onCores && from[i] < from[start]) score = from[start] - from[i];
    if (direction === "up" && atTime && first[i] < first[start]) score = first[start] - last[i];
    if (direction === "down" && atTime && last[i] > last[start]) score = first[i] - last[start];
    if (score < bestScore) [best, bestScore] = [job[i], score];
  }
  return best;
}

function attachKeys(view, actions) {
  const held = new Set();
  let before = 0;
  const move = (seconds) => {
    for (const key of held) {
      const [factor, pan] = kMotions[key];
      if (factor !== 1) view.zoom(factor ** (seconds * 2));
      if (pan !== 0) view.pan(pan * seconds);
    }
  };
  const frame = (now) => {
    if (held.size === 0) return;
    move(Math.min(0.1, Math.max(0, (now - before) / 1000)));
    before = now;
    requestAnimationFrame(frame);
  };
  const release = () => held.clear();
  window.addEventListener("blur", release);
  document.addEventListener("keyup", (event) => held.delete(event.key.toLowerCase()));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inText = event.target instanceof Element && event.target.closest("input, select, textarea");
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "Escape") return actions.escape();
    if (inText) return;
    if (kMotions[key]) {
      if (!event.repeat && !held.has(key)) {
        held.add(key);
        move(0.12);
        before = performance.now() + 120;
        if (held.size === 1) requestAnimationFrame(frame);
      }
      return event.preventDefault();
    }
    const arrow = {ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down"}[key];
    if (arrow) {
      const canvas = event.target instanceof Element && event.target.closest(".gantt");
      if (!canvas) return;
      actions.arrow(arrow, canvas);
      return event.preventDefault();
    }
    const act = {f: () => view.fitSelected(), m: actions.mark, "0": () => view.whole(), Home: () => view.whole(), "?": actions.help,
                 "/": actions.filter, t: actions.theme, "+": () => actions.cores(0.7), "=": () => actions.cores(0.7),
                 "-": () => actions.cores(1 / 0.7), c: actions.colour}[key];
    if (key === "Enter" && event.target instanceof Element && event.target.closest(".gantt")) {
      actions.panel();
      event.preventDefault();
    } else if (act && !(key === "Home" && !(event.target instanceof Element && event.target.closest(".gantt")))) {
      act();
      event.preventDefault();
    }
  });
}
