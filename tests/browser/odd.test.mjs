// Odd runs: hostile names, no job, one job, a log that was cut off, a file that is no log, a page that was cut off.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {clickJob, close, folder, load, open, panel, replay, report, settled, simulate, source, start, stop} from './support.mjs';

before(start);
after(stop);

/** A run's folder with this log in it. */
function runOf(name, log) {
  const run = path.join(folder, name);
  fs.mkdirSync(run, {recursive: true});
  fs.writeFileSync(path.join(run, 'events.log'), log);
  return run;
}

const kHeader = ['#replay-events 1', '#body sim', '#machine 2x1x4', '#policy easy:reservations=1', '#runtime-model utrera', '#trace one.swf', '#seed 1', '#time-scale 1', '#overrun kill'];
const kJob = ['0 submit job=1 processes=3 estimate=10 runtime=10 flexibility=malleable user=1 group=1', '0 start job=1 cores=3 mpl=1 on=0-2:1',
              '0 launch job=1 cores=3 mpl=1 on=0-2:1', '10 finish job=1 outcome=completed'];
const logOf = (...lines) => `${lines.join('\n')}\n`;

test('names that look like HTML stay text', async () => {
  const hostile = '</script><img src=x onerror="window.hostile=1"><script>window.hostile=2</script><!--&amp;"\'';
  const header = kHeader.map((line) => (line.startsWith('#trace') ? `#trace ${hostile}` : line.startsWith('#policy') ? `#policy <b>${hostile}` : line));
  const out = path.join(folder, 'hostile.html');
  await replay('report', runOf('<_title><script>window.hostile=3<', logOf(...header, ...kJob)), '-o', out, '--title', hostile);
  const page = await open(out);
  assert.equal(await page.evaluate(() => window.hostile), undefined);
  assert.equal(await page.title(), hostile);
  assert.equal(await page.locator('h1').innerText(), hostile);
  assert.equal(await page.locator('img').count(), 0);
  await page.locator('#about summary').last().click();
  assert.match(await page.locator('#about').innerText(), /onerror="window\.hostile=1"/);
  await clickJob(page, 1);
  assert.match(await panel(page), /^Job 1/);
  await close(page);
});

test('control characters in names do not reach the page', async () => {
  const log = logOf(...kHeader, ...kJob).replace('#trace one.swf', '#trace o\u001b[31mn\u0001e\u202e.swf');
  let out;
  try {
    out = await report('control', runOf('control', log));
  } catch (error) {
    assert.match(error.stderr, /control.events\.log/);
    return;
  }
  const page = await open(out);
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(await page.evaluate(() => document.body.textContent.replaceAll('\n', '')), /[\u0000-\u0008\u000b-\u001f]/);
  await close(page);
});

test('a run without jobs says so', async () => {
  const page = await open(await report('none', runOf('none', logOf(...kHeader))));
  assert.match(await page.locator('.run h2').innerText(), /0 jobs/);
  assert.equal(await page.evaluate(() => window.replayPage.gantts[0].run.count), 0);
  for (const key of ['w', 'd', 'f', '0', 'c']) await page.keyboard.press(key);
  await page.locator('.over').click();
  await page.keyboard.press('ArrowRight');
  await settled(page);
  await close(page);
});

test('a run of one job can be looked at like any other', async () => {
  const page = await open(await report('one', runOf('one', logOf(...kHeader, ...kJob))));
  await clickJob(page, 1);
  assert.match(await panel(page), /^Job 1[^]*core[^]*0-2/);
  for (const key of ['f', 'ArrowRight', 'ArrowDown', 'm']) await page.keyboard.press(key);
  await close(page);
});

test('a run that was cut off warns on top, and shows what there is', async () => {
  const whole = await simulate('whole', '--trace', path.join(source, 'traces/synth.swf'), '--policy', 'fcfs-malleable', '--runtime-model', 'isolated', '--machine', '1x1x2');
  const log = fs.readFileSync(path.join(whole, 'events.log'), 'utf8');
  const page = await open(await report('cut', runOf('cut', log.slice(0, log.indexOf('start job=9') + 20))));
  assert.match(await page.locator('#warnings').innerText(), /cut off[^]*had not ended/);
  assert.match(await page.locator('.run h2').innerText(), /not complete/);
  await clickJob(page, 2);
  assert.match(await panel(page), /^Job 2[^]*completed/);
  await close(page);
});

test('a job that failed is in the warnings, with a link to it', async () => {
  const log = logOf(...kHeader, ...kJob).replace('outcome=completed', 'outcome=failed exit_code=3');
  const page = await open(await report('failed', runOf('failed', log)));
  assert.match(await page.locator('#warnings').innerText(), /failed job 1 failed with exit code 3/i);
  await page.locator('#warnings a').click();
  await settled(page);
  assert.match(await panel(page), /^Job 1\n[^]*failed/);
  await close(page);
});

test('a file that is no event log is refused, with its name and the line', async () => {
  const run = runOf('foreign', '<html>\n<p>no log</p>\n');
  await assert.rejects(report('foreign', run), (error) => {
    assert.match(error.stderr, /foreign.events\.log:1/);
    return true;
  });
  const damaged = runOf('damaged', logOf(...kHeader, ...kJob).replace('10 finish job=1', '10 finish job=7'));
  await assert.rejects(report('damaged', damaged), (error) => {
    assert.match(error.stderr, /damaged.events\.log:13/);
    return true;
  });
});

test('a page that was cut off says so', async () => {
  const out = await report('shortened', runOf('shortened', logOf(...kHeader, ...kJob)));
  const text = fs.readFileSync(out, 'utf8');
  // In the data: no script is there. Without a block of data: the script is, and says which one.
  const {runs: [run]} = JSON.parse(/<script type="application\/json" id="replay-data">(.*?)<\/script>/.exec(text)[1]);
  const block = `replay-bin-${run.stretches.from.bin}`;
  fs.writeFileSync(out, text.slice(0, text.indexOf(block)));
  const first = await load(out);
  await first.locator('#state').waitFor({state: 'visible'});
  assert.match(await first.locator('#state').innerText(), /cut off/);
  await first.close();
  fs.writeFileSync(out, text.replace(`"${block}"`, '"replay-bin-none"'));
  const second = await open(out, {ready: false});
  await settled(second);
  assert.match(await second.locator('#complaints').innerText(), new RegExp(`block ${run.stretches.from.bin} of the page's data is missing`));
  await second.close();
});

test('a node that is not up is hatched, and the tip says its state and reason', async () => {
  // Node 1 (cores 4 to 7) is down from 2 s to 7 s, and free.
  const lines = [...kHeader, ...kJob.slice(0, 3), '2 node node=1 state=down reason="disk"', '7 node node=1 state=up', kJob[3]];
  const page = await open(await report('closed', runOf('closed', logOf(...lines))));
  const at = (time, core) => page.evaluate(([time, core]) => {
    const [gantt] = window.replayPage.gantts;
    gantt.box.scrollIntoView({block: 'center'});
    const box = gantt.over.getBoundingClientRect();
    const [x, y] = [gantt.xOf(time), gantt.yOf(core)];
    const shades = new Set(new Uint32Array(gantt.context.getImageData(x * gantt.ratio, y * gantt.ratio, 12, 12).data.buffer));
    return {x: box.left + x, y: box.top + y, shades: shades.size};
  }, [time, core]);
  const tipAt = async ({x, y}) => {
    await page.mouse.move(x, y);
    await settled(page);
    return (await page.locator('.tip').isVisible()) ? page.locator('.tip').innerText() : '';
  };
  const closed = await at(4, 5.2);
  assert.ok(closed.shades > 1, `hatched, found ${closed.shades} shade`);
  assert.equal(await tipAt(closed), 'node 1 down: disk');
  const up = await at(8.5, 5.2);
  assert.equal(up.shades, 1);
  assert.equal(await tipAt(up), '');
  assert.match(await tipAt(await at(4, 1.5)), /^job 1/);
  await close(page);
});
