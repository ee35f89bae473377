// Pages of real runs: on emulated cores, with jobs that are shrunk, and on two cores of this machine. What the page says is
// compared with the event log, since no two real runs are the same.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {clickJob, close, folder, open, panel, records, replay, report, start, stop, traces} from './support.mjs';

function hasMpi() {
  try {
    execFileSync('mpiexec', ['--version'], {stdio: 'ignore'});
    return true;
  } catch {
    return false;
  }
}
const withoutMpi = hasMpi() ? false : 'no mpiexec (apt: mpich)';
const withoutCores = withoutMpi || (os.availableParallelism() < 2 ? 'only one core may be used here' : false);

/** The first two CPUs that this process may use. */
function twoCores() {
  const list = execFileSync('taskset', ['-pc', String(process.pid)], {encoding: 'utf8'}).split(': ')[1];
  const all = list.trim().split(',').flatMap((part) => {
    const [from, to = from] = part.split('-').map(Number);
    return Array.from({length: to - from + 1}, (_, k) => from + k);
  });
  return all.slice(0, 2).join(',');
}

async function realRun(name, trace, machine) {
  const out = path.join(folder, name);
  await replay('--trace', path.join(traces, trace), '--policy', 'fcfs-malleable', '--machine', machine, '--out', out, '--force', '--plain', '--yes');
  return out;
}

const runs = {};
before(async () => {
  const made = {};
  if (!withoutMpi) made.emulated = realRun('emulated', 'shrinking.swf', 'emulated:1x1x4');
  if (!withoutCores) made.real = realRun('real', 'two-cores.swf', `local:${twoCores()}`);
  await start();
  for (const [name, run] of Object.entries(made)) runs[name] = await run;
});
after(stop);

test('the page of an emulated run says which job was shrunk for which, as the log does', {skip: withoutMpi}, async () => {
  const page = await open(await report('emulated', runs.emulated));
  const starts = records(runs.emulated, 'start');
  // A job that is started at the instant of a shrink got its cores.
  const shrinks = records(runs.emulated, 'resize').filter(([, {mpl}]) => Number(mpl) > 1)
    .map(([at, {job}]) => ({job, sake: starts.find(([when]) => when === at)?.[1].job})).filter(({sake}) => sake);
  assert.ok(shrinks.length >= 1, 'the run has no job that was shrunk');
  for (const {job, sake} of shrinks) {
    await clickJob(page, Number(job));
    assert.match(await panel(page), new RegExp(`shrunk from \\d to \\d cores? for job ${sake}\\b`));
    await clickJob(page, Number(sake));
    assert.match(await panel(page), new RegExp(`job ${job} was shrunk from \\d to \\d cores? for this job`));
  }
  assert.match(await page.locator('.run h2').innerText(), /fcfs-malleable, shrinking\.swf, emulated:1x1x4, real run, 5 jobs/);
  await close(page);
});

test('the page of a run on real cores has all its jobs, with the times of the log', {skip: withoutCores}, async () => {
  const page = await open(await report('real', runs.real));
  const ends = new Map(records(runs.real, 'finish').map(([at, {job}]) => [Number(job), at]));
  assert.equal(ends.size, 4);
  for (const [job, at] of ends) {
    await clickJob(page, job);
    const text = await panel(page);
    const end = Number(/ended\s+([\d.]+) s/.exec(text)[1]);
    assert.ok(Math.abs(end - at) < 0.001, `job ${job} ended at ${at}, the page says ${end}`);
    assert.match(text, /completed/);
  }
  assert.match(await page.locator('.run h2').innerText(), /fcfs-malleable, two-cores\.swf, .*real run, 4 jobs/);
  await close(page);
});

test('a simulated and a real run of one trace stand side by side, with the first decision in which they differ', {skip: withoutMpi}, async () => {
  const simulated = path.join(folder, 'simulated');
  await replay('simulate', '--trace', path.join(traces, 'shrinking.swf'), '--policy', 'fcfs-malleable', '--runtime-model', 'isolated', '--machine', '1x1x4', '--out', simulated, '--force');
  const page = await open(await report('beside', simulated, runs.emulated));
  assert.equal(await page.locator('.gantt').count(), 2);
  assert.match(await page.locator('#differences').innerText(), /emulated against simulated/);
  await clickJob(page, 3, 1);
  assert.match(await panel(page), /in emulated[^]*In the other runs\s*simulated: waited/);
  await close(page);
});
