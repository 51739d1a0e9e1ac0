// Where bytes went: what is shown is what `dyetrace follow --json` says of the same trace.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { dyetrace, openPage } from "./page.mjs";

let page, source, target;
before(async () => {
  page = await openPage("dyed", "#trail");
  [source, target] = ["source", "target"].map((name) => page.rows(`SELECT path FROM events WHERE path LIKE '%/${name}' AND bytes > 0 LIMIT 1`)[0].path);
});
after(() => page.close());

const follow = (...words) => JSON.parse(execFileSync(dyetrace, ["follow", page.trace, ...words, "--json"], { encoding: "utf8" }));
const picks = (kind) => page.page.locator(`svg[data-chart=trail] [data-pick][aria-label^="${kind} "]`).evaluateAll((boxes) => boxes.map((box) => box.getAttribute("aria-label")));
const trail = (start, more = "") => page.go(`#trail?start=${encodeURIComponent(start)}${more}`);
const files = (hops) => new Set(hops.flatMap(({ path }) => (path?.startsWith("/") ? [path] : [])));

async function assertIsDrawn({ hops }) {
  assert.deepEqual(new Set(await picks("process")), new Set(hops.map(({ process }) => `process ${process}`)));
  assert.deepEqual(new Set(await picks("file")), new Set([...files(hops)].map((path) => `file ${path}`)));
  assert.equal(await page.page.locator('svg[data-chart=trail] [data-pick^="hop "]').count(), hops.length, "an edge for each hop of a relay");
}

test("what can be followed is offered, and a click follows it", async () => {
  await page.go("#trail");
  await page.page.getByRole("link", { name: "dye:card" }).click();
  await page.page.waitForSelector("svg[data-chart=trail]");
  await assertIsDrawn(follow("--dye", "card"));
  await page.picture("trail");
});

test("a path that is typed is followed with Enter, and Back asks where it came from", async () => {
  await page.go("#trail");
  await page.page.getByLabel("What to follow").fill(target);
  await page.page.keyboard.press("Enter");
  await page.page.waitForFunction(() => location.hash.includes("start="));
  await page.idle();
  assert.equal(follow("--path", target).hops.length, 0);
  assert.match(await page.page.locator("#trail").innerText(), /Nothing is known to have had these bytes/);
  await page.page.getByRole("button", { name: "where it came from" }).click();
  await page.page.waitForSelector("svg[data-chart=trail]");
  await assertIsDrawn(follow("--path", target, "--back"));
});

test("some bytes of a file go where follow says they go", async () => {
  await trail(`${source}:150000-150100`);
  await assertIsDrawn(follow("--path", `${source}:150000-150100`));
});

test("certainty is drawn: solid, dashed or dotted", async () => {
  await trail("dye:card");
  const { hops, links } = follow("--dye", "card");
  const certain = hops.filter(({ hop, is_start }) => is_start || links.some((link) => link.to_hop === hop && link.certainty === "certain")).length;
  const dashes = await page.page.locator('svg[data-chart=trail] path[marker-end]').evaluateAll((lines) => lines.map((line) => line.getAttribute("stroke-dasharray")));
  assert.equal(dashes.filter((dash) => dash === "").length, certain);
  assert.equal(dashes.filter((dash) => dash === "7 4").length, hops.length - certain);
  assert.ok(certain > 0 && certain < hops.length);
});

test("the table has a column per process and a line per hop, downwards in time", async () => {
  await trail("dye:card");
  await page.page.getByRole("button", { name: "table" }).click();
  await page.page.waitForSelector(".trail-table");
  const { hops } = follow("--dye", "card"), processes = [...new Set(hops.map(({ process }) => process))];
  assert.deepEqual((await page.texts(".trail-table thead th")).slice(1), processes);
  const cells = await page.page.locator(".trail-table tbody tr").evaluateAll((lines) => lines.map((line) => [...line.querySelectorAll("td")].map((cell) => cell.querySelector("a")?.textContent.split(" ")[0] ?? "")));
  assert.deepEqual(cells, hops.map(({ process, name }) => processes.map((each) => (each === process ? name : ""))));
  await page.picture("trail_table");
});

test("an operation leads to its event", async () => {
  await trail("dye:card", "&as=table");
  const { hops } = follow("--dye", "card"), last = hops.at(-1);
  await page.page.locator(`.trail-table [data-hop="${last.hop}"] a`).first().click();
  await page.page.waitForSelector("#answer tbody tr");
  const row = (await page.texts("#answer tbody td")).join(" ");
  assert.ok(row.includes(last.first_event_id) && row.includes(last.name), row);
});

test("a box that is picked shows its operations, without asking again, and its own trail", async () => {
  await trail("dye:card");
  const { hops } = follow("--dye", "card"), process = hops.find(({ is_start }) => !is_start).process_id;
  const asked = [];
  page.page.on("request", (request) => asked.push(request.url()));
  await page.page.locator(`[data-pick="process ${process}"]`).click();
  await page.page.waitForSelector(".picked");
  assert.deepEqual(await page.page.locator(".picked [data-hop]").evaluateAll((all) => all.map((each) => Number(each.dataset.hop))), hops.filter((hop) => hop.process_id === process).map(({ hop }) => hop));
  assert.ok(!asked.some((url) => url.endsWith("/follow")));
  await page.page.goBack();
  await page.page.waitForFunction(() => document.querySelector(".picked") === null);
  await page.page.locator(`[data-pick][aria-label="file ${source}"]`).press("Enter");
  await page.page.getByRole("link", { name: "where it came from" }).click();
  await page.page.waitForFunction(() => location.hash.includes("direction=back"));
});

test("a start that is none says what one is", async () => {
  await trail("nonsense");
  assert.match(await page.page.locator("#trail .error").innerText(), /dye:NAME/);
  await trail("dye:nobody");
  assert.match(await page.page.locator("#trail .error").innerText(), /there are: card/);
});

test("the picture is saved as SVG", async () => {
  await trail("dye:card");
  const [file] = await Promise.all([page.page.waitForEvent("download"), page.page.getByRole("button", { name: "Save trail as SVG" }).click()]);
  assert.equal(file.suggestedFilename(), "trail.svg");
});

test("hostile names are text, and what to record is said where content lacks", async (t) => {
  const other = await openPage("hostile", "#trail");
  t.after(() => other.close());
  const [{ path }] = other.rows("SELECT path FROM events WHERE path LIKE '%<img%' AND bytes > 0 LIMIT 1");
  await other.go(`#trail?direction=back&start=${encodeURIComponent(path)}`);
  assert.equal(await other.page.locator(`[data-pick][aria-label="file ${path}"]`).count(), 1);
  assert.equal(await other.page.locator("#view img").count(), 0);
  assert.match(await other.page.locator("#trail .lacking").innerText(), /--content=anchors/);
  assert.deepEqual(other.faults, []);
});

test("nothing went wrong in the browser but for the two starts that are none", () =>
  assert.deepEqual(page.faults.map((fault) => /status of (40[04])/.exec(fault)?.[1] ?? fault), ["400", "404"]));
