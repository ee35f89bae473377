// Colours of jobs. Categories: the palette of Okabe and Ito, told apart without colour vision. Quantities: a ramp whose
// lightness is monotone, so that it also reads in grey. Labels, hatches and the legend say the same without colour.

const kCategories = ["#56b4e9", "#e69f00", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", "#9a9a9a"];
const kRamps = {
  light: ["#fbe45b", "#dcc75c", "#b9a96a", "#948e77", "#6e7278", "#455270", "#0e2f66"],
  dark: ["#33508f", "#52628f", "#74778f", "#959085", "#b7aa76", "#dac661", "#fde74c"],
};
const kDifferences = ["#2166ac", "#67a9cf", "#b8b8b8", "#ef8a62", "#b2182b"];

const kSlowdowns = [1.05, 1.5, 2, 5, 10, 50];
// Bounds of "a little" and "much" for differences of waits, in seconds: the largest that half and nine tenths of them reach.
const kRoundTimes = [0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 604800];

/** "#rrggbb" as the bytes of a pixel on a little-endian machine. */
function pixelOf(colour) {
  const value = Number.parseInt(colour.slice(1), 16);
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}
const colourOf = (pixel) => `rgb(${pixel & 255},${(pixel >> 8) & 255},${(pixel >> 16) & 255})`;
/** Half of the one, half of the other. */
const mixed = (a, b) => ((((a ^ b) & 0xfefefefe) >>> 1) + (a & b) | 0xff000000) >>> 0;

/** `share` of the one, the rest of the other. */
function blended(a, b, share) {
  const of = (shift) => Math.round(((a >>> shift) & 255) * share + ((b >>> shift) & 255) * (1 - share));
  return (0xff000000 | (of(16) << 16) | (of(8) << 8) | of(0)) >>> 0;
}

/** Whether black text reads better on a pixel than white. */
function isLight(pixel) {
  const [red, green, blue] = [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
  return 0.299 * red + 0.587 * green + 0.114 * blue > 128;
}

const binOf = (value, bounds) => {
  let bin = 0;
  while (bin < bounds.length && value > bounds[bin]) ++bin;
  return bin;
};

/** [a little, much] for the differences of waits against the first run, as round times. */
function differenceBounds(data) {
  if (data.differenceBounds) return data.differenceBounds;
  const sizes = [];
  for (const run of data.runs) {
    for (let row = 0; run.waitDifference && row < run.count; ++row) {
      const size = Math.abs(run.waitDifference(row));
      if (size > 0) sizes.push(size);
    }
  }
  sizes.sort((a, b) => a - b);
  const round = (share) => kRoundTimes.findLastIndex((one) => one <= (sizes[Math.floor(sizes.length * share)] || 0));
  const much = Math.max(1, round(0.9));
  data.differenceBounds = [kRoundTimes[Math.max(0, Math.min(much - 1, round(0.4)))], kRoundTimes[much]];
  return data.differenceBounds;
}

/** The ways to colour jobs. `bin(run, row)` names a place in `colours`; the legend has a text for each. */
function colourModes(data, dark) {
  const ramp = kRamps[dark ? "dark" : "light"];
  const classes = (data.runs[0] && data.runs[0].json.classes) || [];
  const spread = classes.length < 2 ? [3] : classes.map((_, k) => Math.round((k * 6) / (classes.length - 1)));
  const unclassed = data.runs.some((run) => run.jobs.class && run.jobs.class.some((index) => !(index < classes.length)));
  const largest = Math.max(1, ...data.runs.map((run) => run.cores));
  const powers = Math.max(1, Math.ceil(Math.log2(largest)));
  const sizes = ramp.map((_, k) => [Math.ceil(2 ** ((k * powers) / 7)), Math.floor(2 ** (((k + 1) * powers) / 7) - 1e-9)]);
  const sizeTexts = sizes.map(([low, high], k) => (k === 6 ? `from ${low}` : rangeText(low, Math.max(low, high))));
  const modes = {
    job: {label: "job", colours: kCategories, texts: null, note: "jobs with successive numbers differ",
          bin: (run, row) => Math.abs(run.jobs.id[row]) % 8},
    user: {label: "user", colours: kCategories, texts: null, note: "users whose numbers differ by 8 look the same",
           bin: (run, row) => (run.jobs.user && run.jobs.user[row] >= 0 ? run.jobs.user[row] % 8 : 7)},
    class: {label: "class", colours: [...classes.map((_, k) => ramp[spread[k]]), ...(unclassed ? ["#8d99a8"] : [])],
            texts: unclassed ? [...classes, "none"] : classes,
            bin: (run, row) => Math.min(run.value("class", row) || 0, classes.length)},
    size: {label: "size", colours: ramp, texts: sizeTexts, note: "processes",
           bin: (run, row) => Math.max(0, sizes.findLastIndex(([low]) => run.value("processes", row) >= low))},
    mpl: {label: "processes per core", colours: [ramp[0], ramp[2], ramp[4], ramp[6]], texts: ["1", "2", "3", "4 or more"],
          note: "now, of the job", stretch: true, bin: (run, row) => binOf(run.value("max_mpl", row), [1, 2, 3])},
    slowdown: {label: "slowdown", colours: ramp, note: "bounded slowdown",
               texts: ["1", "to 1.5", "to 2", "to 5", "to 10", "to 50", "over 50"],
               bin: (run, row) => binOf(run.value("bounded_slowdown", row), kSlowdowns)},
  };
  if ((data.differences || []).length > 0) {
    const [little, much] = differenceBounds(data);
    const [low, high] = [durationText(little), durationText(much)];
    modes.difference = {
      label: "difference of wait", colours: kDifferences, note: `than in ${data.runs[0].name}`,
      texts: [`over ${high} less`, `over ${low} less`, `the same within ${low}`, `over ${low} more`, `over ${high} more`],
      bin: (run, row) => (run.waitDifference ? binOf(run.waitDifference(row), [-much, -little, little, much]) : 2),
    };
  }
  if (classes.length === 0) delete modes.class;
  return modes;
}

/** The pixels of each job of a run in a mode, and of each MPL where the mode goes by it. */
function paint(run, mode, matches, faded) {
  const pixels = mode.colours.map(pixelOf);
  const jobs = new Uint32Array(run.count);
  for (let row = 0; row < jobs.length; ++row) {
    jobs[row] = matches && !matches[row] ? faded : pixels[mode.bin(run, row)] || pixels[0];
  }
  const levels = mode.stretch ? Uint32Array.from({length: 256}, (_, mpl) => pixels[binOf(mpl, [1, 2, 3])]) : null;
  return {jobs, levels, faded, matches};
}
