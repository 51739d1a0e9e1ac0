// Traces that are not like others: hostile names, nothing in it, one event; one that is being recorded.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, openTrace, sqlNumber, startRecording } from "./page.mjs";

const VIEWS = ["overview", "timeline", "space-time", "trail", "file", "sockets", "compare", "query"];
const shownNames = (page) => page.page.evaluate(() => [...document.querySelectorAll("nav a")].map((link) => link.getAttribute("href").replace(/^#|\?.*/g, "")));

const HARMFUL = /[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e]|\u{e0041}/u;

// Nothing turns the terminal or the direction, or hides; nothing that was recorded became an element, and no script ran.
async function checkHarmless(page, view) {
  assert.doesNotMatch(await page.page.evaluate(() => document.body.innerText), HARMFUL, view);
  assert.equal(await page.page.locator("#view img, #view script, #view b, #view i").count(), 0, view);
  assert.doesNotMatch(await page.page.title(), /owned/, view);
}

async function visitAll(page, check = async () => {}) {
  assert.deepEqual(await shownNames(page), VIEWS);
  for (const view of VIEWS) {
    await page.go(`#${view}`);
    await check(page, view);
    assert.equal(await page.page.locator("#view .error").count(), 0, `${view}: ${await page.texts("#view .error")}`);
  }
  assert.deepEqual(page.faults, []);
}

test("names that are markup, escapes, right-to-left, no text or 4,000 characters long are text in every view", async (t) => {
  const page = await openPage("hostile", "#overview");
  t.after(() => page.close());
  await page.page.evaluate(() => (window.alert = () => (document.title = "owned")));
  await visitAll(page, checkHarmless);
  const sql = "SELECT DISTINCT path, comm FROM events WHERE path IS NOT NULL ORDER BY length(path) DESC LIMIT 900";
  await page.go(`#query?sql=${encodeURIComponent(sql)}`);
  const shown = (await page.texts("#answer tbody td")).join("\n");
  for (const name of ["<img src=x onerror=alert(1)>", "<script>document.title='owned'<", "\\x1b[31mred", "\\u202egnp.exe", "';DROP TABLE events;--", String.raw`unseen\u200b\u2028\u009b\u{e0041}\n\x9b.txt`]) {
    assert.ok(shown.includes(name), name);
  }
  assert.ok((await page.texts("#answer tbody td:first-child"))[0].length > 3000, "the deepest folder has 4,000 characters");
  await checkHarmless(page, "query");
  await page.go(`#query?sql=${encodeURIComponent("SELECT DISTINCT exe, command FROM processes")}`);
  const programs = (await page.texts("#answer tbody td")).join("\n");
  for (const name of ["/run <img src=x onerror=alert(1)>", "--word=<script>document.title=", "--word=\\x1b[31mred", "\\u202e<img src=x onerror=alert(2)>"]) {
    assert.ok(programs.includes(name), `${name}: ${programs}`);
  }
  await checkHarmless(page, "programs");
});

test("a trace without an event is shown as one", async (t) => {
  const page = await openPage("empty", "#overview");
  t.after(() => page.close());
  await visitAll(page);
  await page.go("#overview");
  assert.match(await page.page.locator("#trace").innerText(), /\b0 events$/);
});

test("a trace of one event is shown in every view", async (t) => {
  const page = await openPage("one", "#overview");
  t.after(() => page.close());
  assert.equal(page.number("SELECT count(*) FROM events"), 1);
  await visitAll(page);
  assert.match(await page.page.locator("#trace").innerText(), /\b1 event( in|$)/);
});

test("a trace that is being recorded grows on the page, until its end", async (t) => {
  const recording = await startRecording(t);
  const page = await openTrace(recording.trace, "#overview");
  t.after(() => page.close());
  await page.page.evaluate(() => {
    window.calls = () => Number(document.querySelector('section[aria-label="In short"] li a')?.textContent.replaceAll(",", "") ?? "0");
  });
  await page.page.waitForFunction(() => window.calls() > 0);
  const first = await page.page.evaluate(() => window.calls());
  assert.match(await page.page.locator("#trace").innerText(), /recording/);
  await page.page.waitForFunction((first) => window.calls() > first, first);
  await recording.stop();
  await page.page.waitForFunction(() => !document.querySelector("#trace").textContent.includes("recording"));
  await page.go("#overview");
  await page.page.waitForFunction((all) => window.calls() === all, sqlNumber(recording.trace, "SELECT count(*) FROM events WHERE parent_event_id IS NULL AND kind = 'syscall'"));
  assert.deepEqual(page.faults, []);
});
