// Amounts in words, as the terminal has them: 3.1 MB, 14 µs, 214,883.

const DURATIONS: [number, string][] = [
  [3600e9, "h"],
  [60e9, "min"],
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
];
const SIZES: [number, string][] = [
  [1e12, "TB"],
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
];

// What is rounded up to a larger unit is one of that: 999.7 µs is 1 ms.
function inUnits(value: number, units: [number, string][], least: string): string {
  const at = units.findIndex(([size]) => value >= size);
  const [size, unit] = units[at] ?? [1, least],
    larger = units.at(at === 0 ? units.length : at - 1);
  const amount = value / size,
    shown = amount < 10 && size > 1 ? Number(amount.toFixed(1)) : Math.round(amount);
  return larger !== undefined && shown * size >= larger[0] ? `1 ${larger[1]}` : `${shown} ${unit}`;
}

const SHARE_DIGITS_MAX = 9;

// A part of a whole, with as many digits as tell it from nothing and from all: 97 %, 99.9992 %, 0.0008 %; 0 % and 100 % are exact.
export function shareText(part: number, whole: number): string {
  const known = Math.min(Math.max(part, 0), whole),
    share = whole > 0 ? known / whole : 0,
    least = whole > 0 ? (100 * Math.min(known, whole - known)) / whole : 0;
  const digits = least === 0 ? 0 : Math.min(Math.max(Math.ceil(-Math.log10(least)), 0), SHARE_DIGITS_MAX);
  return `${(100 * share).toFixed(digits)} %`;
}

export const durationText = (ns: number): string => inUnits(ns, DURATIONS, "ns");
export const bytesText = (bytes: number): string => inUnits(bytes, SIZES, "B");

// So much a second, by the words for whole ones; of less than ten two digits, so that little is not nothing: 0.2/s, 0.2 B/s.
export function rateText(value: number, text: (whole: number) => string): string {
  const little = Number(value.toPrecision(2));
  return little < 10 ? `${text(0).replace("0", String(little))}/s` : `${text(Math.round(value))}/s`;
}

// A number of a column whose name says what it counts; nothing is a dash.
export function amountText(column: string, value: number): string {
  if (value === 0) {
    return "–";
  }
  if (column.endsWith("_ns")) {
    return durationText(value);
  }
  return column.endsWith("bytes") ? bytesText(value) : value.toLocaleString("en");
}

// 1,204 events in 2.1 s
export const amountOfTrace = ({ events, duration_ns }: { events: number; duration_ns: number }): string =>
  `${events.toLocaleString("en")} ${events === 1 ? "event" : "events"}${duration_ns > 0 ? ` in ${durationText(duration_ns)}` : ""}`;

// ×2.0, −30 %, ≈, new, gone
export function changeText(before: number, after: number): string {
  if (before === after) {
    return "=";
  }
  if (before === 0 || after === 0) {
    return before === 0 ? "new" : "gone";
  }
  const ratio = after / before;
  if (Math.abs(ratio - 1) < 0.005) {
    return "≈";
  }
  return ratio >= 2
    ? `×${ratio < 10 ? ratio.toFixed(1) : Math.round(ratio).toLocaleString("en")}`
    : ratio > 1
      ? `+${Math.round((ratio - 1) * 100)} %`
      : `−${shareText(before - after, before)}`;
}

// "max_ns" is "max": its cells say the unit.
export const titleText = (column: string): string => column.replace(/_ns$/, "").replaceAll("_", " ");

const MOMENT_DIGITS = 9;

// A time from the begin of the trace: +1.204 s, +5:33:20 h, with as many digits as `step_ns` needs.
export function momentText(ns: number, step_ns = 1e6): string {
  const digits = Math.min(MOMENT_DIGITS, Math.max(0, Math.ceil(-Math.log10(Math.max(step_ns, 1) / 1e9))));
  const seconds = Number((Math.abs(ns) / 1e9).toFixed(digits)),
    sign = ns < 0 && seconds > 0 ? "−" : "+";
  if (seconds < 3600) {
    return `${sign}${seconds.toFixed(digits)} s`;
  }
  const two = (number: number): string => String(number).padStart(2, "0");
  const rest = (seconds % 60).toFixed(digits);
  return `${sign}${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${rest.padStart(digits === 0 ? 2 : digits + 3, "0")} h`;
}

const UNITS: Record<string, number> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  min: 60e9,
  h: 3600e9,
  d: 86400e9,
};

// What momentText() writes and people type: 1.2, 300 ms, +1.204 s, +5:33:20 h. null: no time.
export function momentIn(text: string): number | null {
  const clock = /^\+?(\d+):(\d\d):(\d\d(?:\.\d+)?)\s*h?$/.exec(text.trim()),
    amount = /^\+?(\d+(?:\.\d*)?|\.\d+)\s*([a-zµμ]*)$/.exec(text.trim());
  if (clock !== null) {
    return Math.round((Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3])) * 1e9);
  }
  const unit = UNITS[amount?.[2] || "s"];
  return amount === null || unit === undefined ? null : Math.round(Number(amount[1]) * unit);
}

// "1 s … 2.5 s", also with "..", " to " or " - " between; either side may be missing, not both. null: no stretch of time.
export function stretchIn(text: string): { from: number | null; to: number | null } | null {
  const sides = text.trim().split(/\s*(?:…|\.\.\.?|\bto\b|(?:^|\s)[-–](?:\s|$))\s*/);
  const [from, to] = sides.map((side) => (side === "" || side === "end" ? null : (momentIn(side) ?? NaN)));
  const isGood =
    sides.length === 2 &&
    from !== undefined &&
    to !== undefined &&
    !Number.isNaN(from) &&
    !Number.isNaN(to) &&
    !(from === null && to === null);
  return isGood && (from === null || to === null || from <= to) ? { from, to } : null;
}

// When that was by the wall clock, in UTC: 2026-11-22 19:24:05.123456. `begin_ns` is text, for JavaScript's numbers would round it.
export function dateText(begin_ns: string, at_ns: number): string {
  const ns = BigInt(begin_ns) + BigInt(Math.round(at_ns));
  const date = new Date(Number(ns / 1_000_000n)).toISOString().replace("T", " ").slice(0, 19);
  return `${date}.${String(ns % 1_000_000_000n)
    .padStart(9, "0")
    .slice(0, 6)}`;
}

// The step of 1, 2 or 5 times a power of ten that cuts `span` into at most `most` pieces.
export function niceStep(span: number, most: number): number {
  const rough = Math.max(span / most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
}
