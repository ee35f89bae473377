// The data of the page: columns in base64, decoded when they are first used. docs/formats/report-page.md describes them.

const kTypes = {u8: Uint8Array, i32: Int32Array, f64: Float64Array};
const kNoColumns = Object.freeze({});

/** The bytes of block `k`. Its text is dropped: each block is decoded once. */
function takeBlock(k) {
  const node = byId(`replay-bin-${k}`);
  if (!node) throw new Error(`block ${k} of the page's data is missing: the file was cut off or damaged`);
  const text = node.textContent.trim();
  node.textContent = "";
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** A column of texts: `get(row)` decodes one. */
class TextColumn {
  constructor(bytes, offsets) {
    this.bytes = bytes;
    this.offsets = offsets;
    this.length = offsets.length - 1;
    this.decoder = new TextDecoder();
  }
  get(row) {
    return this.decoder.decode(this.bytes.subarray(this.offsets[row], this.offsets[row + 1]));
  }
}

/** The typed array (or TextColumn) of a column, null if there is none. Plain arrays are columns of a live page. */
function decodeColumn(column) {
  if (column === undefined || column === null) return null;
  if (Array.isArray(column)) {
    return typeof column[0] === "string" ? {length: column.length, get: (row) => column[row]}
                                         : Float64Array.from(column, (value) => (value === null ? NaN : value));
  }
  const bytes = takeBlock(column.bin);
  if (column.type === "utf8") return new TextColumn(bytes, decodeColumn(column.offsets));
  const Type = kTypes[column.type];
  if (!Type) throw new Error(`a column of type '${column.type}': expected u8, i32, f64 or utf8`);
  if (bytes.length !== column.length * Type.BYTES_PER_ELEMENT) {
    throw new Error(`block ${column.bin} has ${bytes.length} bytes: expected ${column.length} values of ${column.type}`);
  }
  return new Type(bytes.buffer, bytes.byteOffset, column.length);
}

/** An object with the same names whose columns are decoded on first use. */
function lazyColumns(columns) {
  const result = {};
  for (const name of Object.keys(columns || kNoColumns)) {
    const column = columns[name];
    let decoded;
    Object.defineProperty(result, name, {
      enumerable: true,
      get() {
        if (decoded === undefined) decoded = decodeColumn(column);
        return decoded;
      },
    });
  }
  return result;
}

/** Columns of jobs in which -1 is no value. */
const kCounts = new Set(["user", "queue", "processes", "given", "optimal", "cores", "max_mpl"]);

const kSuspended = 1, kShareable = 2, kShrunk = 4, kGrouped = 8, kMerged = 16;

/** Share of a merged cell that is used: at most so much, in quarters. */
const usedOf = (flag) => (((flag >> 5) & 3) + 1) / 4;
const kBlock = 256;

/** Stretches sorted by `from`, with an index: the latest end of each block of 256. */
class StretchSet {
  constructor(columns, secondsPerPixel) {
    this.columns = lazyColumns(columns);
    this.secondsPerPixel = secondsPerPixel;
  }
  get length() {
    return this.columns.from ? this.columns.from.length : 0;
  }
  /** The arrays, the index built. */
  open() {
    if (this.arrays) return this.arrays;
    const {job, from, to, first, last, flags, mpl, processes} = this.columns;
    const count = from ? from.length : 0;
    const blocks = Math.ceil(count / kBlock);
    const until = new Float64Array(blocks).fill(-Infinity);
    for (let i = 0; i < count; ++i) {
      const block = (i / kBlock) | 0;
      if (to[i] > until[block]) until[block] = to[i];
    }
    this.arrays = {count, blocks, until, job, from, to, first, last, flags, mpl, processes, lane: null};
    this.arrays.lane = laneOf(this.arrays);
    return this.arrays;
  }
  /** Index of the first stretch that begins at `at` or later. */
  lowerBound(at) {
    const {from, count} = this.open();
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (from[middle] < at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  /** Calls `use(i)` for each stretch that has time in common with (t0, t1). */
  each(t0, t1, use) {
    const {from, to, until} = this.open();
    const end = this.lowerBound(t1);
    for (let block = 0; block * kBlock < end; ++block) {
      if (until[block] <= t0) continue;
      const last = Math.min(end, (block + 1) * kBlock);
      for (let i = block * kBlock; i < last; ++i) if (to[i] > t0 && from[i] < t1) use(i);
    }
  }
}

/** For jobs on the same cores at a time: the half of the core that each is drawn in. 1 = lower half; null if no jobs share. */
function laneOf({count, from, to, first, last, flags}) {
  let lane = null;
  let open = [];
  for (let i = 0; i < count; ++i) {
    if (!(flags[i] & kShareable) || flags[i] & (kSuspended | kMerged)) continue;
    open = open.filter((j) => to[j] > from[i]);
    if (open.some((j) => !(lane && lane[j]) && first[j] <= last[i] && last[j] >= first[i])) {
      lane = lane || new Uint8Array(count);
      lane[i] = 1;
    }
    open.push(i);
  }
  return lane;
}

/** Neighbouring nodes that are alike: the first node and core, cores of a node and of a package. None on a pool. */
function nodeGroupsOf({nodes, packages, cores_per_package: ofPackage, groups}) {
  if (!(nodes > 0)) return [];
  let [node, core] = [0, 0];
  return (groups || [[nodes, packages, ofPackage]]).map(([count, ofNode, cores]) => {
    const group = {node, core, cores: ofNode * cores, ofPackage: ofNode > 1 ? cores : 0};
    [node, core] = [node + count, core + count * group.cores];
    return group;
  });
}

/** One run of the page. Rows of jobs are numbered from 0, in the order of the data. */
class Run {
  constructor(json, index) {
    this.json = json;
    this.index = index;
    this.name = json.name;
    this.shape = json.shape;
    this.groups = nodeGroupsOf(json.shape);
    this.cores = Math.max(1, json.shape.cores);
    this.begin = json.begin;
    this.end = Math.max(json.end, json.begin);
    this.jobs = lazyColumns(json.jobs);
    this.series = lazyColumns(json.series);
    this.resizes = lazyColumns(json.resizes);
    this.why = lazyColumns(json.why);
    this.stretches = new StretchSet(json.stretches, 0);
    this.levels = (json.levels || []).map((level) => new StretchSet(level.stretches, level.second_per_pixel));
    this.c0 = 0;
    this.c1 = this.cores;
  }
  get count() {
    return this.jobs.id ? this.jobs.id.length : 0;
  }
  /** Row of the job with this id, -1 if the page does not have it. */
  rowOf(id) {
    if (!this.rows) {
      this.rows = new Map();
      const ids = this.jobs.id;
      for (let row = 0; row < this.count; ++row) this.rows.set(ids[row], row);
    }
    const row = this.rows.get(id);
    return row === undefined ? -1 : row;
  }
  idOf(row) {
    return this.jobs.id[row];
  }
  /** The number of a job as text; numbers beyond 2^53 are exact only so. */
  nameOf(row) {
    return this.jobs.id_text ? this.jobs.id_text.get(row) : String(this.jobs.id[row]);
  }
  /** Value of a column at a row; NaN for what is absent. */
  value(name, row) {
    const column = this.jobs[name];
    if (!column || row < 0) return NaN;
    return kCounts.has(name) && column[row] < 0 ? NaN : column[row];
  }
  className(row) {
    const index = this.value("class", row);
    return (this.json.classes || [])[index] || "";
  }
  outcome(row) {
    return (this.json.outcomes || [])[this.value("outcome", row)] || "";
  }
  /** Whether a job ended by itself, well, or has not ended. */
  endedWell(row) {
    const outcome = this.outcome(row);
    return outcome === "completed" || outcome === "";
  }
  /** Row of the job for which a job was shrunk at an instant, -1 if it was not. */
  sakeOf(row, at) {
    if (!this.sakes) {
      this.sakes = new Map();
      const {job, at: times, from, to, for: sake} = this.resizes;
      for (let i = 0; job && sake && i < job.length; ++i) {
        if (to[i] >= from[i] || sake[i] < 0 || sake[i] === job[i]) continue;
        if (!this.sakes.has(job[i])) this.sakes.set(job[i], []);
        this.sakes.get(job[i]).push({at: times[i], other: sake[i]});
      }
    }
    const found = (this.sakes.get(row) || []).find((one) => one.at === at);
    return found ? found.other : -1;
  }
  /** The set of stretches to draw where a pixel is so many seconds wide. */
  picture(secondsPerPixel) {
    let best = this.stretches;
    for (const level of this.levels) if (level.secondsPerPixel <= secondsPerPixel * 1.05) best = level;
    return best;
  }
  /** The group of nodes that a core is in; undefined on a pool. */
  groupOf(core) {
    let at = this.groups.length - 1;
    while (at > 0 && this.groups[at].core > core) --at;
    return this.groups[at];
  }
  /** Node of a core; -1 on a pool. */
  nodeOf(core) {
    const group = this.groupOf(core);
    return group ? group.node + Math.floor((core - group.core) / group.cores) : -1;
  }
  /** Its host, or "node 3". */
  nodeName(node) {
    return this.json.hosts ? this.json.hosts[node] : `node ${node}`;
  }
  /** First core of a node, and how many it has. */
  coresOf(node) {
    const group = this.groups.findLast(({node: first}) => first <= node);
    return [group.core + (node - group.node) * group.cores, group.cores];
  }
  /** Stretches of a job, ascending: made for all jobs together on first use. */
  stretchesOf(row) {
    if (!this.chains) {
      const {count, job} = this.stretches.open();
      this.chains = {head: new Int32Array(this.count).fill(-1), next: new Int32Array(count)};
      for (let i = count - 1; i >= 0; --i) {
        if (job[i] < 0) continue;
        this.chains.next[i] = this.chains.head[job[i]];
        this.chains.head[job[i]] = i;
      }
    }
    const result = [];
    if (row < 0 || row >= this.count) return result;
    for (let i = this.chains.head[row]; i >= 0; i = this.chains.next[i]) result.push(i);
    return result;
  }
}

/** The page's data. Throws Error with a text for the user if there is none or if it is of another format. */
function readData() {
  const node = byId("replay-data");
  if (!node) throw new Error("this page has no data: the file was cut off");
  let data;
  try {
    data = JSON.parse(node.textContent);
  } catch (error) {
    throw new Error(`the data of this page cannot be read: ${error.message}`);
  }
  if (data.format !== 1) throw new Error(`the data of this page has format ${data.format}: expected 1`);
  data.runs = (data.runs || []).map((run, index) => new Run(run, index));
  return data;
}
