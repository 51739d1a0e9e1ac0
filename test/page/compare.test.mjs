// Two traces beside each other: tables and timelines say what SQL says of each.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PATIENCE_MS, openPage, recordedTrace, sqlRows } from "./page.mjs";

test("calls of both stand beside each other as SQL counts them, what differs most in time first", async (t) => {
  const [first, second] = [recordedTrace("git"), recordedTrace("relay")];
  const page = await openPage("git", "#compare", { others: ["relay"] });
  t.after(() => page.close());
  const rows = (await page.texts('section[aria-label="Calls"] tbody tr')).map((row) => row.split("\t"));
  const asked = (trace) => new Map(sqlRows(trace, "SELECT name, count(*) AS calls, coalesce(sum(duration_ns), 0)::BIGINT AS time FROM events WHERE kind = 'syscall' AND parent_event_id IS NULL GROUP BY name").map((row) => [row.name, row]));
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

const CALLS = "FROM events WHERE parent_event_id IS NULL";
const number = (text) => (text === "–" ? 0 : Number(text.replaceAll(",", "")));
const drawn = (page) => page.page.locator(".timeline.pair canvas[data-state=drawn]").waitFor();

async function openPair(t, [first, second], hash = "#compare", options = {}) {
  const page = await openPage(first, hash, { others: [second], ...options });
  t.after(async () => {
    await page.close();
    assert.deepEqual(page.faults, []);
  });
  await drawn(page);
  return { page, traces: [first, second].map(recordedTrace) };
}

async function pairRows(page) {
  await page.page.getByText("What is in both, as a table").click();
  const rows = page.page.locator(".timeline.pair details tbody tr");
  await rows.first().waitFor();
  return rows.evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
}

test("timelines of both: processes of the same name stand beside each other in the order of their begin, with the calls that SQL counts", async (t) => {
  const { page, traces } = await openPair(t, ["git", "git_again"], "#compare?order=time");
  await page.page.locator("#pair-words", { hasText: " in view" }).waitFor();
  await page.idle(); // what wide calls act on is written into them, if any is wide beside a trace that takes longer
  await page.picture("compare");
  const rows = (await pairRows(page)).filter(([, what]) => what === "process");
  const asked = traces.map((trace) => sqlRows(trace, `SELECT any_value(pid) AS pid, count(*) AS calls ${CALLS} GROUP BY process_id ORDER BY process_id`));
  const pidOf = (label) => (label === "–" ? null : Number(/\[(\d+)\]$/.exec(label)[1]));
  for (const [side, processes] of asked.entries()) {
    const shown = rows.map((row) => ({ pid: pidOf(row[2 + side]), calls: number(row[7 + side]) })).filter(({ pid }) => pid !== null);
    assert.deepEqual(new Map(shown.map(({ pid, calls }) => [pid, calls])), new Map(processes.map(({ pid, calls }) => [Number(pid), Number(calls)])));
  }
  const places = [0, 1].map((side) => new Map(asked[side].map(({ pid }, index) => [Number(pid), index])));
  for (const words of new Set(rows.map(([name]) => name))) {
    const same = rows.filter(([name, , first, second]) => name === words && first !== "–" && second !== "–");
    assert.ok(same.every(([, , first, second]) => first.startsWith(words) && second.startsWith(words)));
    for (const side of [0, 1]) {
      const order = same.map((row) => places[side].get(pidOf(row[2 + side])));
      assert.deepEqual(order, [...order].sort((a, b) => a - b), `${words} of side ${side}`);
    }
  }
  assert.ok(rows.filter(([, , first, second]) => first !== "–" && second !== "–").length >= 5, "a clone runs at least five processes");
});

test("what differs most in time comes first", async (t) => {
  const { page } = await openPair(t, ["git", "relay"]);
  const rows = (await pairRows(page)).filter(([, what]) => what === "process");
  const ns = (text) => (text === "–" ? 0 : Number.parseFloat(text) * { s: 1e9, ms: 1e6, "µs": 1e3, ns: 1 }[text.split(" ")[1]]);
  const gaps = rows.map((row) => Math.abs(ns(row[5]) - ns(row[4])));
  gaps.slice(1).forEach((gap, index) => assert.ok(gap <= gaps[index] * 1.1 + 1e6, `${gap} after ${gaps[index]}`)); // as far as two digits tell
  const [file] = await Promise.all([page.page.waitForEvent("download"), page.page.getByRole("button", { name: "Save timelines as SVG" }).click()]);
  const text = readFileSync(await file.path(), "utf8");
  const onlyOne = rows.filter(([, , first, second]) => first === "–" || second === "–").length;
  assert.ok(onlyOne > 0 && text.split("not in the").length - 1 >= Math.min(onlyOne, 3), "what is only in one is said");
  assert.ok(text.split("<rect").length > 300, "it has runs");
});

test("to zoom and to move is to do it in both", async (t) => {
  const { page } = await openPair(t, ["git", "git_again"]);
  const asked = { timeline: [], other_timeline: [] };
  page.page.on("request", (request) => asked[request.url().split("/").at(-1)]?.push(JSON.parse(request.postData())));
  await page.page.locator(".timeline.pair canvas").focus();
  for (const key of ["w", "w", "w", "d", "d"]) {
    await page.page.keyboard.press(key);
    await drawn(page);
  }
  await page.page.waitForFunction(() => /view=\d+-\d+/.test(location.hash)); // nobody moves any more
  const windows = Object.values(asked).map((questions) => questions.map(({ from, to }) => [from, to]));
  assert.ok(windows[0].length >= 4);
  assert.deepEqual(windows[0], windows[1]);
  const spans = windows[0].map(([from, to]) => to - from);
  assert.ok(spans[2] < spans[0] / 2, `${spans}`);
});

// The process with one thread that was there longest is there for an hour: it differs most, and there is nothing to fold beneath it.
const stretchOneThread = (tab) =>
  tab.route("**/api/other_timeline_rows", async (route) => {
    const response = await route.fetch({ timeout: PATIENCE_MS }), answer = await response.json(), { kind, threads, begin, end } = answer.rows;
    const [row] = kind.flatMap((each, index) => (each === 1 && threads[index] === 1 ? [index] : [])).sort((a, b) => end[b] - begin[b] - (end[a] - begin[a]));
    end[row] = begin[row] + 3600e9;
    await route.fulfill({ response, json: answer });
  });

for (const [which, prepare] of [["as they were recorded", undefined], ["where a process with one thread differs most", stretchOneThread]]) {
  test(`what is folded stands in the address, and is folded again after a reload: ${which}`, async (t) => {
    const { page } = await openPair(t, ["git", "git_again"], "#compare", { prepare });
    const rows = await pairRows(page);
    const lane = rows.findIndex(([, what], index) => what === "process" && rows[index + 1]?.[1] === "thread"); // which one that is depends on how long each was there
    assert.ok(lane > 0, `a clone has processes with several threads: ${rows.map(([name, what]) => `${what} ${name}`)}`);
    const beneath = rows.slice(lane + 1).findIndex(([, what]) => what !== "thread"), folded = rows.length - (beneath < 0 ? rows.length - lane - 1 : beneath);
    const settled = (many) => page.page.locator("#pair-words", { hasText: new RegExp(`· ${many} lanes,`) }).waitFor();
    await settled(rows.length);
    const canvas = page.page.locator(".timeline.pair canvas");
    await canvas.focus();
    for (let half = 0; half < 2 * lane; ++half) await canvas.press("ArrowDown");
    await canvas.press("Enter");
    await settled(folded);
    assert.notEqual(await page.page.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("fold")), null);
    await page.page.reload();
    await drawn(page);
    await settled(folded);
  });
}

test("a call of the second trace that is clicked is the one that SQL has there", async (t) => {
  const { page, traces } = await openPair(t, ["git", "git_again"], "#compare?order=time", { colorScheme: "dark" });
  const canvas = page.page.locator(".timeline.pair canvas");
  await canvas.focus();
  for (let i = 0; i < 5; ++i) await canvas.press("ArrowDown"); // node, process, its first thread: the second half
  await canvas.press("ArrowRight");
  await canvas.press("Enter");
  const cell = (column) => page.page.locator(`.timeline.pair table.event td[data-column="${column}"]`);
  await cell("event_id").waitFor();
  const [event] = sqlRows(traces[1], `SELECT name, tid, duration_ns ${CALLS} AND event_id = ${await cell("event_id").innerText()}`);
  assert.deepEqual([await cell("name").innerText(), await cell("tid").innerText(), await cell("duration_ns").getAttribute("title")], [event.name, String(event.tid), String(event.duration_ns)]);
  assert.match(await page.page.locator("#pair-words").innerText(), /^second · git\[/);
  const box = await canvas.boundingBox();
  await page.page.mouse.move(box.x + 214, box.y + 26 + 4 * 17 + 8);
  await page.page.mouse.down();
  await page.page.mouse.up();
  assert.match(await page.page.locator(".tip.pinned").innerText(), /^first · git\[/);
  await page.picture("compare-timelines-dark");
});

test("a filter that leaves nothing in either says so, and one that leaves something is drawn anew", async (t) => {
  const { page } = await openPair(t, ["git", "git_again"]);
  await page.filter("comm = 'nobody'");
  await page.page.getByText("no call in either").waitFor();
  await page.filter("class = 'pipe'");
  await drawn(page);
});
