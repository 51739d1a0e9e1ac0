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
