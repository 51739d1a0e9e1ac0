// SQL in the browser: completion, table, chart, files, errors, cancelling.

import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openPage, openTrace, serve } from "./page.mjs";

let page;
before(async () => (page = await openPage("git", "#query")));
after(() => page.close());

const SQL = "SELECT name, count(*) AS calls FROM events GROUP BY ALL ORDER BY calls DESC, name LIMIT 5";
const ask = (sql, more = "") => page.go(`#query?sql=${encodeURIComponent(sql)}${more}`);

// Below what the kernel gives to those who connect: it stays free until it is listened on, also again after a restart.
const freePort = () =>
  new Promise((done) => {
    const port = randomInt(10_000, 20_000);
    const server = createServer().once("error", () => done(freePort()));
    server.listen(port, "127.0.0.1", () => server.close(() => done(port)));
  });

test("rows are those of dyetrace sql", async () => {
  await ask(SQL);
  const shown = (await page.texts("#answer tbody tr")).map((row) => row.split("\t"));
  assert.deepEqual(shown, page.rows(SQL).map(({ name, calls }) => [name, String(calls)]));
});

test("what EXPLAIN draws has lines, and other text none", async () => {
  await ask("EXPLAIN SELECT 1");
  assert.match((await page.texts("#answer tbody td"))[1], /^┌─+┐\n│/);
  await ask("SELECT concat('a', chr(10), chr(9), 'b') AS text");
  assert.deepEqual(await page.texts("#answer tbody td"), [String.raw`a\n\tb`]);
});

test("what is typed is run with Ctrl+Enter, stands in the address, and is there again after a reload", async () => {
  await page.go("#query");
  const editor = page.page.locator(".editor .cm-content");
  await editor.fill("SELECT 6 * 7 AS answer");
  await page.page.keyboard.press("Escape");
  await page.page.locator(".editor .cm-content").press("Control+Enter");
  await page.page.waitForSelector("#answer table");
  assert.deepEqual(await page.texts("#answer tbody td"), ["42"]);
  await page.page.reload();
  await page.page.waitForSelector("#answer table");
  assert.deepEqual(await page.texts("#answer tbody td"), ["42"]);
});

test("names of tables and columns are completed", async () => {
  await page.go("#query");
  await page.page.locator(".editor .cm-content").fill("");
  await page.page.keyboard.type("SELECT duration_");
  await page.completes("duration_ns"); // the list of SELECT stands until this word's is there
});

test("a statement that is wrong says what and where", async () => {
  await ask("SELECT pathh FROM events");
  assert.match(await page.page.locator("#answer .error").innerText(), /pathh/);
});

test("selected is what the filter leaves", async () => {
  await ask("SELECT count(*) AS n FROM selected", "&where=error+IS+NOT+NULL");
  assert.deepEqual(await page.texts("#answer tbody td"), [String(page.number("SELECT count(*) FROM events WHERE error IS NOT NULL"))]);
  await ask("SELECT * FROM selected LIMIT 1");
  assert.ok((await page.texts("#answer th")).includes("arguments"));
});

test("an answer is drawn as a chart", async () => {
  await ask(SQL, "&as=chart");
  assert.equal(await page.page.locator("#answer svg[data-chart=query] g[aria-label=bar] rect").count(), 5);
  await page.picture("query");
});

test("rows are saved as CSV and Parquet", async () => {
  await ask(SQL);
  const saved = async (format) => {
    const [file] = await Promise.all([page.page.waitForEvent("download"), page.page.getByRole("button", { name: format, exact: true }).click()]);
    return readFileSync(await file.path());
  };
  const lines = (await saved("CSV")).toString().trim().split("\n");
  assert.deepEqual(lines.slice(1).map((line) => line.trim()), page.rows(SQL).map(({ name, calls }) => `${name},${calls}`));
  assert.equal((await saved("Parquet")).subarray(0, 4).toString(), "PAR1");
});

test("a question that takes long can be cancelled, and the next is answered", async () => {
  await page.page.goto(`${page.server.url}#query?sql=${encodeURIComponent("SELECT count(*) FROM range(1000000000) a, range(1000) b")}`);
  await page.page.getByRole("button", { name: "Cancel" }).click();
  await ask("SELECT 1 AS one");
  assert.deepEqual(await page.texts("#answer tbody td"), ["1"]);
});

test("two pages of a server do not cancel each other's questions: each names its own in another way", async (t) => {
  const names = [], other = await page.page.context().newPage();
  t.after(() => other.close());
  const note = (request) => request.url().includes("/api/") && names.push(request.headers().question);
  for (const tab of [page.page, other]) {
    tab.on("request", note);
    await tab.goto("about:blank"); // from there a page begins to count
    await tab.goto(`${page.server.url}#query?sql=${encodeURIComponent(SQL)}`);
    await tab.waitForSelector("#answer table");
    tab.off("request", note);
  }
  assert.ok(names.length >= 4 && new Set(names).size === names.length && !names.includes(undefined), `${names}`);
});

test("a server that is killed is said, and one that is back at its address answers without a reload", async (t) => {
  const port = await freePort();
  const env = { XDG_STATE_HOME: mkdtempSync(join(tmpdir(), "dyetrace-page-")) };
  const again = await openTrace(page.trace, `#query?sql=${encodeURIComponent("SELECT 1 AS one")}`, { words: ["--port", String(port)], env });
  t.after(() => again.close());
  const { url } = again.server;
  again.server.process.kill("SIGKILL");
  await again.server.ended;
  await again.page.evaluate(() => (location.hash = "#query?sql=SELECT+2+AS+two"));
  await again.page.waitForSelector("#answer .error");
  assert.match(await again.page.locator("#answer .error").innerText(), /no longer answers/);
  again.server = await serve([page.trace, "--port", String(port)], env);
  assert.equal(again.server.url, url);
  await again.page.waitForSelector("#answer table");
  assert.deepEqual(await again.texts("#answer tbody td"), ["2"]);
});
