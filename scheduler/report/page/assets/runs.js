// Several runs on one axis: where they part, and which jobs differ most.

/**
 * Adds to each run the instants at which it parts from another one (`lines`) and, against run 0, `waitDifference(row)` and what
 * differentOf() reads.
 */
function readDifferences(data) {
  for (const run of data.runs) run.lines = [];
  for (const difference of data.differences || []) {
    const run = data.runs[difference.run];
    const against = data.runs[difference.against];
    if (!run || !against) continue;
    if (difference.first) {
      for (const one of [run, against]) {
        if (!one.lines.some((line) => line.at === difference.first.at)) one.lines.push({at: difference.first.at});
      }
    }
    if (difference.against === 0) for (const one of [run, against]) one.partings = [...(one.partings || []), {run, against, difference}];
    if (difference.against === 0 && !run.waitDifference) {
      run.waitDifference = (row) => {
        const other = against.rowOf(run.idOf(row));
        const by = other < 0 ? NaN : run.value("wait", row) - against.value("wait", other);
        return Number.isNaN(by) ? 0 : by;
      };
    }
  }
}

/** By row: 1 for jobs that start or end otherwise than in run 0; of run 0 those that do so in any other run. */
function differentOf(run) {
  if (run.different) return run.different;
  run.different = new Uint8Array(run.count);
  for (const parting of run.partings || []) {
    for (const row of columnsOf(parting.difference).jobs || []) {
      const own = parting.run === run || row < 0 ? row : run.rowOf(parting.run.idOf(row));
      if (own >= 0 && own < run.count) run.different[own] = 1;
    }
  }
  return run.different;
}

/** The columns of a difference, decoded once. */
function columnsOf(difference) {
  difference.columns = difference.columns || lazyColumns({jobs: difference.jobs, wait_difference: difference.wait_difference});
  return difference.columns;
}

function differencesBox(data, view) {
  const parts = (data.differences || []).map((difference) => {
    const [run, against] = [data.runs[difference.run], data.runs[difference.against]];
    if (!run || !against) return null;
    const box = element("section", {class: "difference"}, element("h3", {}, `${run.name} against ${against.name}`));
    const first = difference.first;
    if (!first) {
      box.append(element("p", {}, "They never differ: same decisions, same times."));
    } else {
      const row = first.job === undefined || first.job === null ? -1 : first.job;
      const whole = view.end - view.begin;
      const half = Math.min(whole / 2, Math.max(whole / 40, 5));
      const jump = (event) => {
        event.preventDefault();
        view.selected = row >= 0 ? {run, row} : null;
        view.show(first.at - half, first.at + half);
        view.changed("selection");
        document.querySelector(`[data-run="${run.index}"]`)?.scrollIntoView({block: "nearest"});
      };
      const target = view.fragment({t: `${first.at - half},${first.at + half}`, run: run.index, job: row >= 0 ? run.idOf(row) : null});
      box.append(element("p", {}, "First different decision: ", element("a", {href: target, class: "first-difference", onclick: jump}, `at ${instantText(first.at)}`)),
                 element("p", {class: "words"}, first.text || ""));
    }
    if (difference.tolerance > 0) box.append(element("p", {class: "quiet"}, `Times within ${durationText(difference.tolerance)} of each other count as equal.`));
    for (const remark of difference.remarks || []) box.append(element("p", {class: "quiet"}, remark));
    const {jobs, wait_difference: waits} = columnsOf(difference);
    if (jobs && jobs.length > 0) {
      const order = Array.from(jobs.keys()).filter((k) => waits && !Number.isNaN(waits[k])).sort((a, b) => Math.abs(waits[b]) - Math.abs(waits[a])).slice(0, 8);
      box.append(element("p", {}, `${counted(jobs.length, "job")} ${jobs.length === 1 ? "differs" : "differ"}`, order.length > 0 ? "; most in their wait: " : ".",
                         order.flatMap((k, n) => {
                           const at = jobs[k];
                           if (at < 0 || at >= run.count) return [];
                           return [n > 0 ? ", " : "", view.jobLink(run, at), ` ${signedDuration(waits[k])}`];
                         })));
    }
    if (difference.text) box.append(element("details", {}, element("summary", {}, "all of ", element("code", {}, "replay diff")), element("pre", {}, difference.text)));
    return box;
  }).filter((box) => box !== null);
  if (parts.length === 0) return null;
  return element("section", {class: "differences"}, element("h2", {}, "Where they differ"), parts);
}
