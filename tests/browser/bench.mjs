// How fast the page of a run is drawn: `tests/browser/run.sh REPLAY FOLDER tests/browser/bench.mjs`. Not a test: it prints, and
// fails for nothing. REPLAY_BENCH_JOBS (50000) on REPLAY_BENCH_CORES (1024) cores; REPLAY_BENCH_PAGE takes a page that is there.
// Each frame is drawn REPLAY_BENCH_ROUNDS (6) times; "best" are statistics over the frames of the best time of each, which other
// programs on the machine change least. With REPLAY_UPLOT=uPlot.iife.min.js the curves are drawn by uPlot, too, in turns with dygraphs. docs/measurements/report.md.
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import {folder, open, replay, report, settled, simulate, start, stop} from './support.mjs';

const jobs = process.env.REPLAY_BENCH_JOBS || '50000';
const cores = process.env.REPLAY_BENCH_CORES || '1024';
const kLoads = Number(process.env.REPLAY_BENCH_LOADS || 7), kFrames = 160, kRounds = Number(process.env.REPLAY_BENCH_ROUNDS || 6);

function statistics(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1);
  return `median ${at(0.5)}, 95 % ${at(0.95)}, most ${at(1)} ms (${sorted.length})`;
}
/** Place by place the least of several lists. */
const best = (lists) => lists[0].map((_, k) => Math.min(...lists.map((list) => list[k])));

async function pageToDraw() {
  if (process.env.REPLAY_BENCH_PAGE) return process.env.REPLAY_BENCH_PAGE;
  const trace = path.join(folder, 'bench.swf');
  await replay('generate', 'lublin', '--jobs', jobs, '--machine-size', cores, '--seed', '1', '--load', '0.85', '-o', trace, '--force');
  return report('bench', await simulate('bench', '--trace', trace, '--policy', 'easy', '--machine', `flat:${cores}`));
}

/** Opens the page again and again: from the end of parsing (the script begins) to the first picture, and to all of the page. */
async function loads(file) {
  const first = [], filled = [], parsed = [];
  for (let k = 0; k < kLoads; ++k) {
    const page = await open(file, {width: 1600, height: 1000});
    const timing = await page.evaluate(() => window.replayPage.timing);
    parsed.push(timing.start);
    first.push(timing.first - timing.start);
    filled.push(timing.filled - timing.start);
    await page.close();
  }
  console.log(`file read and parsed:       ${statistics(parsed)}, best ${Math.min(...parsed).toFixed(1)} ms`);
  console.log(`then to the first picture:  ${statistics(first)}, best ${Math.min(...first).toFixed(1)} ms`);
  console.log(`then to all of the page:    ${statistics(filled)}, best ${Math.min(...filled).toFixed(1)} ms`);
}

/** Moves the view once a frame. `work`: time in our code; `frames`: from one frame to the next. */
function frames(page, name) {
  return page.evaluate(async ([name, count]) => {
    const {view, page} = window.replayPage;
    view.whole();
    const [begin, length] = [view.begin, view.end - view.begin];
    const steps = {
      // From the whole run down to a ten-thousandth of it, and back.
      zoom: (k) => {
        const span = length * 10 ** (-4 * (1 - Math.abs(1 - (2 * k) / count)));
        const middle = begin + length * 0.4;
        view.show(middle - span / 2, middle + span / 2);
      },
      // A window of a tenth of the run over all of it.
      'pan, a tenth': (k) => view.show(begin + (0.9 * length * k) / count, begin + (0.9 * length * k) / count + length / 10),
      'pan, a hundredth': (k) => view.show(begin + (0.5 * length * k) / count, begin + (0.5 * length * k) / count + length / 100),
      'pan, nearly all': (k) => view.show(begin - 0.04 * length + (0.08 * length * k) / count, begin + 0.9 * length + (0.08 * length * k) / count),
    };
    const work = [], intervals = [];
    const update = page.update.bind(page);
    page.update = (changes) => {
      const before = performance.now();
      update(changes);
      work.push(performance.now() - before);
    };
    let last = null;
    for (let k = 0; k <= count; ++k) {
      steps[name](k);
      const now = await new Promise(requestAnimationFrame);
      if (last !== null) intervals.push(now - last);
      last = now;
    }
    delete page.update;
    return {work, intervals};
  }, [name, kFrames]);
}

async function moves(file) {
  const page = await open(file, {width: 1600, height: 1000});
  await settled(page);
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable', {timeDomain: 'threadTicks'});
  const processor = async () => (await client.send('Performance.getMetrics')).metrics.find(({name}) => name === 'TaskDuration').value;
  for (const name of ['zoom', 'pan, nearly all', 'pan, a tenth', 'pan, a hundredth']) {
    await frames(page, name);
    const before = await processor();
    const work = [], intervals = [];
    for (let round = 0; round < kRounds; ++round) {
      const one = await frames(page, name);
      work.push(one.work);
      intervals.push(one.intervals);
    }
    const used = ((await processor()) - before) * 1000 / kFrames / kRounds;
    console.log(`${name}:`);
    console.log(`  our code a frame:         ${statistics(work.flat())}\n                 best:      ${statistics(best(work))}`);
    console.log(`  from frame to frame:      ${statistics(intervals.flat())}\n                 best:      ${statistics(best(intervals))}`);
    console.log(`  processor time a frame:   mean ${used.toFixed(1)} ms of the page's thread`);
  }
  await page.close();
}

/** Curves by dygraphs and by uPlot with the same values, in turns: made anew, and with another window. */
async function libraries(file, uplot) {
  const size = (name) => `${(fs.statSync(name).size / 1024).toFixed(0)} kB, gzip ${(zlib.gzipSync(fs.readFileSync(name)).length / 1024).toFixed(0)} kB`;
  console.log(`dygraphs: ${size('/usr/share/javascript/dygraphs/dygraph.min.js')}`);
  console.log(`uPlot:    ${size(uplot)}`);
  const page = await open(file, {width: 1600, height: 1000});
  await page.addScriptTag({content: fs.readFileSync(uplot, 'utf8')});
  const times = await page.evaluate(async () => {
    const {view, page: shown} = window.replayPage;
    const {curves} = shown;
    const charts = curves.charts.filter((chart) => chart.box.open);
    const columns = 1500;
    const box = document.createElement('div');
    document.body.prepend(box);
    const place = () => {
      const div = document.createElement('div');
      div.style.width = '1568px';
      box.append(div);
      return div;
    };
    // Reading a pixel waits for what was drawn.
    const drawn = (div) => div.querySelectorAll('canvas').forEach((canvas) => canvas.getContext('2d').getImageData(0, 0, 1, 1));
    const rows = () => charts.map((chart) => curves.rows(chart.curve, columns));
    const dygraphs = (plotter) => ({
        make: (file) => charts.map((chart, k) => {
          const div = place();
          const graph = new Dygraph(div, file[k], {labels: ['time', 'a'], width: 1568, height: 74, dateWindow: [view.t0, view.t1], stepPlot: true, legend: 'never',
            customBars: true, ...(plotter ? {plotter} : {}), fillAlpha: 0.3, strokeWidth: 1.5, axes: {x: {drawAxis: false}}, interactionModel: {}});
          return {div, update: (rows) => graph.updateOptions({file: rows, dateWindow: [view.t0, view.t1]}), end: () => graph.destroy()};
        }),
    });
    const uplots = {
        make: (file) => charts.map((chart, k) => {
          const div = place();
          const data = (rows) => [0, 1, 2, 3].map((part) => rows.map((row) => (part === 0 ? row[0] : Number.isNaN(row[1][part - 1]) ? null : row[1][part - 1])));
          const stepped = uPlot.paths.stepped({align: 1});
          const graph = new uPlot({width: 1568, height: 74, legend: {show: false}, cursor: {show: false}, scales: {x: {time: false, min: view.t0, max: view.t1}}, axes: [{show: false}, {}],
            bands: [{series: [3, 1], fill: 'rgba(0,114,178,.3)'}],
            series: [{}, {paths: stepped, width: 0}, {paths: stepped, stroke: '#0072b2', width: 1.5}, {paths: stepped, width: 0}]}, data(file[k]), div);
          return {div, update: (rows) => {
            graph.batch(() => {
              graph.setData(data(rows), false);
              graph.setScale('x', {min: view.t0, max: view.t1});
            });
          }, end: () => graph.destroy()};
        }),
    };
    const all = {'dygraphs': dygraphs(null), 'dygraphs, our bands': dygraphs([bandPlotter, Dygraph.Plotters.linePlotter]), 'uPlot': uplots};
    const result = {};
    for (const name of Object.keys(all)) result[name] = {made: [], moved: []};
    for (let round = 0; round < 15; ++round) {
      for (const [name, library] of Object.entries(all)) {
        [view.t0, view.t1] = [view.begin, view.end];
        const first = rows();
        let before = performance.now();
        const made = library.make(first);
        await Promise.resolve();
        made.forEach(({div}) => drawn(div));
        result[name].made.push(performance.now() - before);
        for (let k = 1; k <= 8; ++k) {
          const by = ((view.end - view.begin) * k) / 20;
          [view.t0, view.t1] = [view.begin + by, view.end - by * 0.9];
          const next = rows();
          before = performance.now();
          made.forEach((one, n) => one.update(next[n]));
          await Promise.resolve();
          made.forEach(({div}) => drawn(div));
          result[name].moved.push(performance.now() - before);
        }
        made.forEach((one) => one.end());
        box.replaceChildren();
      }
    }
    return result;
  });
  for (const [name, {made, moved}] of Object.entries(times)) {
    console.log(`${name}: four curves made:  ${statistics(made)}`);
    console.log(`${name}: another window:     ${statistics(moved)}`);
  }
  await page.close();
}

const file = await pageToDraw();
console.log(`${file}: ${(fs.statSync(file).size / 1e6).toFixed(1)} MB`);
await start();
try {
  await loads(file);
  await moves(file);
  if (process.env.REPLAY_UPLOT) await libraries(file, process.env.REPLAY_UPLOT);
} finally {
  await stop();
}
