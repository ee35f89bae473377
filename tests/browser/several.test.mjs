// The page of three runs: a row each, differences marked, the first decision that differs linked.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {clickJob, close, coloursOf, folder, near, open, panel, replay, report, settled, source, start, stop, viewOf} from './support.mjs';

let file, runs;
before(async () => {
  const out = path.join(folder, 'three');
  await replay('simulate', '--trace', path.join(source, 'traces/emulated-150.swf'), '--policy', 'easy,fcfs,fcfs-malleable', '--runtime-model', 'isolated', '--machine',
               '8x2x2', '--out', out, '--force');
  runs = ['easy', 'fcfs', 'fcfs-malleable'].map((name) => path.join(out, name));
  file = await report('three', ...runs);
  await start();
});
after(stop);

test('each run has a row in the order given, all on one axis, and a line in each curve', async () => {
  const page = await open(file);
  const titles = await page.locator('.run h2').allInnerTexts();
  assert.deepEqual(titles.map((title) => title.split(' ')[0]), ['easy', 'fcfs', 'fcfs-malleable']);
  assert.deepEqual(await page.locator('.curves .key > span').allInnerTexts().then((names) => names.map((name) => name.trim())), ['easy', 'fcfs', 'fcfs-malleable']);
  const box = await page.locator('.over').nth(1).boundingBox();
  await page.mouse.move(box.x + 600, box.y + 60);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  await settled(page);
  const shown = await page.evaluate(() => window.replayPage.gantts.map((gantt) => [gantt.timeAt(100), gantt.timeAt(700)]));
  assert.deepEqual(shown[1], shown[0]);
  assert.deepEqual(shown[2], shown[0]);
  await close(page);
});

test('the first decision that differs is that of `replay diff`, marked in both rows and linked', async () => {
  const page = await open(file);
  const diff = await replay('diff', runs[0], runs[1]).catch((error) => error.stdout);
  const [, at, job] = /they part at ([\d.]+) s.*at job (\d+)/.exec(diff);
  const link = page.locator('.difference').first().locator('a.first-difference');
  assert.equal(await link.innerText(), `at ${at} s`);
  const lines = await page.evaluate(() => window.replayPage.gantts.map((gantt) => gantt.run.lines.map((line) => line.at)));
  assert.ok(lines[0].includes(Number(at)) && lines[1].includes(Number(at)));
  await link.click();
  await settled(page);
  const view = await viewOf(page);
  assert.deepEqual([view.run, view.job], [1, Number(job)]);
  near((view.t0 + view.t1) / 2, Number(at), 0.01);
  const href = await link.getAttribute('href');
  const other = await open(file, {hash: href});
  const linked = await viewOf(other);
  assert.equal(linked.job, Number(job));
  near(linked.t0, view.t0, 0.01);
  await close(other);
  await close(page);
});

test('jobs that differ can be filtered, and are coloured by the difference of their wait', async () => {
  const page = await open(file);
  const [, count] = /(\d+) jobs? differ/.exec(await page.locator('.difference').first().innerText());
  await page.locator('#filter').fill('differs');
  await settled(page);
  const matches = await page.evaluate(() => window.replayPage.view.data.runs.map((run) => run.matches.count));
  assert.equal(matches[1], Number(count));
  assert.ok(matches[0] >= matches[1]);
  await page.locator('#filter').fill('');
  await page.locator('#colour').selectOption('difference');
  await settled(page);
  assert.match(await page.locator('#colours').innerText(), /over .* less[^]*the same within[^]*over .* more[^]*than in easy/);
  const [less, more] = ['33,102,172', '178,24,43'];
  assert.equal((await coloursOf(page, 0))[more], undefined, 'the first run differs from itself in nothing');
  assert.ok((await coloursOf(page, 1))[more] > 500, 'fcfs makes jobs wait longer');
  assert.ok((await coloursOf(page, 2))[less] > 500, 'fcfs-malleable makes them wait less');
  await close(page);
});

test('a job selected in one run is outlined in the others, and its panel tells of them', async () => {
  const page = await open(file);
  await clickJob(page, 40, 1);
  assert.match(await panel(page), /^Job 40\n[^]*in fcfs,[^]*In the other runs\s*easy: waited [^]*fcfs-malleable: waited/);
  await page.locator('#job').getByRole('link', {name: 'fcfs-malleable', exact: true}).click();
  await settled(page);
  assert.deepEqual([(await viewOf(page)).run, (await viewOf(page)).job], [2, 40]);
  await close(page);
});

test('figures of later runs have their change against the first, as the files of the runs say', async () => {
  const page = await open(file);
  const metrics = runs.map((run) => JSON.parse(fs.readFileSync(path.join(run, 'metrics.json'), 'utf8')));
  const value = (k) => metrics[k].metrics.mean_wait.value;
  const cells = await page.locator('#metrics tr', {hasText: 'mean wait'}).first().locator('td').allInnerTexts();
  for (const k of [0, 1, 2]) near(Number.parseFloat(cells[k]), value(k), 0.01);
  near(Number(/([+\u2212][\d.]+) %/.exec(cells[1])[1].replace('\u2212', '-')), (value(1) / value(0) - 1) * 100, 1);
  await close(page);
});

test('a narrow window shows all three without scrolling sideways', async () => {
  const page = await open(file, {width: 400, height: 800, colours: 'dark'});
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 400);
  await close(page);
});
