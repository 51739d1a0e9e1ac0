// Sockets over a cable that loses packets: what was sent again.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openPage } from "./page.mjs";

let page;
before(async () => (page = await openPage("lossy", "#sockets")));
after(() => page.close());

const firstCell = async (column) => {
  const titles = await page.texts('section[aria-label="Who talked to whom"] thead th');
  return page.part("Who talked to whom").locator("tbody tr").first().locator("td").nth(titles.findIndex((title) => title.startsWith(column)));
};

test("what TCP sent again stands beside what was sent, and leads to each time", async () => {
  await page.go("#sockets");
  const segments = page.number("SELECT sum(segments) FROM retransmissions");
  assert.ok(segments > 10, "the cable loses packets");
  const shown = await firstCell("retransmissions");
  assert.equal(Number((await shown.innerText()).replaceAll(",", "")), segments);
  assert.match(await page.part("Who talked to whom").innerText(), new RegExp(`TCP sent ${segments.toLocaleString("en")} segments again`));
  await shown.locator("a").click();
  await page.page.waitForFunction(() => location.hash.startsWith("#query"));
  await page.idle();
  await page.page.waitForSelector("main table tbody tr");
  assert.equal(await page.page.locator("main table tbody tr").count(), Math.min(page.number("SELECT count(*) FROM retransmissions"), 1000));
});

test("of a stretch of time it is what was sent again in it", async () => {
  const BEGIN = "(SELECT epoch_ns(min(time)) FROM events)"; // taken off in SQL: JavaScript's numbers round times since 1970
  const [{ middle, end }] = page.rows(`SELECT (SELECT epoch_ns(median(time)) FROM retransmissions) - ${BEGIN} AS middle, epoch_ns(max(time)) - ${BEGIN} + 1000000000 AS end FROM events`).map((row) => ({ middle: Number(row.middle), end: Number(row.end) }));
  const shown = [];
  for (const [from, to] of [[0, middle], [middle + 1, end]]) {
    await page.go(`#sockets?from=${from}&to=${to}`);
    const asked = page.number(`SELECT sum(segments) FROM retransmissions WHERE epoch_ns(time) - ${BEGIN} BETWEEN ${from} AND ${to}`);
    shown.push(asked);
    assert.match(await page.part("Who talked to whom").innerText(), new RegExp(`TCP sent ${asked.toLocaleString("en")} segments again`));
  }
  assert.equal(shown[0] + shown[1], page.number("SELECT sum(segments) FROM retransmissions"));
});

test("who shows the first of many says of how many", async (t) => {
  const many = await openPage("peers", "#sockets");
  t.after(() => many.close());
  const all = many.number("SELECT count(*) FROM conversations()");
  assert.ok(all >= 320, "a datagram to each of 320");
  assert.match(await many.part("Who talked to whom").innerText(), new RegExp(`the 300 with most bytes of ${all} conversations`));
  await many.go("#file");
  const files = many.number("SELECT count(DISTINCT object_id) FROM file_uses() WHERE object_type = 'file'");
  assert.ok(files > 230);
  assert.match(await many.part("Files").innerText(), new RegExp(`the 200 with most bytes of ${files}`));
  await many.page.locator("input[type=search]").fill("/file22");
  await many.page.waitForFunction(() => /\b11, those with most bytes first/.test(document.querySelector('section[aria-label="Files"]').innerText));
});
