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

function inUnits(value: number, units: [number, string][], least: string): string {
  const [size, unit] = units.find(([size]) => value >= size) ?? [1, least];
  const amount = value / size;
  return `${amount < 10 && size > 1 ? Number(amount.toFixed(1)) : Math.round(amount)} ${unit}`;
}

export const durationText = (ns: number): string => inUnits(ns, DURATIONS, "ns");
export const bytesText = (bytes: number): string => inUnits(bytes, SIZES, "B");

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

// "max_ns" is "max": its cells say the unit.
export const titleText = (column: string): string => column.replace(/_ns$/, "").replaceAll("_", " ");

const MOMENT_DIGITS = 9;

// A time from the begin of the trace: +1.204 s, +5:33:20 h, with as many digits as `step_ns` needs.
export function momentText(ns: number, step_ns = 1e6): string {
  const digits = Math.min(MOMENT_DIGITS, Math.max(0, Math.ceil(-Math.log10(Math.max(step_ns, 1) / 1e9))));
  const sign = ns < 0 ? "−" : "+", seconds = Number((Math.abs(ns) / 1e9).toFixed(digits));
  if (seconds < 3600) {
    return `${sign}${seconds.toFixed(digits)} s`;
  }
  const two = (number: number): string => String(number).padStart(2, "0");
  const rest = (seconds % 60).toFixed(digits);
  return `${sign}${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${rest.padStart(digits === 0 ? 2 : digits + 3, "0")} h`;
}

// When that was by the wall clock, in UTC: 2026-11-22 19:24:05.123456. `begin_ns` is text, for JavaScript's numbers would round it.
export function dateText(begin_ns: string, at_ns: number): string {
  const ns = BigInt(begin_ns) + BigInt(Math.round(at_ns));
  const date = new Date(Number(ns / 1_000_000n)).toISOString().replace("T", " ").slice(0, 19);
  return `${date}.${String(ns % 1_000_000_000n).padStart(9, "0").slice(0, 6)}`;
}

// The step of 1, 2 or 5 times a power of ten that cuts `span` into at most `most` pieces.
export function niceStep(span: number, most: number): number {
  const rough = Math.max(span / most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
}
