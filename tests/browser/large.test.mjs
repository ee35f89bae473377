// The page of 50,000 jobs on 1,024 cores: the coarse picture of the whole run is right, and zooming shows the jobs themselves.
// How fast it is, bench.mjs measures.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {clickJob, close, coloursOf, folder, near, open, panel, replay, report, settled, simulate, start, stop, viewOf} from './support.mjs';

let file, run;
before(async () => {
  const trace = path.join(folder, 'large.swf');
  await replay('generate', 'lublin', '--jobs', '50000', '--machine-size', '1024', '--seed', '1', '--load', '0.85', '-o', trace, '--force');
  run = await simulate('large', '--trace', trace, '--policy', 'easy', '--machine', 'flat:1024');
  file = await report('large', run);
  await start();
});
after(stop);

test('all jobs are in the page, and the share of the picture that is busy is that of the machine', async () => {
  const page = await open(file);
  assert.match(await page.locator('.run h2').innerText(), /50,000 jobs/);
  assert.equal(await page.evaluate(() => window.replayPage.view.data.runs[0].count), 50000);
  const whole = await viewOf(page);
  for (const share of [0.2, 0.4, 0.6, 0.8]) {
    const [from, to] = [0, 30000].map((more) => whole.begin + share * (whole.end - whole.begin) + more);
    await page.evaluate(([from, to]) => window.replayPage.view.show(from, to), [from, to]);
    await settled(page);
    const colours = await coloursOf(page);
    const all = Object.values(colours).reduce((sum, count) => sum + count, 0);
    near(1 - (colours['255,255,255'] || 0) / all, busyShare(from, to), 0.03);
  }
  assert.match(await page.locator('#about').innerText(), /cells of/);
  await close(page);
});

/** Mean share of busy cores in a span of time, by series.csv. */
function busyShare(from, to) {
  const [head, ...lines] = fs.readFileSync(path.join(run, 'series.csv'), 'utf8').trim().split('\n');
  const [time, busy] = ['time_s', 'busy_cores'].map((name) => head.split(',').indexOf(name));
  const points = lines.map((line) => line.split(',')).map((row) => [Number(row[time]), Number(row[busy])]);
  const area = points.reduce((sum, [at, cores], k) => {
    const next = k + 1 < points.length ? points[k + 1][0] : at;
    return sum + cores * Math.max(0, Math.min(to, next) - Math.max(from, at));
  }, 0);
  return area / (to - from) / 1024;
}

test('a link to a job in the middle shows its stretches themselves, a click its data, and a filter only its like', async () => {
  const page = await open(file, {hash: '#job=25000'});
  await page.keyboard.press('f');
  await settled(page);
  assert.ok(await page.evaluate(() => {
    const [gantt] = window.replayPage.gantts;
    return gantt.set === gantt.run.stretches;
  }), 'the stretches themselves are drawn');
  await page.keyboard.press('Escape');
  await clickJob(page, 25000);
  const text = await panel(page);
  assert.match(text, /^Job 25,?000/);
  assert.match(text, /on its cores before: job \d+/);
  await page.locator('#filter').fill('size>=512 wait>3600');
  await settled(page);
  const [, count] = /^([\d,]+) of 50,000 jobs$/.exec(await page.locator('#filter-result').innerText());
  const expected = fs.readFileSync(path.join(run, 'jobs.csv'), 'utf8').split('\n');
  const names = expected[0].split(',');
  const [size, wait] = [names.indexOf('requested_number_of_resources'), names.indexOf('waiting_time')];
  const right = expected.slice(1).filter((line) => line !== '' && Number(line.split(',')[size]) >= 512 && Number(line.split(',')[wait]) > 3600).length;
  assert.equal(Number(count.replace(',', '')), right);
  await close(page);
});

test('from the whole run to one job and back, each picture is drawn, and the window is where it was', async () => {
  const page = await open(file);
  const whole = await viewOf(page);
  await page.evaluate(() => window.replayPage.gantts[0].over.focus());
  const sets = new Set([await page.evaluate(() => window.replayPage.gantts[0].set.secondsPerPixel)]);
  for (let k = 0; k < 22; ++k) {
    await page.getByRole('button', {name: 'zoom in'}).click();
    await settled(page);
    sets.add(await page.evaluate(() => window.replayPage.gantts[0].set.secondsPerPixel));
  }
  assert.ok(sets.size >= 2 && sets.has(0), `levels of detail: ${[...sets]}`);
  for (let k = 0; k < 30; ++k) await page.getByRole('button', {name: 'zoom out'}).click();
  await page.getByRole('button', {name: 'whole run'}).click();
  await settled(page);
  assert.deepEqual(await viewOf(page), whole);
  await close(page);
});
