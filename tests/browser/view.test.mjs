// The page of one simulated run, and each way of looking at it: select, zoom, pan, filter, colours, keys, links, narrow, print.
import assert from 'node:assert/strict';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {clickJob, close, coloursOf, near, open, panel, placeOf, records, report, settled, simulate, source, start, stop, viewOf} from './support.mjs';

let file, run;
before(async () => {
  // Eighteen jobs on two cores: job 5 is shrunk for job 6 at 14 s and for job 7 at 19.5 s.
  run = await simulate('small', '--trace', path.join(source, 'traces/synth.swf'), '--policy', 'fcfs-malleable', '--runtime-model', 'isolated',
                             '--machine', '1x1x2');
  file = await report('small', run);
  await start();
});
after(stop);

test('a click on a job shows its data, for which job it was shrunk, where it was, its neighbours and why it waited', async () => {
  const page = await open(file);
  await clickJob(page, 5);
  const text = await panel(page);
  assert.match(text, /^Job 5\n/);
  assert.match(text, /14 s shrunk from 2 to 1 core for job 6/);
  assert.match(text, /19\.5 s shrunk from 2 to 1 core for job 7/);
  assert.match(text, /submitted\s+12\.5 s/);
  assert.match(text, /Where it was[^]*14 s to 18 s core 1; node 0; shrunk, 2 processes per core/);
  assert.match(text, /on the same nodes meanwhile: job 4, job 6, job 7/);
  await page.locator('#job').getByRole('link', {name: 'job 6'}).first().click();
  await settled(page);
  assert.match(await panel(page), /^Job 6[^]*14 s job 5 was shrunk from 2 to 1 core for this job/);
  await clickJob(page, 11);
  assert.match(await panel(page), /^Job 11\n[^]*Its start\s*job 11:[^]*it started at once/);
  await clickJob(page, 12);
  assert.match(await panel(page), /^Job 12\n[^]*Why it waited\s*job 12:[^]*as the head of the queue, too few cores free/);
  await page.locator('#job').getByRole('button', {name: 'close the job'}).click();
  await settled(page);
  assert.ok(await page.locator('#job').isHidden());
  await close(page);
});

test('the picture and the table say without a click which job was shrunk for which', async () => {
  const page = await open(file);
  assert.match(await page.locator('#sizes').innerText(), /14 s\s+job 5\s+shrunk\s+2 to 1 core\s+for job 6/);
  assert.match(await page.locator('#signs').innerText(), /shrunk/);
  const {x, y} = await placeOf(page, 5, 0, 2);
  await page.mouse.move(x, y);
  assert.match(await page.locator('.tip').innerText(), /job 5[^]*shrunk for job 6/);
  await close(page);
});

test('ctrl and the wheel zoom around the pointer, a drag pans, buttons zoom and show the whole run', async () => {
  const page = await open(file);
  const whole = await viewOf(page);
  const box = await page.locator('.over').boundingBox();
  const at = (x) => page.evaluate((x) => {
    const [gantt] = window.replayPage.gantts;
    return gantt.timeAt(x - gantt.over.getBoundingClientRect().left);
  }, x);
  const x = Math.round(box.x + box.width * 0.7);
  const before = await at(x);
  await page.mouse.move(x, box.y + 60);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  await settled(page);
  const closer = await viewOf(page);
  assert.ok(closer.t1 - closer.t0 < (whole.t1 - whole.t0) / 2);
  near(await at(x), before, 1e-6);

  await page.mouse.down();
  await page.mouse.move(x - 200, box.y + 60, {steps: 4});
  await page.mouse.up();
  await settled(page);
  near(await at(x - 200), before, 1e-6);
  assert.equal((await viewOf(page)).job, null, 'a drag selects nothing');

  await page.getByRole('button', {name: 'zoom in'}).click();
  await settled(page);
  const still = await viewOf(page);
  near(still.t1 - still.t0, (closer.t1 - closer.t0) * 0.6, 1e-6);
  await page.getByRole('button', {name: 'whole run'}).click();
  await settled(page);
  assert.deepEqual(await viewOf(page), whole);
  await close(page);
});

test('the curves show the same span of time as the chart, and zoom and pan it', async () => {
  const page = await open(file);
  const plot = await page.locator('.curve-plot').first().boundingBox();
  await page.mouse.move(plot.x + 500, plot.y + 30);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  await settled(page);
  await page.waitForTimeout(150);
  const zoomed = await viewOf(page);
  assert.ok(zoomed.t1 - zoomed.t0 < 40);
  const windows = await page.evaluate(() => window.replayPage.page.curves.charts.filter((one) => one.box.open).map((one) => one.graph.xAxisRange()));
  assert.equal(windows.length, 4);
  for (const [from, to] of windows) {
    near(from, zoomed.t0, 1e-6);
    near(to, zoomed.t1, 1e-6);
  }
  await page.mouse.down();
  await page.mouse.move(plot.x + 400, plot.y + 30, {steps: 3});
  await page.mouse.up();
  await settled(page);
  assert.ok((await viewOf(page)).t0 > zoomed.t0);
  await close(page);
});

test('keys zoom, pan, go from job to job, mark, filter, change colours and close', async () => {
  const page = await open(file);
  const whole = await viewOf(page);
  await page.keyboard.press('w');
  await settled(page);
  const closer = await viewOf(page);
  assert.ok(closer.t1 - closer.t0 < whole.t1 - whole.t0);
  await page.keyboard.press('d');
  await settled(page);
  assert.ok((await viewOf(page)).t0 > closer.t0);
  await page.keyboard.press('0');
  await settled(page);
  assert.deepEqual(await viewOf(page), whole);

  await page.locator('.over').focus();
  await page.keyboard.press('ArrowRight');
  await settled(page);
  assert.equal((await viewOf(page)).job, 1);
  await page.keyboard.press('ArrowRight');
  await settled(page);
  assert.equal((await viewOf(page)).job, 2, 'the next job on its cores');
  assert.match(await page.locator('#announcement').innerText(), /job 2, 1 core, started at 1\.5 s/);
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Job 2');
  await page.keyboard.press('m');
  await page.keyboard.press('f');
  await settled(page);
  const fitted = await viewOf(page);
  assert.ok(fitted.t0 > 0 && fitted.t1 < 8, 'f shows the job');
  assert.match(await page.evaluate(() => location.hash), /m=1\.5,5\.5/);
  await page.keyboard.press('c');
  await settled(page);
  assert.equal((await viewOf(page)).mode, 'user');
  await page.keyboard.press('/');
  await page.keyboard.type('user:3');
  await page.keyboard.press('Escape');
  await settled(page);
  assert.equal((await viewOf(page)).filter, 'user:3');
  await page.keyboard.press('Escape');
  await settled(page);
  assert.equal((await viewOf(page)).job, null);
  await page.keyboard.press('?');
  assert.ok(await page.getByRole('dialog').isVisible());
  assert.match(await page.getByRole('dialog').innerText(), /zoom in and out[^]*shrunk: fewer cores than processes[^]*wait>60/);
  await page.keyboard.press('Escape');
  assert.ok(await page.locator('dialog').isHidden());
  await close(page);
});

test('every control can be reached by the Tab key, and the focus is visible', async () => {
  const page = await open(file);
  const reached = [];
  for (let k = 0; k < 9; ++k) {
    await page.keyboard.press('Tab');
    reached.push(await page.evaluate(() => {
      const {activeElement: at} = document;
      const {outlineStyle, outlineWidth} = getComputedStyle(at);
      return `${at.id || at.className || at.tagName.toLowerCase()} ${outlineStyle} ${outlineWidth}`;
    }));
  }
  const names = reached.map((one) => one.split(' ')[0]);
  for (const name of ['skip', 'colour', 'filter', 'closer', 'whole', 'theme', 'help']) assert.ok(names.includes(name), `${name} in ${names}`);
  for (const one of reached) assert.match(one, /solid 2px/);
  await close(page);
});

test('the filter takes numbers, users, classes and comparisons, fades the others, and says what is wrong with a word', async () => {
  const page = await open(file);
  const say = async (text) => {
    await page.locator('#filter').fill(text);
    await settled(page);
    return page.locator('#filter-result').innerText();
  };
  assert.equal(await say('5-7'), '3 of 18 jobs');
  const faded = '220,223,228';
  assert.ok((await coloursOf(page))[faded] > 10000);
  assert.equal(await say('user:3 size>=2'), '3 of 18 jobs');
  assert.equal(await say('5 6 user:2'), '1 of 18 jobs');
  assert.equal(await say('class:short'), '18 of 18 jobs');
  const shrunk = new Set([...records(run, 'start'), ...records(run, 'resize')].filter(([, {mpl}]) => Number(mpl) > 1).map(([, {job}]) => job));
  assert.equal(await say('shrunk>0'), `${shrunk.size} of 18 jobs`);
  assert.equal(await say('outcome:failed'), '0 of 18 jobs');
  assert.match(await say('usr:3'), /'usr:3' is no filter\. Job numbers/);
  assert.equal(await page.locator('#filter').getAttribute('aria-invalid'), 'true');
  assert.equal(await say(''), '');
  assert.equal((await coloursOf(page))[faded], undefined);
  await page.locator('#filter').fill('7');
  await page.locator('#jobs > summary').click();
  await settled(page);
  assert.equal(await page.locator('#jobs tbody tr').count(), 1);
  await close(page);
});

test('a link keeps the view: reload shows the same, the link of a job shows that job', async () => {
  const page = await open(file);
  await clickJob(page, 5);
  await page.keyboard.press('w');
  await page.locator('#colour').selectOption('slowdown');
  await page.locator('#filter').fill('wait<1');
  await page.keyboard.press('Escape');
  await settled(page);
  const kept = await viewOf(page);
  const picture = await coloursOf(page);
  await page.reload();
  await page.waitForFunction(() => window.replayPage && window.replayPage.ready);
  await settled(page);
  const again = await viewOf(page);
  for (const name of ['mode', 'filter', 'theme', 'job', 'run']) assert.equal(again[name], kept[name], name);
  near(again.t0, kept.t0, 0.01);
  near(again.t1, kept.t1, 0.01);
  const pictureAgain = await coloursOf(page);
  const changed = Object.keys(picture).reduce((sum, colour) => sum + Math.abs(picture[colour] - (pictureAgain[colour] || 0)), 0);
  const all = Object.values(picture).reduce((sum, count) => sum + count, 0);
  assert.ok(changed < all / 100, `${changed} of ${all} pixels have another colour`);
  assert.match(await panel(page), /^Job 5\n/);

  const link = await page.getByRole('link', {name: 'job 7'}).first().getAttribute('href');
  const other = await open(file, {hash: link});
  const view = await viewOf(other);
  assert.equal(view.job, 7);
  assert.equal(view.filter, 'wait<1');
  assert.equal(view.mode, 'slowdown');
  await close(other);
  await close(page);
});

test('an address by hand, with the page open, changes the view; what is wrong in it is left out', async () => {
  const page = await open(file, {hash: '#t=10,20&by=size&job=6'});
  assert.deepEqual(await viewOf(page), {t0: 10, t1: 20, begin: 0, end: (await viewOf(page)).end, mode: 'size', filter: '', theme: 'auto', job: 6, run: 0});
  await page.evaluate(() => {
    location.hash = '#t=30,nonsense&by=nothing&job=99';
  });
  await settled(page);
  const view = await viewOf(page);
  assert.equal(view.mode, 'job');
  assert.equal(view.job, null);
  assert.equal(view.t0, view.begin);
  await close(page);
});

test('light and dark follow the system, the button and the link', async () => {
  const page = await open(file, {colours: 'dark'});
  const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await back(), 'rgb(22, 25, 30)');
  await page.emulateMedia({colorScheme: 'light'});
  await settled(page);
  assert.equal(await back(), 'rgb(255, 255, 255)');
  await page.locator('#theme').click();
  await settled(page);
  assert.equal(await back(), 'rgb(22, 25, 30)');
  assert.match(await page.evaluate(() => location.hash), /theme=dark/);
  await page.reload();
  await page.waitForFunction(() => window.replayPage && window.replayPage.ready);
  assert.equal(await back(), 'rgb(22, 25, 30)');
  await close(page);
});

test('each way to colour has a legend with texts or a note, and another picture', async () => {
  const page = await open(file);
  const modes = await page.locator('#colour option').evaluateAll((options) => options.map((option) => option.value));
  assert.deepEqual(modes, ['job', 'user', 'class', 'size', 'mpl', 'slowdown']);
  const pictures = new Set();
  for (const mode of modes) {
    await page.locator('#colour').selectOption(mode);
    await settled(page);
    assert.notEqual(await page.locator('#colours').innerText(), '', mode);
    pictures.add(JSON.stringify(await coloursOf(page)));
  }
  assert.equal(pictures.size, modes.length);
  await close(page);
});

for (const [width, height] of [[1600, 1000], [1000, 700], [400, 800]]) {
  test(`at ${width} px nothing is wider than the window, with a job selected too`, async () => {
    const page = await open(file, {width, height, hash: '#job=5'});
    for (const summary of await page.locator('summary').all()) await summary.evaluate((one) => one.parentElement.setAttribute('open', ''));
    await settled(page);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    const wide = await page.evaluate(() => [...document.querySelectorAll('body *')].filter((one) => !one.closest('.scroll, .unseen, .skip, pre, .gantt, .tip') &&
      one.getBoundingClientRect().right > innerWidth + 1).map((one) => `${one.tagName}.${one.className}`));
    assert.deepEqual(wide, []);
    await close(page);
  });
}

test('paper shows the charts as images, light, without controls', async () => {
  const page = await open(file, {colours: 'dark'});
  const pdf = await page.pdf({format: 'A4', landscape: true, printBackground: true});
  assert.ok(pdf.length > 20000);
  // page.pdf() has ended: the events of a print are sent once more, to look at the page between them.
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  const frozen = await page.evaluate(() => ({
    charts: document.querySelectorAll('.gantt img.frozen, .curve-plot img.frozen').length,
    theme: document.documentElement.dataset.theme,
  }));
  assert.deepEqual(frozen, {charts: 5, theme: 'light'});
  await page.emulateMedia({media: 'print'});
  assert.ok(await page.locator('#filter').isHidden());
  await page.emulateMedia({media: 'screen'});
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  await settled(page);
  assert.equal(await page.locator('img.frozen').count(), 0);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await close(page);
});

test('a newer state of a live run leaves what is open, chosen, selected and focused as it is', async () => {
  const page = await open(file);
  await clickJob(page, 5);
  await page.locator('summary', {hasText: 'processors that waiting jobs ask for'}).click();
  await page.locator('summary', {hasText: /^All \d+ figures$/}).click();
  await page.locator('summary', {hasText: /^Jobs$/}).click();
  await page.locator('#jobs').getByRole('button', {name: 'cores', exact: true}).click();
  await page.selectOption('#ecdf-by', 'size');
  await page.locator('#ecdf-log').uncheck();
  await page.fill('#filter', 'cores>1');
  await page.locator('.over').focus();
  await settled(page);
  const seen = () => page.evaluate(() => ({
    open: [...document.querySelectorAll('details')].filter((box) => box.open).map((box) => box.querySelector('summary').textContent.replace(/\d+/g, '#')),
    by: document.getElementById('ecdf-by').value, logarithmic: document.getElementById('ecdf-log').checked,
    sorted: [...document.querySelectorAll('#jobs th')].map((head) => head.getAttribute('aria-sort')).join(), filter: document.getElementById('filter').value,
    job: document.querySelector('#job h2').textContent, focus: document.activeElement.className}));
  const before = await seen();
  assert.ok(before.open.some((title) => /figures/.test(title)) && before.focus === 'over' && before.by === 'size', JSON.stringify(before));
  // The run as a live page gets it: with plain arrays for columns.
  const replaced = () => page.evaluate(() => {
    const {page} = window.replayPage;
    const [run] = page.data.runs;
    const plain = (columns) => Object.fromEntries(Object.keys(columns).map((name) => [name, columns[name].get
      ? Array.from({length: columns[name].length}, (_, k) => columns[name].get(k)) : Array.from(columns[name])]));
    page.replace({...run.json, jobs: plain(run.jobs), series: plain(run.series), resizes: plain(run.resizes), why: plain(run.why),
                  stretches: plain(run.stretches.columns), ecdf: run.json.ecdf.map((one) => ({...one, ...plain(page.distributions.columnsOf(one))}))});
  });
  await replaced();
  await settled(page);
  assert.deepEqual(await seen(), before);

  // A drag goes on with the chart that it began on; the newer state comes when it ends.
  const box = await page.locator('.over').boundingBox();
  await page.mouse.move(box.x + 400, box.y + 60);
  await page.mouse.down();
  const chart = await page.evaluateHandle(() => window.replayPage.gantts[0]);
  await replaced();
  assert.ok(await page.evaluate((one) => window.replayPage.gantts[0] === one, chart));
  await page.mouse.up();
  await page.waitForFunction((one) => window.replayPage.gantts[0] !== one, chart);
  await close(page);
});

test('a letter in the filter leaves the curves that are open as they are', async () => {
  const page = await open(file);
  const summary = page.locator('summary', {hasText: 'processors that waiting jobs ask for'});
  await summary.click();
  await page.fill('#filter', '5');
  await settled(page);
  assert.ok(await page.evaluate(() => [...document.querySelectorAll('.curve')].at(-1).open));
  await page.locator('#theme').click();
  await settled(page);
  assert.ok(await page.evaluate(() => [...document.querySelectorAll('.curve')].at(-1).open), 'another theme makes them anew');
  await close(page);
});
