// Text made harmless: what the page shows of every character is what the terminal shows. No browser; the page's function runs here.
//
// One statement gives all code points but surrogates, which no UTF-8 has, 256 in a row: as a table (src/base/harmless.h) and as JSON, as the page gets them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const build = process.env.DYETRACE_BUILD ?? join(root, "build");
const folder = mkdtempSync(join(tmpdir(), "dyetrace-harmless-"));
const trace = join(folder, "trace");
let harmless, short;

before(async () => {
  const { buildSync } = createRequire(join(build, "page/"))("esbuild");
  const outfile = join(folder, "elements.mjs");
  buildSync({ entryPoints: [join(root, "src/ui/view/elements.ts")], bundle: true, format: "esm", target: "es2022", outfile });
  ({ harmless, short } = await import(outfile));
  execFileSync(join(build, "examples/make_trace"), [trace]);
});
after(() => rmSync(folder, { recursive: true }));

function ask(sql, format) {
  const answer = execFileSync(join(build, "dyetrace"), ["sql", trace, sql, "--format", format], { encoding: "utf8", maxBuffer: 64 << 20 });
  return answer.trimEnd().split("\n");
}

const isSurrogate = (value) => value >= 0xd800 && value <= 0xdfff;
const IN_ROW = 256;
// Rows go from the last to the first: a table cuts what is wider than all in its first 1,000 rows, and tags are the widest.
const ALL = `SELECT '<' || string_agg(chr(value::INTEGER), '>' ORDER BY value) || '>' AS characters FROM range(${0x110000}) AS r(value)
  WHERE value NOT BETWEEN ${0xd800} AND ${0xdfff} GROUP BY value // ${IN_ROW} ORDER BY value // ${IN_ROW} DESC`;

test("every code point is shown on the page as on the terminal", () => {
  const values = Array.from({ length: 0x110000 }, (_, value) => value).filter((value) => !isSurrogate(value));
  const got = ask(ALL, "json").map((line) => JSON.parse(line).characters).reverse();
  const shown = ask(ALL, "table").slice(2).reverse();
  assert.equal(got.length, values.length / IN_ROW);
  assert.equal(shown.length, got.length);
  for (const [row, text] of got.entries()) {
    const expected = values.slice(row * IN_ROW, (row + 1) * IN_ROW).map((value) => String.fromCodePoint(value)).join(">");
    assert.equal(text, `<${expected}>`, "JSON brings every character unchanged");
    assert.equal(harmless(text), shown[row]);
  }
});

test("a character that is harmful never looks like a byte that is not UTF-8", () => {
  assert.equal(harmless("a\u009b\u200b\u2028\u{e0041}\ufffe\n\x7f"), String.raw`a\u009b\u200b\u2028\u{e0041}\ufffe\n\x7f`);
  assert.equal(harmless(String.raw`\x9b \\`), String.raw`\x9b \\`, "the reversible escape stays");
});

test("a name that is cut has whole characters and whole escapes", () => {
  assert.equal(short("0123456789", 10), "0123456789");
  assert.equal(short("0123456789x", 10), "01234…789x");
  for (const whole of ["\u{1f600}", "\\x1b", "\\u202e", "\\u{e0041}", "\\n", "\\\\"]) {
    for (let before = 0; before < 12; ++before) {
      const text = "a".repeat(before) + whole.repeat(9) + "b".repeat(11 - before),
        [begin, end] = short(text, 12).split("…"),
        isWhole = (part) => part.split(whole).every((rest) => /^[ab]*$/.test(rest));
      assert.ok(isWhole(begin) && isWhole(end) && begin.length + end.length < 12, `${text}: ${begin}…${end}`);
      assert.ok(text.startsWith(begin) && text.endsWith(end));
    }
  }
});
