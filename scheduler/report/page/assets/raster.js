// Draws the stretches of a run into an array of pixels. Tens of thousands of rectangles, most of them smaller than a pixel,
// cost a few milliseconds this way; as many calls of fillRect cost ten times as much.
//
// A pixel shows the stretch that covers its centre. A stretch that covers no centre is drawn half as strong where nothing
// else is, so that a lonely short job is seen and a machine that is half busy does not look full.

const kBandsLight = {even: pixelOf("#ffffff"), odd: pixelOf("#f1f3f6"), line: pixelOf("#c3cad3"), package: pixelOf("#e3e7ec")};
const kBandsDark = {even: pixelOf("#20242b"), odd: pixelOf("#272c34"), line: pixelOf("#47505c"), package: pixelOf("#353c46")};

const darker = (pixel) => (((pixel >>> 1) & 0x7f7f7f) | 0xff000000) >>> 0;

/** The empty machine: nodes as bands of two shades, lines between nodes and packages where there is room for them. */
function drawBands(pixels, width, height, run, bands) {
  const scale = height / (run.c1 - run.c0);
  const pool = {core: 0, cores: run.cores, ofPackage: 0};
  const {nodes} = run.shape;
  const rows = new Uint32Array(height);
  for (let y = 0; y < height; ++y) {
    const core = run.c0 + (y + 0.5) / scale;
    const before = run.c0 + (y - 0.5) / scale;
    const {core: origin, cores, ofPackage} = run.groupOf(core) || pool;
    const packageOf = (one) => Math.floor((one - origin) / ofPackage);
    const node = run.nodeOf(core);
    let pixel = nodes > 1 && node % 2 === 1 ? bands.odd : bands.even;
    if (nodes > 1 && cores * scale >= 5 && run.nodeOf(before) !== node) pixel = bands.line;
    else if (ofPackage * scale >= 8 && packageOf(before) !== packageOf(core)) pixel = bands.package;
    rows[y] = pixel;
    pixels.fill(pixel, y * width, (y + 1) * width);
  }
  return rows;
}

/** Rectangles of one picture. `labels` gets those with room for a text: {i, x, y, width, height, pixel}. */
class Raster {
  constructor(pixels, width, height, bands, ratio) {
    Object.assign(this, {pixels, width, height, bands, ratio, labels: []});
  }

  /** Draws the stretches of `set` within [t0, t1] on the cores of the run's window. */
  draw(run, set, t0, t1, paint) {
    const {count, until, job, from, to, first, last, flags, mpl, lane} = set.open();
    const {pixels, width, height, ratio} = this;
    const rows = drawBands(pixels, width, height, run, this.bands);
    const perSecond = width / (t1 - t0);
    const perCore = height / (run.c1 - run.c0);
    const {c0} = run;
    const others = this.bands === kBandsDark ? 0xff8a8078 : 0xffa8a098;
    const end = set.lowerBound(t1);
    const suspended = [];
    const [roomX, roomY] = [22 * ratio, 10 * ratio];
    this.drawn = 0;
    for (let block = 0; block * kBlock < end; ++block) {
      if (until[block] <= t0) continue;
      const stop = Math.min(end, (block + 1) * kBlock);
      for (let i = block * kBlock; i < stop; ++i) {
        if (to[i] <= t0) continue;
        let y0 = Math.round((first[i] - c0) * perCore);
        let y1 = Math.round((last[i] + 1 - c0) * perCore);
        if (y1 <= 0 || y0 >= height) continue;
        if (y1 === y0) y1 = y0 + 1;
        const flag = flags[i];
        if (flag & kSuspended) {
          suspended.push(i);
          continue;
        }
        const row = job[i];
        let pixel = row < 0 ? others : paint.levels && !(paint.matches && !paint.matches[row]) ? paint.levels[mpl[i]] : paint.jobs[row];
        const left = (from[i] - t0) * perSecond;
        const right = (to[i] - t0) * perSecond;
        let x0 = left < 0 ? 0 : Math.ceil(left - 0.5);
        let x1 = right > width ? width : Math.ceil(right - 0.5);
        ++this.drawn;
        if (y0 < 0) y0 = 0;
        if (y1 > height) y1 = height;
        if (x1 <= x0) {
          x0 = left < 0 ? 0 : left | 0;
          if (x0 >= width) continue;
          for (let y = y0, o = y0 * width + x0; y < y1; ++y, o += width) {
            if (pixels[o] === rows[y]) pixels[o] = mixed(pixel, rows[y]);
          }
          continue;
        }
        if (flag & kMerged) pixel = blended(pixel, rows[y0], usedOf(flag));
        if (x1 - x0 === 1) {
          for (let o = y0 * width + x0, e = y1 * width; o < e; o += width) pixels[o] = pixel;
          continue;
        }
        if (lane !== null && lane[i] === 1) {
          this.lower(x0, y0, x1, y1, pixel, perCore, (first[i] - c0) * perCore);
          y0 = Math.max(y0, y1 - Math.round(perCore / 2));
        } else {
          for (let o = y0 * width, e = y1 * width; o < e; o += width) pixels.fill(pixel, o + x0, o + x1);
        }
        if (x1 - x0 >= 3) this.signs(x0, y0, x1, y1, pixel, flag, left >= 0);
        if (x1 - x0 >= roomX && y1 - y0 >= roomY && row >= 0) {
          this.labels.push({i, row, x: x0, y: y0, width: x1 - x0, height: y1 - y0, pixel});
        }
      }
    }
    for (const i of suspended) {
      const x0 = Math.max(0, Math.round((from[i] - t0) * perSecond));
      const x1 = Math.min(width, Math.round((to[i] - t0) * perSecond));
      const y0 = Math.max(0, Math.round((first[i] - c0) * perCore));
      const y1 = Math.min(height, Math.round((last[i] + 1 - c0) * perCore));
      this.sparse(x0, y0, x1, y1, job[i] < 0 ? others : paint.jobs[job[i]], rows);
    }
    return count;
  }

  /** The second job on shared cores: the lower half of each core, or every other pixel where cores are too thin for that. */
  lower(x0, y0, x1, y1, pixel, perCore, top) {
    const {pixels, width} = this;
    for (let y = y0; y < y1; ++y) {
      const o = y * width;
      if (perCore >= 4) {
        const part = (y + 0.5 - top) / perCore;
        if (part - Math.floor(part) >= 0.5) pixels.fill(pixel, o + x0, o + x1);
      } else {
        for (let x = x0 + ((x0 + y) & 1); x < x1; x += 2) pixels[o + x] = pixel;
      }
    }
  }

  /** Signs that need no colour: dark edges at the left and on top; diagonals = shrunk; a bar on top = in a group; dots below = shareable. */
  signs(x0, y0, x1, y1, pixel, flag, hasLeft) {
    const {pixels, width, ratio} = this;
    const dark = darker(pixel);
    const wide = x1 - x0;
    if (y1 - y0 >= 4 * ratio) {
      const edge = mixed(pixel, dark);
      for (let y = y0; y < y0 + ratio; ++y) pixels.fill(edge, y * width + x0, y * width + x1);
    }
    if (hasLeft) for (let o = y0 * width + x0, e = y1 * width; o < e; o += width) pixels[o] = dark;
    if (flag & kShrunk) {
      const period = 8 * ratio, thick = Math.max(1, Math.round(1.5 * ratio));
      for (let y = y0; y < y1; ++y) {
        const o = y * width + x0;
        for (let x = (period - (y % period)) % period; x < wide; x += period) {
          for (let k = 0; k < thick && x + k < wide; ++k) pixels[o + x + k] = dark;
        }
      }
    }
    if (y1 - y0 < 5 * ratio) return;
    if (flag & kGrouped) {
      for (let y = y0; y < y0 + 3 * ratio; ++y) pixels.fill(dark, y * width + x0, y * width + x1);
    }
    if (flag & kShareable && wide >= 6) {
      for (let x = x0 + 2; x < x1 - 1; x += 5 * ratio) {
        for (let k = 0; k < ratio * ratio * 2; ++k) pixels[(y1 - 2 - ((k / ratio) | 0)) * width + x + (k % ratio)] = dark;
      }
    }
  }

  /** A suspended job: outline and a net of lines where the cores are free meanwhile. */
  sparse(x0, y0, x1, y1, pixel, rows) {
    const {pixels, width, ratio} = this;
    const period = 6 * ratio;
    for (let y = y0; y < y1; ++y) {
      const edge = y === y0 || y === y1 - 1;
      for (let x = x0; x < x1; ++x) {
        const o = y * width + x;
        if (pixels[o] !== rows[y]) continue;
        if (edge || x === x0 || x === x1 - 1 || (x + y) % period === 0 || (x - y + period * 4096) % period === 0) pixels[o] = pixel;
      }
    }
  }
}
