// The neighbours of a job: the jobs that were beside it on its cores or nodes, and those that had its cores before and after.

/** {cores, nodes, before, after}: rows of jobs, each at most `most`; `more` says whether some were left out. */
function neighboursOf(run, row, most = 12) {
  const own = run.stretchesOf(row);
  const result = {cores: [], nodes: [], before: [], after: [], more: false};
  if (own.length === 0) return result;
  const {job, from, to, first, last, flags} = run.stretches.open();
  const begin = Math.min(...own.map((i) => from[i]));
  const end = Math.max(...own.map((i) => to[i]));
  const sets = {cores: new Set(), nodes: new Set()};
  const overlaps = (i, j) => from[i] < to[j] && to[i] > from[j];
  run.stretches.each(begin, end, (i) => {
    if (job[i] === row || job[i] < 0 || flags[i] & kMerged) return;
    for (const j of own) {
      if (!overlaps(i, j) || (flags[i] | flags[j]) & kSuspended) continue;
      if (first[i] <= last[j] && last[i] >= first[j]) sets.cores.add(job[i]);
      else if (run.nodeOf(0) === 0 && run.nodeOf(first[i]) <= run.nodeOf(last[j]) && run.nodeOf(last[i]) >= run.nodeOf(first[j])) {
        sets.nodes.add(job[i]);
      }
    }
  });
  for (const row of sets.cores) sets.nodes.delete(row);
  // Who had each of its cores last before, and first after.
  const atStart = own.filter((i) => from[i] === begin);
  const atEnd = own.filter((i) => to[i] === end);
  const before = new Map(), after = new Map();
  const {count} = run.stretches.open();
  for (let i = 0; i < count; ++i) {
    if (job[i] === row || job[i] < 0) continue;
    if (to[i] <= begin && atStart.some((j) => first[i] <= last[j] && last[i] >= first[j])) before.set(job[i], to[i]);
    if (from[i] >= end && !after.has(job[i]) && atEnd.some((j) => first[i] <= last[j] && last[i] >= first[j])) after.set(job[i], from[i]);
  }
  result.before = [...before].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([other]) => other);
  result.after = [...after].sort((a, b) => a[1] - b[1]).slice(0, 3).map(([other]) => other);
  for (const kind of ["cores", "nodes"]) {
    result.more = result.more || sets[kind].size > most;
    result[kind] = [...sets[kind]].slice(0, most);
  }
  return result;
}

/** Texts of the resizes of a job and of those made for its sake, in the order of time: {at, text, other: row or -1, own}. */
function resizesOf(run, row) {
  const {job, at, from, to} = run.resizes;
  const sake = run.resizes.for;
  const result = [];
  for (let i = 0; job && i < job.length; ++i) {
    if (job[i] !== row && !(sake && sake[i] === row)) continue;
    const change = `${to[i] < from[i] ? "shrunk" : to[i] > from[i] ? "expanded" : "moved"} from ${from[i]} to ${counted(to[i], "core")}`;
    if (job[i] === row) result.push({at: at[i], text: change, other: sake && sake[i] !== row ? sake[i] : -1, own: true});
    else result.push({at: at[i], text: change, other: job[i], own: false});
  }
  return result.sort((a, b) => a.at - b.at);
}
