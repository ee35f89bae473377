// Elements, numbers and times as text. Names of jobs, users and files reach the page through textContent only.

/** An element with properties ("class", "onclick", aria-...) and children, which are elements or texts. */
function element(tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child === undefined || child === null) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

const byId = (id) => document.getElementById(id);

/** A number for people: at most `digits` significant digits, thousands apart; "-" if absent. */
function numberText(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "-";
  if (!Number.isFinite(value)) return value > 0 ? "infinite" : "-infinite";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-GB");
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en-GB");
  return String(Number(value.toPrecision(digits)));
}

const two = (value) => String(value).padStart(2, "0");

/** A length of time in seconds in the words of length_text() (scheduler/model/units.hpp): "4.5 s", "12 min 5 s", "3 h 10 min", "2 d 5 h". */
function durationText(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return "-";
  const size = Math.abs(seconds);
  const whole = Math.round(size), minutes = Math.round(whole / 60), hours = Math.round(minutes / 60);
  const sign = seconds < 0 ? "-" : "";
  const inUnits = (part, big, unit, small) => `${sign}${Math.floor(part / big)} ${unit}${part % big > 0 ? ` ${part % big} ${small}` : ""}`;
  if (whole < 60) return `${sign}${Number(size.toFixed(size >= 1 ? 2 : 6))} s`;
  if (whole < 3600) return inUnits(whole, 60, "min", "s");
  return minutes < 1440 ? inUnits(minutes, 60, "h", "min") : inUnits(hours, 24, "d", "h");
}

/** "+12 s", "-5 min 20 s", "0 s". */
const signedDuration = (seconds) => (seconds > 0 ? `+${durationText(seconds)}` : durationText(seconds));

/** An instant of the run, precise to about `step` seconds: "12.5 s", "1:02:03", "3 d 04:00". */
function instantText(seconds, step = 0.001) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return "-";
  const decimals = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step) - 1e-9));
  if (Math.abs(seconds) < 120) {
    const text = seconds.toFixed(decimals);
    return `${decimals > 0 && step <= 0.001 ? String(Number(text)) : text} s`;
  }
  const sign = seconds < 0 ? "-" : "";
  const unit = 10 ** decimals;
  const size = Math.round(Math.abs(seconds) * unit) / unit;
  const whole = Math.floor(size);
  const part = decimals > 0 ? (size - whole).toFixed(decimals).slice(1) : "";
  const fraction = step <= 0.001 ? part.replace(/\.?0+$/, "") : part;
  const days = Math.floor(whole / 86400);
  const [hours, minutes, rest] = [Math.floor((whole % 86400) / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  const clock = step >= 60 && days > 0 ? `${two(hours)}:${two(minutes)}` : `${hours}:${two(minutes)}:${two(rest)}${fraction}`;
  if (days === 0) return sign + clock;
  return step >= 86400 ? `${sign}${days} d` : `${sign}${days} d ${clock}`;
}

const kSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800,
                604800, 1209600, 2592000, 7776000, 31536000];

/** Round instants in [from, to], at most `count`: {step, at: [...]}. */
function timeTicks(from, to, count) {
  const least = (to - from) / Math.max(1, count);
  let step = kSteps.find((candidate) => candidate >= least) || kSteps[kSteps.length - 1];
  if (least < 1) {
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-6)));
    step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= least * 0.999999);
  }
  while (step < least) step *= 2;  // many years
  const at = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; ++k) at.push(k * step);
  return {step, at};
}

/** The last part of a path. */
const baseName = (path) => String(path).replace(/^.*\/(?=[^/])/, "");

/** The parts of a policy's text, divided by colons outside braces: its name, then key=value. */
function policyParts(text) {
  const parts = [""];
  let depth = 0;
  for (const sign of text || "") {
    depth += sign === "{" ? 1 : sign === "}" ? -1 : 0;
    if (sign === ":" && depth === 0) parts.push("");
    else parts[parts.length - 1] += sign;
  }
  return parts;
}
/** A policy's name, with the policies inside it and the parameters in which it differs from others of that name. */
function policyText(text, others) {
  const [name, ...parameters] = policyParts(text);
  const same = others.map(policyParts).filter((parts) => parts[0] === name);
  const shown = parameters.filter((one) => same.some((parts) => !parts.includes(one)) || /^inner=/.test(one))
    .map((one) => (same.some((parts) => !parts.includes(one)) ? one : one.replace(/^(inner=\{?[^:}]*).*?(\}?)$/, "$1$2")));
  return [name, ...shown].join(":");
}

/** Cores as people name them: "3" or "3-7". */
const rangeText = (first, last) => (first === last ? String(first) : `${first}-${last}`);

/** "1 job", "2 jobs". */
const counted = (count, word) => `${numberText(count)} ${word}${count === 1 ? "" : "s"}`;

/** What a test waits for and what a benchmark reads. */
const page = {ready: false, errors: [], timing: {}};
window.replayPage = page;

/** Shows what is wrong with the page itself. Best effort: the rest goes on. */
function complain(text) {
  page.errors.push(text);
  const box = byId("complaints");
  if (!box) return;
  box.hidden = false;
  box.append(element("p", {}, text));
}
window.addEventListener("error", (event) => complain(`This page has an error: ${event.message}`));
