// node live_state.js LIVE.JS EVENTS EXPECTED: feeds the events of a live page (the body of its stream) to the page's own reader, and
// compares what that makes of them with a run as JSON. Prints what differs; the exit status is 1 if anything does.
"use strict";
const {readFileSync} = require("node:fs");
const vm = require("node:vm");

const [source, eventsFile, expectedFile] = process.argv.slice(2);
const LiveRun = vm.runInThisContext(`${readFileSync(source, "utf8")}; LiveRun`);
const problems = [];

let live = null, ended = false;
for (const text of readFileSync(eventsFile, "utf8").split("\n\n").filter(Boolean)) {
  const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(text) || [];
  const json = JSON.parse(data);
  if (name === "begin") live = new LiveRun(json);
  else if (name === "records") live.take(json);
  else if (name === "end") {
    ended = true;
    live.finish(json);
  } else problems.push(`an event '${name}'`);
}
if (!live || !ended) problems.push(live ? "no end" : "no begin");

// Columns of texts and numbers: what is absent is null, NaN or "".
const isAbsent = (value) => value === null || value === undefined || value === "" || Number.isNaN(value);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b) || (isAbsent(a) && isAbsent(b));

function compareColumns(part, has, expected) {
  for (const name of new Set([...Object.keys(has), ...Object.keys(expected)])) {
    const [a, b] = [has[name] || [], expected[name] || []];
    if (!(name in expected) && a.every(isAbsent)) continue;
    if (!(name in has) && b.every(isAbsent)) continue;
    if (a.length !== b.length) problems.push(`${part}.${name}: ${a.length} rows, expected ${b.length}`);
    const row = b.findIndex((value, k) => !same(a[k], value));
    if (row >= 0) problems.push(`${part}.${name}[${row}]: ${JSON.stringify(a[row])}, expected ${JSON.stringify(b[row])}`);
  }
}

if (live) {
  const expected = JSON.parse(readFileSync(expectedFile, "utf8"));
  const has = live.json();
  for (const part of ["jobs", "stretches", "series", "resizes"]) compareColumns(part, has[part], expected[part]);
  for (const part of ["name", "header", "shape", "begin", "end", "complete", "warnings", "metrics", "jobs_in_all", "classes", "classes_from", "outcomes", "groups", "slices", "ecdf"]) {
    if (!same(has[part], expected[part])) problems.push(`${part}: ${JSON.stringify(has[part])?.slice(0, 400)}, expected ${JSON.stringify(expected[part])?.slice(0, 400)}`);
  }
}
for (const problem of problems) console.log(problem);
process.exit(problems.length > 0 ? 1 : 0);
