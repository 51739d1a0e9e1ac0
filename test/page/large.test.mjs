// A trace of a day with 300,000 events, written through the real format by bench/timeline_trace.cpp; ten million in ./check --all.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { build, dyetrace, makeFolder, openTrace } from "./page.mjs";

const EVENTS = Number(process.env.DYETRACE_LARGE_EVENTS ?? 300_000);
const MEMORY_MAX_KB = 1_000_000;
const folder = makeFolder("large");
const trace = join(folder, "day");
let page;
before(async () => {
  execFileSync(join(build, "bench/programs/bench_timeline_trace"), [trace, String(EVENTS), "100"], { stdio: "ignore" });
  execFileSync(dyetrace, ["seal", trace], { stdio: "ignore" });
  page = await openTrace(trace, "#query");
  page.page.setDefaultTimeout(300_000);
});
after(() => page.close());

const words = () => page.page.locator("#trace").innerText();

test("it has as many events as were written", async () => {
  assert.match(await words(), new RegExp(`${EVENTS.toLocaleString("en")} events`));
});

test("the timeline shows all of it, and less of it when one goes nearer", async () => {
  await page.go("#timeline");
  await page.page.waitForFunction((events) => document.body.innerText.includes(`${events} events in all`), EVENTS.toLocaleString("en"));
  await page.page.locator("#view canvas").focus();
  for (let step = 0; step < 10; ++step) {
    await page.page.keyboard.press("w");
  }
  await page.page.waitForFunction(() => /^\d+ min in view/.test(document.querySelector("#timeline-words").innerText));
  assert.deepEqual(await page.texts("#view .error"), []);
});

test("the overview counts what SQL counts", async () => {
  await page.go("#overview");
  const shown = await page.part("In short").locator("li", { hasText: "calls" }).locator("a").innerText();
  assert.equal(Number(shown.replaceAll(",", "")), page.number("SELECT count(*) FROM events WHERE kind = 'syscall' AND parent_event_id IS NULL"));
  assert.deepEqual(await page.texts("#view .error"), []);
});

test("a filter leaves what it says, in every view that asks in SQL", async () => {
  const where = encodeURIComponent("duration_ns > 100000");
  await page.go(`#query?sql=${encodeURIComponent("SELECT count(*) AS n FROM selected")}&where=${where}`);
  assert.deepEqual(await page.texts("#answer tbody td"), [String(page.number("SELECT count(*) FROM events WHERE duration_ns > 100000"))]);
  for (const view of ["file", "sockets"]) {
    await page.go(`#${view}?where=${where}`);
    assert.deepEqual(await page.texts("#view .error"), [], view);
  }
});

// A page that is left open must give memory back: others want it, too.
test("all views of ten million events take less than a gigabyte", { skip: EVENTS < 10_000_000 && "for ./check --all" }, async () => {
  for (const view of ["overview", "timeline", "space-time", "file", "sockets", "trail"]) {
    await page.go(`#${view}`);
    assert.deepEqual(await page.texts("#view .error"), [], view);
  }
  const status = readFileSync(`/proc/${page.server.process.pid}/status`, "utf8");
  assert.ok(Number(/VmHWM:\s+(\d+) kB/.exec(status)[1]) < MEMORY_MAX_KB, status);
});

test("nothing went wrong in the browser", () => assert.deepEqual(page.faults, []));
