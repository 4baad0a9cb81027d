// Numbers for people, and the ticks of an axis for whatever part of it is in view.
"use strict";

const UNITS = {
  seconds: [[1e-9, "ns"], [1e-6, "us"], [1e-3, "ms"], [1, "s"]],
  bytes: [[1, "B"], [2 ** 10, "KiB"], [2 ** 20, "MiB"], [2 ** 30, "GiB"], [2 ** 40, "TiB"]],
};

/** `17,810`; without more digits than tell ticks apart. */
function plain(value, digits = 4) {
  if (value !== 0 && (Math.abs(value) >= 1e13 || Math.abs(value) < 1e-4)) {
    return value.toExponential(Math.max(0, digits - 1)).replace(/\.?0+e\+?/, "e");
  }
  return value.toLocaleString("en-US", { maximumSignificantDigits: digits });
}

/** With the largest unit that leaves a number of 1 or more. */
function inUnit(units, value, digits) {
  if (value === 0) return "0";
  // A step of ten in floating point may come out just below the unit.
  const fits = units.filter(([size]) => Math.abs(value) >= size * (1 - 1e-9));
  const [size, word] = fits.length > 0 ? fits[fits.length - 1] : units[0];
  return `${plain(value / size, digits)} ${word}`;
}

/** Places that the nines of a percentile take: one for `p99.9`, which is one in 1,000. */
const nines = (oneIn) => Math.max(0, Math.ceil(Math.log10(Math.max(1, oneIn)) - 2));

/** `p99.9` of 1,000: one in so many takes longer. */
function percentile(oneIn, places) {
  return `p${(100 - 100 / oneIn).toFixed(places)}`;
}

/** `2026-03-01 08:00:00`, UTC, without so many letters at its end; a plain number where dates end. */
function date(seconds, cut) {
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime())) return plain(seconds);
  const text = at.toISOString().replace("T", " ").replace(/\.\d+Z$/, "");
  return text.slice(0, text.length - cut);
}

/** A number on an axis. */
function told(quantity, value, digits = 4) {
  switch (quantity) {
    case "seconds": return inUnit(UNITS.seconds, value, digits);
    case "bytes": return inUnit(UNITS.bytes, value, digits);
    case "byte-rate": return value === 0 ? "0" : `${inUnit(UNITS.bytes, value, digits)}/s`;
    case "percent": return `${plain(value, digits)}%`;
    case "times": return `${plain(value, digits)}x`;
    default: return plain(value, digits);
  }
}

const MINUTE = 60, HOUR = 3600, DAY = 86400;
const DATE_STEPS = [1, 5, 10, 30, MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR,
  6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 90 * DAY, 180 * DAY, 365 * DAY,
  730 * DAY, 1825 * DAY];

/** The smallest round step that is not below `least`. */
function roundStep(quantity, least) {
  if (quantity === "date") {
    return DATE_STEPS.find((step) => step >= least) ?? 365 * DAY * roundStep("count", least / (365 * DAY));
  }
  if (quantity.startsWith("byte") && least > 1) return 2 ** Math.ceil(Math.log2(least));
  const ten = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((part) => part * ten).find((step) => step >= least * (1 - 1e-9));
}

/** Multiples of a step of at least `least`. */
function evenTicks(quantity, [from, to], room, least) {
  if (!(to > from)) return [from];
  const step = Math.max(least, roundStep(quantity, (to - from) / Math.max(1, room)));
  const first = Math.ceil(from / step - 1e-9), last = Math.floor(to / step + 1e-9);
  const ticks = [];
  for (let at = first; at <= last && ticks.length < 100; at += 1) ticks.push(at * step + 0);
  return ticks;
}

/** Logarithms of the numbers there are. */
const EXPONENTS = [-307, 308];

/** Powers of ten (of two for bytes), as many as there is room for; between them where there is more. */
function logTicks(quantity, range, room, least) {
  const [from, to] = range.map((end) => Math.min(Math.max(end, EXPONENTS[0]), EXPONENTS[1]));
  const base = quantity.startsWith("byte") ? 2 : 10;
  const power = (exponent) => (base === 10 ? Number(`1e${exponent}`) : base ** exponent);
  const scale = Math.log10(base);
  const [low, high] = [Math.ceil(from / scale - 1e-9), Math.floor(to / scale + 1e-9)];
  const whole = high - low + 1;
  const floor = quantity === "one-in" ? 1 : least;
  const inside = (value) =>
    value >= floor && Math.log10(value) >= from - 1e-9 && Math.log10(value) <= to + 1e-9;
  const steps = (parts) => {
    const powers = Array.from({ length: whole + 2 }, (_, at) => low - 1 + at);
    return powers.flatMap((exponent) => parts.map((part) => part * power(exponent))).filter(inside);
  };
  const finest = base === 10 ? steps([1, 2, 5]) : steps([1]);
  if (quantity === "one-in") {
    const known = [2, ...steps([1]).filter((value) => value > 1)].filter(inside);
    const stride = Math.ceil(known.length / (room + 1));
    if (known.length > 2) return known.filter((_, at) => at % stride === 0);
  }
  if (finest.length < 3) {
    return evenTicks(quantity, [10 ** from, 10 ** to], room, least).filter((value) => value > 0 && value >= floor);
  }
  for (const fine of base === 10 ? [finest, steps([1, 3])] : []) {
    if (fine.length <= room + 1) return fine;
  }
  const stride = Math.max(1, Math.ceil(whole / Math.max(1, room)));
  const first = Math.ceil(low / stride) * stride;
  const count = Math.floor((high - first) / stride) + 1;
  return Array.from({ length: Math.max(0, count) }, (_, at) => power(first + at * stride)).filter(inside);
}

/** Ticks of an axis for a range (of logarithms on a logarithmic axis), as plotly takes them. */
function ticks(axis, range, room, letters = 22) {
  if (axis.scale === "named") {
    const cut = (name) => (name.length > letters ? `${name.slice(0, letters - 1)}…` : name);
    const short = axis.names.map(cut);
    return { tickvals: short.map((_, at) => at), ticktext: short.map(unmarked) };
  }
  const ends = [Math.min(...range), Math.max(...range)];
  const tickvals = (axis.scale === "log" ? logTicks : evenTicks)(axis.quantity, ends, room, axis.whole ? 1 : 0);
  return { tickvals, ticktext: tickTexts(axis.quantity, tickvals, ends[1] - ends[0]) };
}

/** What stands beside ticks: no more than tells them apart. */
function tickTexts(quantity, values, span) {
  if (quantity === "date") {
    const cut = span > 5 * DAY ? " 08:00:00".length : span > 10 * MINUTE ? ":00".length : 0;
    return values.map((value) => date(value, cut));
  }
  if (quantity === "one-in") {
    let texts = values.map((value) => percentile(value, nines(value)));
    const most = Math.max(...values.map(nines));
    for (let places = most; places < most + 6 && new Set(texts).size < texts.length; places += 1) {
      texts = values.map((value) => percentile(value, places));
    }
    return texts;
  }
  const digits = Math.max(3, closeness(values));
  return values.map((value) => told(quantity, value, digits));
}

/** Digits that tell neighbours apart. */
function closeness(values) {
  const steps = values.slice(1).map((value, at) => Math.abs(value - values[at]) / Math.abs(value || 1));
  const least = Math.min(1, ...steps.filter((step) => step > 0));
  return Math.min(12, Math.ceil(-Math.log10(least)) + 1);
}

/** A text for plotly, which reads some tags in what it shows. */
function unmarked(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
