// What the browser tests share: runs and their pages, made by the program; a page opened in Chromium, which must neither ask the
// network for anything nor write errors to the console.
import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {promisify} from 'node:util';

const kNeeded = ['REPLAY_PROGRAM', 'REPLAY_BROWSER_FOLDER', 'REPLAY_CHROMIUM'];
for (const name of kNeeded) assert.ok(process.env[name], `${name} is not set: start the tests with tests/browser/run.sh`);

const require = createRequire(path.join(process.env.REPLAY_BROWSER_FOLDER, 'modules', 'any.js'));
const {chromium} = require('playwright-core');

export const source = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
export const traces = path.join(source, 'tests', 'browser', 'traces');
export const folder = path.join(process.env.REPLAY_BROWSER_FOLDER, 'runs');
fs.mkdirSync(folder, {recursive: true});

/** Runs the program; its output, or an error that has it. */
export async function replay(...args) {
  const {stdout} = await promisify(execFile)(process.env.REPLAY_PROGRAM, args, {cwd: folder, maxBuffer: 1 << 26});
  return stdout;
}

/** Simulates into FOLDER/name; the path of the results. */
export async function simulate(name, ...args) {
  const out = path.join(folder, name);
  await replay('simulate', ...args, '--out', out, '--force');
  return out;
}

/** The page of runs; its path. */
export async function report(name, ...runs) {
  const out = path.join(folder, `${name}.html`);
  await replay('report', ...runs, '-o', out);
  return out;
}

let browser = null, context = null;
export async function start() {
  browser = await chromium.launch({
    executablePath: process.env.REPLAY_CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
           '--disable-component-update', '--disable-sync'],
  });
  context = await browser.newContext();
}
export async function stop() {
  if (browser) await browser.close();
}

/** Loads a file that may be no page of ours. */
export async function load(file) {
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  return page;
}

/** Opens a page. `page.complaints` collects what the console and the network saw. `script`: it has one, as that of runs. */
export async function open(file, {width = 1280, height = 900, hash = '', colours = 'light', ready = true, script = true} = {}) {
  const page = await context.newPage();
  await page.setViewportSize({width, height});
  await page.emulateMedia({colorScheme: colours});
  page.complaints = [];
  page.on('console', (message) => page.complaints.push(`console ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => page.complaints.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (!/^(file|data):/.test(request.url())) page.complaints.push(`request: ${request.url()}`);
  });
  await page.goto(pathToFileURL(file).href + hash);
  if (!script) return page;
  await page.waitForFunction(() => window.replayPage && (window.replayPage.ready || window.replayPage.failed));
  if (ready) assert.deepEqual(await page.evaluate(() => window.replayPage.errors), []);
  return page;
}

/** Closes a page that had nothing to complain about. */
export async function close(page) {
  await settled(page);
  assert.deepEqual(page.complaints, []);
  await page.close();
}

/** Two frames, and the address written. */
export async function settled(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.evaluate(() => window.replayPage?.view?.keep());
}

/** Where a job is on the screen: the middle of its first stretch that is in the window, or of the k-th. */
export function placeOf(page, id, run = 0, k = 0) {
  return page.evaluate(([id, run, k]) => {
    const gantt = window.replayPage.gantts[run];
    const {from, to, first, last} = gantt.run.stretches.open();
    const {t0, t1} = gantt.view;
    const i = gantt.run.stretchesOf(gantt.run.rowOf(id)).filter((one) => to[one] > t0 && from[one] < t1)[k];
    gantt.box.scrollIntoView({block: 'center'});
    const box = gantt.over.getBoundingClientRect();
    const middle = (Math.max(t0, from[i]) + Math.min(t1, to[i])) / 2;
    return {x: box.left + gantt.xOf(middle), y: box.top + gantt.yOf((first[i] + last[i] + 1) / 2)};
  }, [id, run, k]);
}
export async function clickJob(page, id, run = 0, k = 0) {
  const {x, y} = await placeOf(page, id, run, k);
  await page.mouse.click(x, y);
  await settled(page);
}

/** The window and what else the view has. */
export function viewOf(page) {
  return page.evaluate(() => {
    const {t0, t1, begin, end, mode, filter, theme, selected} = window.replayPage.view;
    return {t0, t1, begin, end, mode, filter, theme, job: selected && selected.run.idOf(selected.row), run: selected && selected.run.index};
  });
}

/** Colours of the picture, as "r,g,b" and how many pixels have it. */
export function coloursOf(page, run = 0) {
  return page.evaluate((run) => {
    const counts = {};
    const {data} = window.replayPage.gantts[run].image;
    for (let i = 0; i < data.length; i += 4) {
      const key = `${data[i]},${data[i + 1]},${data[i + 2]}`;
      counts[key] = (counts[key] || 0) + 1;
    }
    return counts;
  }, run);
}

export const panel = (page) => page.locator('#job').innerText();
export const near = (a, b, by) => assert.ok(Math.abs(a - b) <= by, `expected ${b} within ${by}, found ${a}`);
/** Lines of an event log with this kind of record: [time, {key: value}]. */
export function records(run, kind) {
  return fs.readFileSync(path.join(run, 'events.log'), 'utf8').split('\n').filter((line) => line.split(' ')[1] === kind && line[0] !== '#').map((line) => {
    const [at, , ...fields] = line.split(' ');
    return [Number(at), Object.fromEntries(fields.map((field) => field.split('=')))];
  });
}
