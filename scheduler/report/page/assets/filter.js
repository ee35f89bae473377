// The filter: words that a job has to fulfil, all of them. "7 9-12" job numbers; user:3,4; class:long; outcome:failed;
// queue:1; differs, for jobs that start or end otherwise than in the first run; and comparisons such as wait>60, size>=8, slowdown>10, runtime<5, mpl>1.

const kFilterNumbers = {wait: "wait", size: "processes", cores: "cores", slowdown: "bounded_slowdown", runtime: "runtime",
                        response: "response", mpl: "max_mpl", shrunk: "shrunk_time", suspended: "suspended_time"};
const kFilterWords = "Job numbers (7 or 9-12), user:3, class:long, outcome:failed, queue:1, differs (several runs), or one of " +
                     `${Object.keys(kFilterNumbers).join(", ")} compared as in wait>60`;

/** "3,5-7" as [[3,3],[5,7]]; null if it is none. */
function numberRanges(text) {
  const ranges = [];
  for (const part of text.split(",")) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!match) return null;
    ranges.push([Number(match[1]), Number(match[2] === undefined ? match[1] : match[2])]);
  }
  return ranges;
}
const isWithin = (ranges, value) => ranges.some(([low, high]) => value >= low && value <= high);

/** One word as a test of (run, row), or a text that says what is wrong with it. */
function parseFilterWord(word) {
  const numbers = numberRanges(word.replace(/^(job|id):/, ""));
  if (numbers) return (run, row) => isWithin(numbers, run.jobs.id[row]);
  const compared = /^([a-z]+)(>=|<=|>|<|=)(-?\d+(?:\.\d+)?)$/.exec(word);
  if (compared && kFilterNumbers[compared[1]]) {
    const [column, limit] = [kFilterNumbers[compared[1]], Number(compared[3])];
    const hold = {">": (v) => v > limit, "<": (v) => v < limit, ">=": (v) => v >= limit, "<=": (v) => v <= limit,
                  "=": (v) => v === limit}[compared[2]];
    return (run, row) => hold(run.value(column, row));
  }
  const named = /^(user|class|outcome|queue):(.+)$/.exec(word);
  if (named && (named[1] === "user" || named[1] === "queue")) {
    const ranges = numberRanges(named[2]);
    if (ranges) return (run, row) => isWithin(ranges, run.value(named[1], row));
  } else if (named) {
    const wanted = named[2].toLowerCase().split(",");
    const of = named[1] === "class" ? (run, row) => run.className(row) : (run, row) => run.outcome(row);
    return (run, row) => wanted.includes(of(run, row).toLowerCase());
  }
  if (word === "differs") return (run, row) => differentOf(run)[row] === 1;
  return `'${word}' is no filter. ${kFilterWords}.`;
}

/** {test, error}: test is null for an empty filter; error is null for a good one. */
function parseFilter(text) {
  const tests = [];
  for (const word of text.trim().split(/\s+/).filter((part) => part !== "")) {
    const test = parseFilterWord(word.replace(/^user(\d)/, "user:$1"));
    if (typeof test === "string") return {test: null, error: test};
    // A list of job numbers may be several words.
    tests.push(test);
    test.isJobs = numberRanges(word.replace(/^(job|id):/, "")) !== null;
  }
  if (tests.length === 0) return {test: null, error: null};
  const jobs = tests.filter((test) => test.isJobs);
  const rest = tests.filter((test) => !test.isJobs);
  return {
    test: (run, row) => (jobs.length === 0 || jobs.some((test) => test(run, row))) && rest.every((test) => test(run, row)),
    error: null,
  };
}

/** For each row of a run 1 if it passes, and how many do; null without a filter. */
function matchesOf(run, test) {
  if (!test) return null;
  const matches = new Uint8Array(run.count);
  let count = 0;
  for (let row = 0; row < run.count; ++row) {
    if (test(run, row)) {
      matches[row] = 1;
      ++count;
    }
  }
  matches.count = count;
  return matches;
}
