// Every view on real traces: PostgreSQL under pgbench, a git clone, a chain of relays; at two sizes, light and dark.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage } from "./page.mjs";

const SIZES = [
  { name: "small", viewport: { width: 1280, height: 720 }, colorScheme: "light" },
  { name: "4k", viewport: { width: 3840, height: 2160 }, colorScheme: "dark" },
];
const VIEWS = ["overview", "timeline", "space-time", "trail", "file", "sockets", "compare", "query"];
const MOST_READ = "SELECT object_id, path FROM events WHERE object_type = 'file' AND bytes > 0 GROUP BY ALL ORDER BY sum(bytes) DESC LIMIT 1";

// What each view must have to be one.
const PARTS = {
  overview: 'section[aria-label="Over time"] svg',
  timeline: "canvas",
  "space-time": "canvas",
  trail: "input",
  file: 'section[aria-label="Files"] tbody tr',
  sockets: "section",
  compare: ".lacking",
  query: ".cm-content",
};

for (const name of ["postgres", "git", "relay"]) {
  for (const { name: size, ...options } of SIZES) {
    test(`${name} in every view at ${size} ${options.colorScheme}`, async (t) => {
      const page = await openPage(name, "#overview", options);
      t.after(() => page.close());
      for (const view of VIEWS) {
        await page.go(`#${view}`);
        assert.deepEqual(await page.texts("#view .error"), [], view);
        assert.ok((await page.page.locator(`#view ${PARTS[view]}`).count()) > 0, `${view} has ${PARTS[view]}`);
        const wide = await page.page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
        assert.equal(wide, false, `${view} is as wide as the window`);
        await page.picture(`${name}-${view}-${size}`);
      }
      const [file] = page.rows(MOST_READ);
      await page.go(`#file?object=${file.object_id}`);
      assert.ok((await page.page.locator('section[aria-label="Access pattern"] svg').count()) > 0);
      await page.picture(`${name}-one-file-${size}`);
      assert.deepEqual(page.faults, []);
    });
  }
}

test("a transaction of pgbench: what the page counts of the write-ahead log is what SQL counts", async (t) => {
  const page = await openPage("postgres", "#overview");
  t.after(() => page.close());
  const [wal] = page.rows("SELECT object_id, any_value(path) AS path, sum(bytes) AS bytes, count(*) AS calls FROM events WHERE path LIKE '%/pg_wal/0%' AND name = 'pwrite64' GROUP BY object_id ORDER BY calls DESC LIMIT 1");
  assert.ok(wal.calls > 100, `200 transactions of four clients write: ${wal.calls}`);
  await page.go(`#file?object=${wal.object_id}`);
  const rows = (await page.texts('section[aria-label="What was done to it"] tbody tr')).map((row) => row.split("\t"));
  const [, , calls] = rows.find(([name]) => name === "pwrite64");
  assert.equal(Number(calls.replaceAll(",", "")), wal.calls);
  assert.ok(rows.some(([name]) => name === "fdatasync"), "it is synced");
});
