// Amounts in words: nothing is rounded to what it is not. No browser; the page's functions run here.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const build = process.env.DYETRACE_BUILD ?? join(root, "build");
const folder = mkdtempSync(join(tmpdir(), "dyetrace-amounts-"));
let words;

before(async () => {
  const { buildSync } = createRequire(join(build, "page/"))("esbuild");
  const outfile = join(folder, "words.mjs");
  const contents = 'export * from "./model/words.ts"; export { cutText } from "./view/renderer.ts";';
  buildSync({ stdin: { contents, resolveDir: join(root, "src/ui") }, bundle: true, format: "esm", target: "es2022", outfile });
  words = await import(outfile);
});
after(() => rmSync(folder, { recursive: true }));

const whole = (value) => value.toLocaleString("en");

test("what is rounded up to a larger unit is one of it", () => {
  const { durationText, bytesText } = words;
  assert.deepEqual([999, 999.4, 1000, 9_949, 9_951, 999_499, 999_500, 999_999_999, 59.4e9, 59.6e9, 3599.9e9].map(durationText), ["999 ns", "999 ns", "1 µs", "9.9 µs", "10 µs", "999 µs", "1 ms", "1 s", "59 s", "1 min", "1 h"]);
  assert.deepEqual([0, 999, 999_600, 1e15].map(bytesText), ["0 B", "999 B", "1 MB", "1000 TB"]);
});

test("little a second is not nothing", () => {
  const { rateText, bytesText } = words;
  assert.deepEqual([0, 0.2, 0.0312, 1.46, 9.96, 10.4, 12_345.6].map((value) => rateText(value, whole)), ["0/s", "0.2/s", "0.031/s", "1.5/s", "10/s", "10/s", "12,346/s"]);
  assert.deepEqual([0, 0.4, 9.2, 2500].map((value) => rateText(value, bytesText)), ["0 B/s", "0.4 B/s", "9.2 B/s", "2.5 kB/s"]);
});

test("less than all is not 100 %, more than nothing not 0 %", () => {
  const { shareText, changeText } = words;
  assert.deepEqual([[1, 1], [0, 1], [9_999, 10_000], [1, 1e6], [2, 3]].map(([part, all]) => shareText(part, all)), ["100 %", "0 %", "99.99 %", "0.0001 %", "67 %"]);
  assert.deepEqual([[1000, 3], [10, 7], [4, 6], [1, 2], [5, 0], [0, 5], [7, 7], [1000, 1001]].map(([before, after]) => changeText(before, after)), ["−99.7 %", "−30 %", "+50 %", "×2.0", "gone", "new", "=", "≈"]);
});

test("a moment just before the begin is not less than nothing", () => {
  const { momentText } = words;
  assert.deepEqual([[-400, 1e6], [-1_600_000, 1e6], [2_643_617_605, 1e6]].map(([ns, step]) => momentText(ns, step)), ["+0.000 s", "−0.002 s", "+2.644 s"]);
});

test("of a name that is cut the number stays, and how many threads there are goes first", () => {
  const { cutText } = words, name = "dyetrace-store ui git[14931]";
  assert.deepEqual([400, 290, 210, 150, 60, 10].map((room) => cutText(`${name} · 14 threads`, room, 7)), [`${name} · 14 threads`, `${name} · 14 threads`, name, "dyetrace-stor…[14931]", "dyetrac…", ""]);
});

test("a trace in short", () => {
  const { amountOfTrace } = words;
  assert.deepEqual([[0, 0], [1, 0], [1, 1500], [1204, 2.1e9]].map(([events, duration_ns]) => amountOfTrace({ events, duration_ns })), ["0 events", "1 event", "1 event in 1.5 µs", "1,204 events in 2.1 s"]);
});
