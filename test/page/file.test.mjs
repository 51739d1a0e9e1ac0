// One file: its accesses, its contents as boxes, who used it; and who talked to whom.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openPage } from "./page.mjs";

let page, object;
before(async () => {
  page = await openPage("relay", "#file");
  object = page.rows("SELECT object_id, path FROM events WHERE path LIKE '%/source' AND bytes > 0 GROUP BY ALL")[0];
});
after(() => page.close());

test("the file with most bytes is first, and a click shows it", async () => {
  await page.go("#file");
  const [first] = page.rows("SELECT path FROM events WHERE object_type = 'file' AND object_id IS NOT NULL GROUP BY object_id, path ORDER BY coalesce(sum(bytes), 0) DESC, count(*) DESC, object_id LIMIT 1");
  const link = page.part("Files").locator("tbody a").first();
  assert.equal(await link.getAttribute("title"), first.path);
  await link.click();
  await page.page.waitForSelector('section[aria-label="Access pattern"] svg');
  assert.match(await page.part("File").innerText(), new RegExp(first.path.split("/").at(-1)));
});

test("a search leaves files whose path contains it", async () => {
  await page.go("#file");
  await page.page.locator("input[type=search]").fill("/source");
  await page.page.locator("input[type=search]").press("Enter");
  await page.page.waitForFunction(() => location.hash.includes("like="));
  await page.idle();
  assert.equal(await page.part("Files").locator("tbody tr").count(), 1);
});

test("each read is a line in its access pattern", async () => {
  await page.go(`#file?object=${object.object_id}`);
  const reads = page.number(`SELECT count(*) FROM events WHERE object_id = ${object.object_id} AND name = 'read' AND bytes > 0`);
  assert.equal(await page.page.locator("svg[data-chart=reads] g[aria-label=link] path").count(), reads);
});

test("each read is a box whose letter is its content's", async () => {
  await page.go(`#file?object=${object.object_id}`);
  const titles = await page.page.locator('section[aria-label="Contents"] rect').evaluateAll((boxes) => boxes.map((box) => box.dataset.words));
  const asked = page.rows(`SELECT fingerprint::VARCHAR AS content FROM events WHERE object_id = ${object.object_id} AND name = 'read' AND bytes > 0 ORDER BY time, event_id`);
  assert.deepEqual(titles.map((title) => /content (-?\d+)$/.exec(title)?.[1]), asked.map(({ content }) => content));
});

test("who used it is said with their bytes", async () => {
  await page.go(`#file?object=${object.object_id}`);
  const [row] = page.rows(`SELECT count(*) AS calls, any_value(pid) AS pid FROM events WHERE object_id = ${object.object_id}`);
  const shown = await page.texts('section[aria-label="Who"] tbody tr td');
  assert.match(shown[0], new RegExp(`\\[${row.pid}\\]`));
  assert.equal(Number(shown[1].replaceAll(",", "")), row.calls);
  await page.picture("file");
});

test("who talked to whom: both ends of a connection are processes, with the bytes that went", async () => {
  await page.go("#sockets");
  const links = page.rows(
    "WITH ends AS (SELECT DISTINCT connection_id, pid FROM events WHERE connection_id IS NOT NULL AND class = 'network' AND bytes > 0) " +
      "SELECT DISTINCT a.pid AS pid, b.pid AS peer FROM ends a JOIN ends b ON a.connection_id = b.connection_id AND a.pid <> b.pid",
  );
  const shown = (await page.texts('section[aria-label="Who talked to whom"] tbody tr')).map((row) => row.split("\t").slice(0, 2).map((name) => Number(/\[(\d+)\]$/.exec(name)?.[1])));
  assert.ok(links.length >= 6, "the relay has three connections");
  for (const { pid, peer } of links) {
    assert.ok(shown.some(([a, b]) => a === pid && b === peer), `${pid} talked to ${peer}: ${JSON.stringify(shown)}`);
  }
  const sent = page.number("SELECT sum(bytes) FROM events WHERE connection_id IS NOT NULL AND name IN ('sendto', 'write') AND bytes > 0");
  assert.ok(sent > 15e6);
  await page.picture("sockets");
  await page.page.getByRole("button", { name: "graph" }).click();
  await page.page.waitForSelector("svg[data-chart=graph]");
  assert.ok((await page.page.locator("svg[data-chart=graph] path").count()) >= links.length);
});

test("nothing went wrong in the browser", () => assert.deepEqual(page.faults, []));
