// The overview and what all views share: its numbers are SQL's, its links lead to their events, the address holds the state.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openPage } from "./page.mjs";

const WHOLE = "kind = 'syscall' AND parent_event_id IS NULL";
let page;
before(async () => (page = await openPage("git", "#overview")));
after(() => page.close());

const shownNumber = async (name) => Number((await page.part("In short").locator("li", { hasText: name }).locator("a").innerText()).replaceAll(",", ""));

test("its totals are what SQL says", async () => {
  await page.go("#overview");
  assert.equal(await shownNumber("calls"), page.number(`SELECT count(*) FROM events WHERE ${WHOLE}`));
  assert.equal(await shownNumber("errors"), page.number(`SELECT count(*) FROM events WHERE ${WHOLE} AND is_failure(error, class)`));
  assert.equal(await shownNumber("processes"), page.number("SELECT count(DISTINCT process_id) FROM events"));
});

test("its busiest processes are SQL's", async () => {
  await page.go("#overview");
  const shown = await page.texts('section[aria-label="Busiest processes"] tbody tr td:nth-child(2)');
  const asked = page.rows(`SELECT count(*) AS calls FROM events WHERE ${WHOLE} GROUP BY process_id ORDER BY calls DESC, process_id LIMIT 12`);
  assert.deepEqual(shown.map((text) => Number(text.replaceAll(",", ""))), asked.map(({ calls }) => calls));
});

test("a number leads to its events", async () => {
  await page.go("#overview");
  await page.part("Busiest processes").locator("tbody tr").first().locator("td:nth-child(2) a").click();
  await page.page.waitForSelector("#answer table");
  const [first] = page.rows(`SELECT any_value(pid) AS pid, count(*) AS calls FROM events WHERE ${WHOLE} GROUP BY process_id ORDER BY calls DESC, process_id LIMIT 1`);
  const processes = new Set(await page.texts("#answer tbody td:nth-child(2)"));
  assert.equal(processes.size, 1);
  assert.match([...processes][0], new RegExp(`\\[${first.pid}\\]$`));
});

test("a process that is clicked becomes a condition of the filter, and back takes it away", async () => {
  await page.go("#overview");
  const all = await shownNumber("calls");
  await page.part("Busiest processes").locator("tbody tr a").first().click();
  await page.page.waitForFunction(() => location.hash.includes("where="));
  await page.idle();
  const [id, calls] = [new URLSearchParams(page.page.url().split("?")[1]).get("where"), await shownNumber("calls")];
  assert.equal(calls, page.number(`SELECT count(*) FROM events WHERE ${WHOLE} AND ${id}`));
  assert.ok(calls < all);
  await page.page.goBack();
  await page.page.waitForFunction(() => !location.hash.includes("where="));
  await page.idle();
  assert.equal(await shownNumber("calls"), all);
});

test("the filter bar takes the filter language, and says what is wrong with what is none", async () => {
  await page.go("#overview");
  await page.filter("error IS NOT NULL");
  await page.page.waitForFunction(() => location.hash.includes("where="));
  await page.idle();
  assert.equal(await shownNumber("calls"), page.number(`SELECT count(*) FROM events WHERE ${WHOLE} AND error IS NOT NULL`));
  await page.filter("pth = 'x'");
  await page.page.waitForFunction(() => document.querySelector("#filter-error").textContent !== "");
  assert.match(await page.page.locator("#filter-error").innerText(), /no column 'pth', did you mean 'path'/);
  assert.match(decodeURIComponent(page.page.url()), /error\+IS\+NOT\+NULL/, "the filter that held still holds");
});

test("it completes names of columns", async () => {
  await page.go("#overview");
  await page.page.locator("#filter .cm-content").click();
  await page.page.keyboard.type("file_off");
  await page.completes("file_offset");
});

test("a stretch that is brushed in a chart is selected in all views", async () => {
  await page.go("#overview");
  const chart = await page.part("Over time").locator("svg").boundingBox();
  await page.page.mouse.move(chart.x + chart.width * 0.3, chart.y + 60);
  await page.page.mouse.down();
  await page.page.mouse.move(chart.x + chart.width * 0.6, chart.y + 60, { steps: 5 });
  await page.page.mouse.up();
  await page.page.waitForFunction(() => location.hash.includes("from="));
  await page.idle();
  const words = new URLSearchParams(page.page.url().split("?")[1]);
  const [from, to] = [Number(words.get("from")), Number(words.get("to"))];
  assert.ok(from > 0 && to > from);
  const asked = page.number(
    `SELECT count(*) FROM events, (SELECT epoch_ns(min(time)) AS begin FROM events) WHERE ${WHOLE} AND epoch_ns(time) - begin + coalesce(duration_ns, 0)::BIGINT >= ${from} AND epoch_ns(time) - begin <= ${to}`,
  );
  assert.equal(await shownNumber("calls"), asked);
  await page.page.keyboard.press("8");
  await page.page.waitForSelector("main[data-view=query]");
  assert.match(page.page.url(), new RegExp(`from=${from}`));
});

test("a stretch is written, too, and what is none is told", async () => {
  await page.go("#overview");
  for (const [text, from, to] of [["10 ms … 0.02", 1e7, 2e7], ["..15ms", null, 15e6], ["5000 µs to end", 5e6, null], ["0:00:00.002 - 1 min", 2e6, 60e9]]) {
    await page.page.keyboard.press("r");
    await page.page.keyboard.insertText(text);
    await page.page.keyboard.press("Enter");
    await page.page.waitForFunction(([from, to]) => {
      const words = new URLSearchParams(location.hash.split("?")[1]);
      return words.get("from") === from && words.get("to") === to;
    }, [from, to].map((ns) => (ns === null ? null : String(ns))));
    await page.idle();
    await page.page.keyboard.press("Escape");
  }
  await page.page.locator("#stretch").fill("tomorrow");
  await page.page.keyboard.press("Enter");
  assert.match(await page.page.locator("#filter-error").innerText(), /'tomorrow' is no stretch of time/);
  await page.page.getByRole("button", { name: "all time" }).click();
  await page.page.waitForFunction(() => !location.hash.includes("from=") && document.querySelector("#stretch").value === "");
  await page.idle();
});

test("keys: ? lists them, a number goes to a view, t changes the theme", async () => {
  await page.go("#overview");
  await page.page.keyboard.press("?");
  const keys = await page.page.locator("dialog").innerText();
  assert.match(keys, /Query/);
  const licences = await (await page.page.request.get(await page.page.locator("dialog a").evaluate((link) => link.href))).text();
  for (const name of ["@codemirror/view", "@observablehq/plot", "d3-scale"]) assert.ok(licences.includes(`=== ${name} `), name);
  await page.page.keyboard.press("Escape");
  await page.page.waitForFunction(() => document.querySelector("dialog") === null);
  const theme = await page.page.evaluate(() => document.documentElement.dataset.theme);
  await page.page.keyboard.press("t");
  assert.notEqual(await page.page.evaluate(() => document.documentElement.dataset.theme), theme);
  await page.page.keyboard.press("t");
  await page.idle();
});

test("a chart is saved as SVG and PNG", async () => {
  await page.go("#overview");
  for (const [format, head] of [["SVG", "<svg"], ["PNG", "\x89PNG"]]) {
    const [file] = await Promise.all([page.page.waitForEvent("download"), page.part("Over time").getByRole("button", { name: format }).click()]);
    const { readFileSync } = await import("node:fs");
    assert.ok(readFileSync(await file.path(), "latin1").startsWith(head), format);
  }
});

test("long work says how much of it is done, and can be stopped and asked again", async () => {
  const { page: tab } = page, cancelled = [], held = [];
  const note = (request) => request.url().endsWith("/api/cancel") && cancelled.push(JSON.parse(request.postData()).question);
  const isAnswered = (name) => ["overview_totals", "overview_moments"].includes(name); // in short, and over time
  await tab.route("**/api/rows", async (route) => {
    if (!isAnswered(JSON.parse(route.request().postData()).name)) {
      await new Promise((done) => held.push(done)); // until it was asked again
    }
    await route.continue().catch(() => undefined); // the page may be gone
  });
  tab.on("request", note);
  await tab.goto(page.server.url + "#query");
  await tab.goto(page.server.url + "#overview");
  await tab.waitForFunction(() => /[2-9] of (9|1\d) answered · [1-9]\d* s/.test(document.querySelector("#waiting:not([hidden])")?.innerText ?? ""));
  await tab.getByRole("button", { name: "Stop" }).click();
  await tab.waitForFunction(() => document.querySelector("#waiting").hidden);
  const waited = (await page.texts("#view section")).filter((text) => text.includes("stopped")).length;
  assert.ok(waited > 5, `${waited} panels were stopped`);
  await page.idle();
  assert.ok(cancelled.length >= waited && new Set(cancelled).size === cancelled.length, `${cancelled}`);
  tab.off("request", note);
  await tab.unroute("**/api/rows");
  held.forEach((done) => done());
  await tab.getByRole("button", { name: "Ask again" }).click();
  await page.idle();
  const texts = await page.texts("#view");
  assert.ok(!texts.join().includes("topped"), texts.join());
  assert.equal(Number((await page.part("In short").locator("li", { hasText: "calls" }).locator("a").innerText()).replaceAll(",", "")), page.number("SELECT count(*) FROM events WHERE kind = 'syscall' AND parent_event_id IS NULL"));
});

test("nothing went wrong in the browser, and nothing was fetched from elsewhere", async () => {
  await page.go("#overview");
  await page.picture("overview");
  assert.deepEqual(page.faults.filter((fault) => !fault.includes("400")), []);
});
