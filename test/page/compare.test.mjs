// Two traces beside each other.

import assert from "node:assert/strict";
import { dirname, relative } from "node:path";
import { test } from "node:test";
import { openPage, openTrace, recordedTrace, sqlRows } from "./page.mjs";

test("calls of both stand beside each other as SQL counts them, what differs most in time first", async (t) => {
  const [first, second] = [recordedTrace("git"), recordedTrace("relay")];
  const page = await openTrace(first, "#compare", { words: [relative(dirname(first), second)] });
  t.after(() => page.close());
  const rows = (await page.texts('section[aria-label="Calls"] tbody tr')).map((row) => row.split("\t"));
  const asked = (trace) => new Map(sqlRows(trace, "SELECT name, count(*) AS calls, coalesce(sum(duration_ns), 0)::BIGINT AS time FROM events WHERE parent_event_id IS NULL GROUP BY name").map((row) => [row.name, row]));
  const [a, b] = [asked(first), asked(second)];
  assert.equal(rows.length, 30);
  const count = (text) => (text === "–" ? 0 : Number(text.replaceAll(",", "")));
  for (const [name, before, after] of rows) {
    assert.deepEqual([count(before), count(after)], [a.get(name)?.calls ?? 0, b.get(name)?.calls ?? 0], name);
  }
  const gap = (name) => Math.abs(Number(b.get(name)?.time ?? 0) - Number(a.get(name)?.time ?? 0));
  const gaps = rows.map(([name]) => gap(name));
  assert.deepEqual(gaps, [...gaps].sort((x, y) => y - x));
  assert.equal(gaps[0], Math.max(...[...new Set([...a.keys(), ...b.keys()])].map(gap)));
  await page.picture("compare");
  await page.filter("class = 'network'");
  await page.page.waitForFunction(() => location.hash.includes("where="));
  await page.idle();
  assert.ok((await page.texts('section[aria-label="Calls"] tbody td:first-child')).includes("recvfrom"));
  assert.deepEqual(page.faults, []);
});

test("of one trace it says how to open a second", async (t) => {
  const page = await openPage("git", "#compare");
  t.after(() => page.close());
  assert.match(await page.page.locator("#view").innerText(), /dyetrace ui .*git.* OTHER/);
});
