// The page of a study (`replay sweep --gather`): it has no script, and is to be read at any width, light and dark.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {close, folder, open, replay, start, stop} from './support.mjs';

const study = (policies, jobs, seeds) => `metrics = ["mean_bounded_slowdown", "utilisation"]
[axes]
policy = ${JSON.stringify(policies)}
load = [0.6, 0.75, 0.9]
malleable = [0, 0.5, 1]
seed = "1..${seeds}"
[fixed]
model = "lublin"
jobs = ${jobs}
machine = "16x2x2"
`;
const kBest = 'easy-malleable:max_mpl=4';

/** The page of a study in a folder of its own, computed with these options. */
async function gathered(name, text, ...options) {
  const out = path.join(folder, `sweep-${name}`), plan = `${out}.toml`;
  fs.rmSync(out, {recursive: true, force: true});
  fs.writeFileSync(plan, text);
  await replay('sweep', plan, '-o', out, ...options);
  await replay('sweep', plan, '-o', out, '--gather');
  return path.join(out, 'report.html');
}

let whole, partial;
before(async () => {
  whole = await gathered('whole', study(['fcfs', kBest], 200, 8));
  const five = study(['easy', 'fcfs-malleable', kBest, 'conservative', 'fcfs'], 40, 4);
  partial = await gathered('partial', `name = "<b>half</b></title><script>window.hostile = 1</script>"\n${five}`, '--shard', '1/2');
  await start();
});
after(stop);

const opened = (file, options = {}) => open(file, {...options, script: false});

test('says what is best of each metric, and leads to it', async () => {
  const page = await opened(whole);
  assert.equal(await page.title(), 'sweep-whole');
  assert.match(await page.locator('.quiet').first().innerText(), /^All 144 cells are done, by version /);
  const verdicts = await page.locator('.verdicts li').allInnerTexts();
  assert.equal(verdicts.length, 2);
  assert.match(verdicts[1], /^utilisation: Best of 9 settings: .*open in \d\.$/);
  await page.locator('.verdicts a').nth(1).click();
  assert.equal(await page.evaluate(() => window.location.hash), '#utilisation');
  const top = await page.locator('#utilisation h2').evaluate((heading) => heading.getBoundingClientRect().top);
  assert.ok(top > -1 && top < 900, `the section is on the screen, at ${top}`);
  await close(page);
});

test('the best policy of a row is marked where a policy is best, and nowhere else', async () => {
  const page = await opened(whole);
  const rows = await page.locator('#utilisation table').first().evaluate((table) => [...table.tBodies[0].rows].map((row) => {
    const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    const marked = [...row.cells].flatMap((cell, i) => (cell.className === 'best' ? [names[i]] : []));
    return [row.cells[row.cells.length - 1].textContent, marked];
  }));
  assert.equal(rows.length, 9);
  assert.ok(rows.some(([best]) => best === kBest) && rows.some(([best]) => best === 'open'), rows.join('\n'));
  for (const [best, marked] of rows) assert.deepEqual(marked, best === 'open' || best === 'equal' ? [] : [best]);
  await close(page);
});

test('a figure over each axis of numbers, a panel for each value of the other one, each point with its numbers', async () => {
  const page = await opened(whole);
  const titles = await page.locator('#utilisation h3').allInnerTexts();
  for (const axis of ['load', 'malleable']) assert.ok(titles.includes(`utilisation over ${axis}, with 95 % intervals`), titles.join());
  assert.deepEqual(await page.locator('#utilisation .panels').first().locator('figcaption').allInnerTexts(), ['malleable 0', 'malleable 0.5', 'malleable 1']);
  assert.equal(await page.locator('#utilisation .key').first().locator('span').count(), 2);
  const tips = await page.locator('#utilisation .panels').first().locator('svg').first().evaluate((svg) => [...svg.querySelectorAll('title')].map((one) => one.textContent));
  assert.equal(tips.filter((tip) => /^fcfs, load 0\.(6|75|9): 0\.\d+ \+- [\d.]+, 8 seeds$/.test(tip)).length, 3, tips.join('\n'));
  for (const words of await page.locator('svg').evaluateAll((all) => all.map((svg) => svg.querySelector(':scope > title')?.textContent)))
    assert.ok(words, 'each drawing has words');
  await close(page);
});

test('a part of a study says that it is one, and that its marks are provisional', async () => {
  const page = await opened(partial);
  assert.equal(await page.evaluate(() => window.hostile), undefined);
  assert.equal(await page.locator('h1').innerText(), '<b>half</b></title><script>window.hostile = 1</script>');
  const warning = await page.locator('.warn').innerText();
  assert.match(warning, /^90 of 180 cells are done, by version .*; 0 failed, 90 missing\./);
  assert.match(warning, /all marks .* are provisional/);
  assert.match(await page.locator('.verdicts li').first().innerText(), /Best so far of 9 settings/);
  assert.equal(await page.locator('th', {hasText: /^best so far$/}).count(), 2);
  await close(page);
});

// Of text on its background, by WCAG 2: 4.5 is asked for. Of lines 3.
const contrasts = (page, selector, property) => page.locator(selector).evaluateAll((all, property) => {
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => parts(colour).slice(0, 3).reduce((sum, part, i) => {
    const value = part / 255;
    return sum + [0.2126, 0.7152, 0.0722][i] * (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  }, 0);
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (parts(colour)[3] !== 0) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  return all.map((element) => [getComputedStyle(element)[property], element]).filter(([colour]) => colour !== 'none').map(([colour, element]) => {
    const [a, b] = [luminance(colour), luminance(behind(element))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
}, property);

for (const [width, height] of [[1400, 900], [400, 800]])
  for (const colours of ['light', 'dark'])
    test(`${width} x ${height}, ${colours}: no wider than the window, everything to be seen`, async () => {
      for (const file of [whole, partial]) {
        const page = await opened(file, {width, height, colours});
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        const texts = ['h1', 'h2', 'p', 'li', 'th', 'td', 'a', '.open', '.method li', 'figcaption', file === whole ? '.best' : '.warn'];
        for (const selector of texts) {
          const found = await contrasts(page, selector, 'color');
          assert.ok(found.length > 0 && Math.min(...found) >= 4.5, `${selector}: ${Math.min(...found)}`);
        }
        const lines = await contrasts(page, 'svg [stroke]', 'stroke');
        assert.ok(lines.length > 0 && Math.min(...lines) >= 3, `lines: ${Math.min(...lines)}`);
        // A table that is wider scrolls by itself, with the keyboard too.
        const boxes = await page.locator('.wide').evaluateAll((all) => all.map((box) => [box.scrollWidth > box.clientWidth, box.tabIndex, box.getBoundingClientRect().right]));
        for (const [, tab, right] of boxes) assert.ok(tab === 0 && right <= width);
        if (width === 400) {
          assert.ok(boxes.some(([isWider]) => isWider));
          const box = page.locator('.wide').first();
          await box.focus();
          await page.keyboard.press('ArrowRight');
          await page.waitForFunction(() => document.querySelector('.wide').scrollLeft > 0);
        }
        if (process.env.REPLAY_SCREENSHOTS)
          await page.screenshot({path: path.join(process.env.REPLAY_SCREENSHOTS, `${path.basename(path.dirname(file))}-${width}-${colours}.png`)});
        await close(page);
      }
    });
