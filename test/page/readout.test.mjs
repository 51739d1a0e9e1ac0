// What a chart says at a place stands below it as text, the same as SQL says: by pointer, by click, by keys; and goes into the file.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { openPage } from "./page.mjs";

let page;
before(async () => (page = await openPage("git", "#overview")));
after(async () => {
  await page.close();
  assert.deepEqual(page.faults, []);
});

const count = (words) => Number(/([\d,]+) (calls|×)/.exec(words)?.[1].replaceAll(",", ""));
const readoutOf = (title) => page.part(title).locator(".readout");
const isSelectable = (line) => line.evaluate((element) => {
  getSelection().selectAllChildren(element);
  return getComputedStyle(element).userSelect !== "none" && getSelection().toString() === element.textContent;
});

// What all of its data say, one after the other, by keys; those after the first in the page, which is faster.
async function allWords(title) {
  const chart = page.part(title).locator("svg[data-chart]");
  await chart.focus();
  await page.page.keyboard.press("Home");
  return chart.evaluate((element) => {
    const line = element.closest("figure").querySelector(".readout");
    return Array.from(element.querySelectorAll("[data-words]"), () => {
      const words = line.textContent;
      element.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
      return words;
    });
  });
}

test("keys go through all boxes of a chart: their calls are SQL's", async () => {
  await page.go("#overview");
  const words = await allWords("Latency");
  assert.equal(words.reduce((sum, each) => sum + count(each), 0), page.number("SELECT count(*) FROM events WHERE parent_event_id IS NULL AND duration_ns IS NOT NULL AND class <> 'wait'"));
  assert.equal(new Set(words).size, words.length, "each was there once");
  await page.page.keyboard.press("Escape");
  assert.match(await readoutOf("Latency").innerText(), /^point/);
});

test("a bar says how many calls it stands for; after a click the words stay, to be copied", async () => {
  const file = page.rows("SELECT object_id FROM events WHERE object_type = 'file' AND bytes > 0 GROUP BY ALL ORDER BY count(*) DESC, object_id LIMIT 1")[0].object_id;
  await page.go(`#file?object=${file}`);
  const line = readoutOf("Latency"), bars = page.part("Latency").locator("[data-words]");
  await bars.first().hover();
  const words = await line.innerText();
  const verb = /× (\w+),/.exec(words)[1];
  await bars.first().click();
  await page.page.mouse.move(3, 3);
  assert.equal(await line.innerText(), words, "it stays");
  assert.ok(await isSelectable(line));
  assert.equal(await page.part("Latency").locator("svg title").count(), 0, "the browser shows no box of its own");
  const bands = page.rows(`SELECT floor(log2(greatest(duration_ns, 1)))::INTEGER AS band, count(*) AS calls FROM events WHERE object_id = ${file} AND _verb(name, transfer) = '${verb}' AND duration_ns IS NOT NULL GROUP BY 1 ORDER BY 1`);
  const shown = (await allWords("Latency")).filter((each) => each.includes(`× ${verb},`)).map(count);
  assert.deepEqual(shown, bands.map(({ calls }) => calls));
});

test("hand-made pictures are read in the same way: each box of a content strip says its content", async () => {
  const file = page.rows("SELECT object_id FROM events WHERE object_type = 'file' AND name = 'read' AND bytes > 0 AND fingerprint IS NOT NULL GROUP BY ALL ORDER BY count(*) DESC, object_id LIMIT 1")[0].object_id;
  await page.go(`#file?object=${file}`);
  await page.part("Contents").locator("rect").first().hover();
  const content = /content (-?\d+)$/.exec(await readoutOf("Contents").innerText())[1];
  assert.equal(page.number(`SELECT count(*) FROM events WHERE object_id = ${file} AND fingerprint = ${content} AND name = 'read' AND bytes > 0`) > 0, true);
});

test("a drag still chooses a stretch of time, and a saved chart has its titles", async () => {
  await page.go("#overview");
  const bars = page.part("Over time").locator("[data-words]"), many = await bars.count();
  const [file] = await Promise.all([page.page.waitForEvent("download"), page.page.getByRole("button", { name: "Save rates as SVG" }).click()]);
  const text = readFileSync(await file.path(), "utf8");
  assert.equal(text.split("<title>").length - 1, many);
  assert.ok(!text.includes("data-words"));
  const box = await page.part("Over time").locator("svg[data-chart]").boundingBox();
  await page.page.mouse.move(box.x + box.width / 3, box.y + 100);
  await page.page.mouse.down();
  await page.page.mouse.move(box.x + box.width / 2, box.y + 100, { steps: 4 });
  await page.page.mouse.up();
  await page.page.waitForFunction(() => location.hash.includes("from="));
});

test("a cell of a table that is clicked shows what it stands for, to the nanosecond; another click takes it back", async () => {
  await page.go("#overview");
  const row = page.part("Calls that took most time").locator("tbody tr").first(), cell = row.locator("td:nth-child(5)");
  const words = await cell.innerText();
  await cell.click();
  const [most] = page.rows("SELECT name, sum(duration_ns)::BIGINT AS time_ns FROM events WHERE parent_event_id IS NULL GROUP BY name ORDER BY time_ns DESC NULLS LAST, name LIMIT 1");
  assert.equal(await cell.innerText(), String(most.time_ns));
  assert.ok(await isSelectable(cell));
  await page.page.evaluate(() => getSelection().removeAllRanges());
  await cell.click();
  assert.equal(await cell.innerText(), words);
});
