// Every number of every view, and of one stretch of time, beside SQL: `dyetrace sql` on the same trace, asked in other words than the page asks.
//
// A cell of a table has its exact amount as its title. What a chart says are the words of its data; amounts in words (3.1 MB, 14 µs) are right if nothing nearer could be said with
// as many digits.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage } from "./page.mjs";

const UNITS = { "": 1, ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

function agrees(text, value, what) {
  const found = /^([\d,]+)(\.\d+)? ?(ns|µs|ms|s|min|h|B|kB|MB|GB|TB)?(\/s)?$/.exec(text);
  assert.ok(found !== null, `${what}: '${text}' is an amount`);
  const [, whole, digits = "", unit = ""] = found, size = UNITS[unit];
  const shown = Number(whole.replaceAll(",", "") + digits) * size;
  const slack = size === 1 && digits === "" ? 0.5 : (whole.replaceAll(",", "").length < 2 ? 0.05 : 0.5) * size;
  assert.ok(Math.abs(shown - value) <= slack * 1.0001, `${what}: ${text} is ${value}`);
}

// Events as the page counts time, those that touch the stretch.
function eventsIn({ from, to }) {
  const part = from === undefined ? "true" : `begun + coalesce(duration_ns, 0) >= ${from} AND begun <= ${to}`;
  return `WITH e AS (SELECT *, epoch_ns(time) - (SELECT min(epoch_ns(time)) FROM events WHERE parent_event_id IS NULL) AS begun FROM events),
    p AS (SELECT * FROM e WHERE ${part}), c AS (SELECT * FROM p WHERE parent_event_id IS NULL)`;
}
const FAILED = `error IS NOT NULL AND error NOT LIKE 'ERESTART%' AND error NOT IN ('EINPROGRESS', 'EALREADY') AND NOT (error = 'EAGAIN' AND class NOT IN ('process', 'memory'))`;
const READS = "transfer IN ('read', 'peek')", MOVES = "transfer IS NOT NULL";

class Walk {
  constructor(page, stretch) {
    Object.assign(this, { page, stretch });
  }

  go(view, words = {}) {
    const all = new URLSearchParams({ ...words, ...(this.stretch.from === undefined ? {} : this.stretch) });
    return this.page.go(`#${view}${String(all) === "" ? "" : `?${all}`}`);
  }

  rows(sql) {
    return this.page.rows(`${eventsIn(this.stretch)} ${sql}`);
  }

  // A table's rows by the titles of their columns, each cell exact.
  async table(title) {
    const part = this.page.part(title);
    if ((await part.locator("table").count()) === 0) return [];
    return part.locator("table").first().evaluate((table) => {
      const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent);
      return [...table.querySelectorAll("tbody tr")].map((row) => Object.fromEntries([...row.children].map((cell, at) => [names[at], cell.title])));
    });
  }

  // Each row of the page beside the row of SQL that has the same key; numbers that SQL has and the page has by the same name.
  async same(title, key, asked, count) {
    const shown = await this.table(title);
    const known = new Map(asked.map((row) => [String(row[key]), row]));
    assert.equal(shown.length, Math.min(asked.length, count), `${title}: rows`);
    for (const row of shown) {
      const right = known.get(row[key]);
      assert.ok(right !== undefined, `${title}: SQL has ${row[key]}`);
      for (const [name, value] of Object.entries(right)) {
        assert.ok(name in row, `${title} has a column ${name}: ${Object.keys(row)}`);
        assert.equal(row[name], value === null ? "" : String(value), `${title}: ${name} of ${row[key]}`);
      }
    }
    return shown;
  }

  async words(chart) {
    return this.page.page.locator(`svg[data-chart=${chart}] [data-words]`).evaluateAll((data) => data.map((datum) => datum.dataset.words));
  }
}

const byPid = (rows) => rows.map((row) => ({ ...row, pid: /\[(\d+)\]$/.exec(row.process)?.[1] }));

async function walkOverview(walk, duration) {
  await walk.go("overview");
  const { page, stretch } = walk;
  const [sums] = walk.rows(`SELECT count(*) AS calls, count(DISTINCT process_id) AS process, count(DISTINCT thread_id) AS thread, coalesce(sum(bytes) FILTER (${READS}), 0)::BIGINT AS read,
    coalesce(sum(bytes) FILTER (transfer = 'write'), 0)::BIGINT AS written, count(*) FILTER (${FAILED}) AS errors, count(*) FILTER (error IS NOT NULL AND NOT (${FAILED})) AS wait,
    count(*) FILTER (duration_ns > 100000000) AS slow, count(*) FILTER (state = 'unfinished') AS unfinished, max(begun + coalesce(duration_ns, 0)) - min(begun) AS long FROM c`);
  const facts = await page.part("In short").locator("li").evaluateAll((items) => items.map((item) => [item.querySelector("a").textContent, item.querySelector(".faint").textContent]));
  const named = { processes: "process", threads: "thread", "longer than 100 ms": "slow", "would have had to wait": "wait" };
  for (const [text, name] of facts) {
    const value = name === "long" && stretch.from !== undefined ? Math.min(stretch.to, duration) - stretch.from : Number(sums[named[name] ?? name]);
    assert.ok(!Number.isNaN(value), `'${name}' is known`);
    agrees(text, value, name);
  }
  assert.equal(facts.some(([, name]) => name === "would have had to wait"), Number(sums.wait) > 0);

  const step = await columnNs(page);
  const rates = walk.rows(`SELECT begun - begun % ${step} AS moment, coalesce(class, '?') AS class, count(*) AS calls FROM c GROUP BY ALL`);
  const key = (moment, kind) => `${Math.round(moment / step)} ${kind}`;
  const known = new Map(rates.map(({ moment, class: kind, calls }) => [key(Number(moment), kind), Number(calls)]));
  const words = await walk.words("rates");
  assert.equal(words.length, rates.length, "a column for each class at each time");
  for (const word of words) {
    const [, seconds, kind, amount] = /^\+([\d.]+) s · (\S+): (.*)$/.exec(word);
    agrees(amount, Math.round((known.get(key(Number(seconds) * 1e9, kind)) * 1e9) / step), word);
  }
  const bands = walk.rows(`SELECT count(*) AS calls FROM c WHERE class <> 'wait' AND duration_ns IS NOT NULL GROUP BY begun // ${step}, floor(log2(greatest(duration_ns, 1)))`).map(({ calls }) => Number(calls));
  const boxes = (await walk.words("latency")).map((word) => Number(/ · ([\d,]+) calls/.exec(word)[1].replaceAll(",", "")));
  assert.deepEqual(boxes.sort((a, b) => a - b), bands.sort((a, b) => a - b), "calls by how long they took");

  const sorted = "coalesce(sum(bytes), 0)::BIGINT AS bytes, sum(duration_ns)::BIGINT AS time";
  const processes = walk.rows(`SELECT any_value(pid) AS pid, count(*) AS calls, count(*) FILTER (${FAILED}) AS errors, ${sorted}, quantile_disc(duration_ns, 0.99) AS p99 FROM c GROUP BY process_id`);
  const pids = new Map(processes.map(({ pid, ...row }) => [String(pid), row]));
  const busiest = byPid(await walk.table("Busiest processes"));
  assert.equal(busiest.length, Math.min(processes.length, 12));
  for (const row of busiest) {
    assert.ok(row.pid !== undefined, `${row.process} has its pid`);
    for (const [name, value] of Object.entries(pids.get(row.pid))) assert.equal(row[name], value === null ? "" : String(value), `${name} of ${row.process}`);
  }
  await walk.same("Calls that took most time", "name", walk.rows(`SELECT name, count(*) AS calls, count(*) FILTER (${FAILED}) AS errors, ${sorted}, quantile_disc(duration_ns, 0.5) AS p50,
    quantile_disc(duration_ns, 0.99) AS p99, max(duration_ns) AS max FROM c GROUP BY name`), 12);
  const errors = walk.rows(`SELECT error || ' ' || name AS key, count(*) AS times FROM c WHERE ${FAILED} GROUP BY ALL`);
  const shown = (await walk.table("Errors")).map((row) => [`${row.error} ${row.name}`, row.times]);
  assert.equal(shown.length, Math.min(errors.length, 12));
  for (const [name, times] of shown) assert.equal(times, String(errors.find(({ key: known }) => known === name)?.times), name);
  await walk.same("Connections with most bytes", "peer", page.rows(`SELECT target AS peer, coalesce(sum(bytes) FILTER (transfer IN ('read', 'copy_to')), 0)::BIGINT AS received_bytes,
    coalesce(sum(bytes) FILTER (transfer IN ('write', 'copy_from')), 0)::BIGINT AS sent_bytes, count(*) AS calls, sum(duration_ns)::BIGINT AS time
    FROM selected WHERE object_type = 'socket' AND ${partOf(stretch)} GROUP BY target`).map((row) => renamed(row)), 12);
}

const partOf = ({ from, to }) => (from === undefined ? "true" : `at_ns + coalesce(duration_ns, 0) >= ${from} AND at_ns <= ${to}`);
const renamed = (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name.replaceAll("_", " "), value]));

async function columnNs(page) {
  const [, amount, unit] = /a column is ([\d.]+) (ns|µs|ms|s|min|h)/.exec(await page.part("Over time").innerText());
  return Math.round(Number(amount) * UNITS[unit]);
}

// Counts what was read from and written to each object, whichever of a copy's two objects it is.
const USES = `uses AS (
  SELECT event_id, object_id AS object, object_type AS type, path, process_id, pid, tid, class, error, bytes, duration_ns, host,
         transfer IN ('read', 'peek', 'copy_to', 'tee') AS takes, transfer IN ('write', 'copy_from') AS gives, true AS is_first, name FROM p WHERE object_id IS NOT NULL
  UNION ALL SELECT event_id, object2_id, (SELECT any_value(object_type) FROM objects o WHERE o.object_id = object2_id), path2, process_id, pid, tid, class, error, bytes, duration_ns, host,
         transfer = 'copy_from', transfer IN ('copy_to', 'tee'), object_id IS DISTINCT FROM object2_id, name
  FROM p WHERE object2_id IS NOT NULL AND (object_id IS DISTINCT FROM object2_id OR transfer IN ('copy_to', 'copy_from', 'tee')))`;
const AMOUNTS = `coalesce(sum(bytes) FILTER (takes), 0)::BIGINT AS "read bytes", coalesce(sum(bytes) FILTER (gives), 0)::BIGINT AS "written bytes", count(*) FILTER (is_first) AS calls`;

async function walkFiles(walk) {
  await walk.go("file");
  const files = walk.rows(`, ${USES} SELECT object, (SELECT o.path FROM objects o WHERE o.object_id = object) AS file, ${AMOUNTS}, count(DISTINCT process_id) AS processes, sum(duration_ns) FILTER (is_first)::BIGINT AS time
    FROM uses WHERE type = 'file' GROUP BY object ORDER BY coalesce(sum(bytes), 0) DESC, calls DESC, object`);
  const shown = await walk.table("Files");
  assert.equal(shown.length, Math.min(files.length, 200), "files");
  shown.forEach((row, at) => {
    const { object: _, ...right } = files[at];
    for (const [name, value] of Object.entries(right)) assert.equal(row[name], value === null ? "" : String(value), `${name} of ${files[at].file}`);
  });
  const of = files.find(({ "read bytes": read }) => Number(read) > 0) ?? files[0];
  if (of === undefined) return;
  await walk.go("file", { object: of.object });
  const users = walk.rows(`, ${USES} SELECT any_value(pid) AS pid, ${AMOUNTS}, count(DISTINCT tid) AS threads, count(*) FILTER (${FAILED}) AS errors FROM uses WHERE object = ${of.object} GROUP BY process_id`);
  const who = byPid(await walk.table("Who"));
  assert.equal(who.length, Math.min(users.length, 30));
  for (const row of who) {
    const right = users.find(({ pid }) => String(pid) === row.pid);
    for (const [name, value] of Object.entries(right)) assert.equal(row[name], String(value), `${name} of ${row.process}`);
  }
  const calls = walk.rows(`SELECT name, coalesce(error, '') AS error, count(*) AS calls, coalesce(sum(bytes), 0)::BIGINT AS bytes FROM p WHERE object_id = ${of.object} OR object2_id = ${of.object} GROUP BY ALL`);
  for (const row of await walk.table("What was done to it")) {
    const right = calls.find(({ name, error }) => name === row.name && error === row.error);
    assert.deepEqual([row.calls, row.bytes], [String(right.calls), String(right.bytes)], `${row.name} ${row.error}`);
  }
}

async function walkSockets(walk) {
  await walk.go("sockets");
  const asked = walk.rows(`, m AS (SELECT pid, process_id, object_id, connection_id, begun, event_id, greatest(coalesce(bytes, 0), 0) AS bytes, transfer, coalesce(duration_ns - on_cpu_ns, 0) AS waited, ${FAILED} AS failed
      FROM c WHERE object_type = 'socket' AND ${MOVES} AND object2_id IS NULL),
    s AS (SELECT process_id, object_id, begun, event_id, transfer IN ('read', 'copy_to') AS takes FROM m WHERE transfer <> 'peek'),
    t AS (SELECT event_id, (SELECT arg_max(NOT b.takes, (b.begun, b.event_id)) FROM s b WHERE b.process_id = s.process_id AND b.object_id = s.object_id AND (b.begun, b.event_id) < (s.begun, s.event_id)) AS is_answer FROM s WHERE takes)
    SELECT any_value(pid) AS pid, count(*) AS calls, coalesce(sum(bytes) FILTER (transfer IN ('write', 'copy_from')), 0)::BIGINT AS sent, coalesce(sum(bytes) FILTER (transfer IN ('read', 'copy_to')), 0)::BIGINT AS received,
      count(*) FILTER (failed) AS errors, coalesce(sum(waited) FILTER (transfer IN ('read', 'peek', 'copy_to')), 0)::BIGINT AS waited, count(*) FILTER (is_answer AND bytes > 0) AS trips
    FROM m LEFT JOIN t USING (event_id) GROUP BY process_id`);
  const shown = byPid(await walk.table("Who talked to whom")), number = (text) => Number(text === "" ? 0 : text);
  assert.ok(asked.length <= 300);
  for (const { pid, ...right } of asked) {
    const sum = (name) => shown.filter((row) => row.pid === String(pid)).reduce((all, row) => all + number(row[name]), 0);
    const left = { calls: sum("calls"), sent: sum("sent bytes"), received: sum("received bytes"), errors: sum("errors"), waited: sum("waited"), trips: sum("round trips") };
    assert.deepEqual(left, Object.fromEntries(Object.entries(right).map(([name, value]) => [name, Number(value)])), `sockets of ${pid}`);
  }
  const said = await walk.page.part("Who talked to whom").innerText();
  assert.ok(asked.length === 0 || said.includes(`${shown.length.toLocaleString("en")} conversations`), said.slice(0, 200));
  const waits = walk.rows(`SELECT duration_ns - on_cpu_ns AS waited FROM p WHERE object_type = 'socket' AND ${MOVES} AND duration_ns > on_cpu_ns ORDER BY 1 DESC LIMIT 12`).map(({ waited }) => String(waited));
  assert.deepEqual((await walk.table("Longest waits")).map(({ waited }) => waited), waits);
}

async function walkTimeline(walk) {
  await walk.go("timeline");
  const { page } = walk.page;
  await page.locator(".timeline canvas[data-state=drawn]").waitFor();
  await page.waitForFunction(() => / calls in all/.test(document.querySelector("#timeline-words").textContent));
  const words = await page.locator("#timeline-words").innerText();
  agrees(/ · ([\d,]+) calls in all/.exec(words)[1], walk.page.number("SELECT count(*) FROM events WHERE parent_event_id IS NULL"), words);
  if (walk.stretch.from !== undefined) return; // around the stretch there is more in view
  await page.locator(".timeline details summary").click();
  await page.locator(".timeline details tbody tr").first().waitFor();
  const rows = await page.locator(".timeline details tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  const processes = new Map(walk.rows("SELECT any_value(pid) AS pid, count(*) AS calls FROM c GROUP BY process_id").map(({ pid, calls }) => [String(pid), Number(calls)]));
  for (const [label, what, calls] of rows.filter(([, what]) => what === "process")) {
    const pid = /\[(\d+)\]$/.exec(label)?.[1];
    assert.equal(Number(calls.replaceAll(",", "")), processes.get(pid), `calls of ${label} (${what})`);
  }
  const nodes = new Map(walk.rows("SELECT last AS node, count(*) AS calls FROM c JOIN (SELECT thread_id, arg_max(node, begun) AS last FROM e GROUP BY 1) USING (thread_id) GROUP BY 1").map(({ node, calls }) => [node, Number(calls)]));
  // A thread stands where it was last.
  for (const [label, , calls] of rows.filter(([, what]) => what === "node")) assert.equal(Number(calls.replaceAll(",", "")), nodes.get(label), `calls of ${label}`);
}

async function walkSpaceTime(walk) {
  await walk.go("space-time");
  const { page } = walk;
  if ((await page.page.locator("#cut").count()) > 0) return; // the busiest are shown
  const moved = "m AS (SELECT event_id, process_id FROM p WHERE bytes > 0 AND transfer IS NOT NULL)";
  const [{ many, bytes }] = walk.rows(`, ${moved} SELECT count(*) AS many, coalesce(sum(f.bytes), 0)::BIGINT AS bytes FROM flows f JOIN m a ON a.event_id = f.from_event JOIN m b ON b.event_id = f.to_event WHERE a.process_id <> b.process_id`);
  const section = page.page.locator('section[aria-label^="Messages"]');
  if ((await section.count()) === 0) {
    assert.equal(Number(many), 0);
    return;
  }
  assert.match(await section.getAttribute("aria-label"), new RegExp(`^Messages: ${Number(many).toLocaleString("en")}(,|$)`));
  const cells = await section.locator("tbody td:nth-child(5)").evaluateAll((all) => all.map(({ title }) => Number(title)));
  if (cells.length === Number(many)) assert.equal(cells.reduce((a, b) => a + b, 0), Number(bytes), "bytes of all messages");
}

async function walkTrail(walk) {
  const { page } = walk;
  const [start] = page.rows("SELECT path FROM events WHERE object_type = 'file' AND transfer = 'read' AND bytes > 0 AND starts_with(path, '/') GROUP BY path HAVING count(*) < 20 ORDER BY sum(bytes) DESC, path LIMIT 1");
  if (start === undefined) return;
  await page.go(`#trail?start=${encodeURIComponent(start.path)}&as=table`);
  const summary = await page.page.locator(".summary").innerText();
  const answer = await (await page.page.request.post(`${page.server.url}api/follow`, { data: { start: start.path, direction: "forward", min_certainty: "likely", hops_max: 400 } })).json();
  assert.match(summary, new RegExp(` · ${answer.hops.length.toLocaleString("en")} hops? · ${new Set(answer.hops.map(({ process_id }) => process_id)).size} process`));
  const events = new Map(page.rows(`SELECT event_id, bytes, name, process_id FROM events WHERE event_id IN (${[0, ...answer.hops.map(({ event_id }) => event_id).filter((id) => id !== undefined)].join()})`).map((row) => [String(row.event_id), row]));
  for (const hop of answer.hops.filter(({ event_id }) => event_id !== undefined)) {
    assert.equal(hop.name, events.get(String(hop.event_id)).name);
    assert.equal(String(hop.process_id), String(events.get(String(hop.event_id)).process_id));
  }
}

for (const name of ["postgres", "git", "namespaces"]) {
  for (const which of ["all", "a stretch"]) {
    test(`${name}, ${which}: every number is SQL's`, async (t) => {
      const page = await openPage(name, "#query");
      t.after(() => page.close());
      const [{ duration }] = page.rows("SELECT max(epoch_ns(time) + coalesce(duration_ns, 0)) - min(epoch_ns(time)) AS duration FROM events WHERE parent_event_id IS NULL");
      const stretch = which === "all" ? {} : { from: Math.round(Number(duration) / 3), to: Math.round((2 * Number(duration)) / 3) };
      const walk = new Walk(page, stretch);
      await walkOverview(walk, Number(duration));
      await walkFiles(walk);
      await walkSockets(walk);
      await walkTimeline(walk);
      await walkSpaceTime(walk);
      assert.deepEqual(await page.texts("#view .error"), []);
      await walkTrail(walk);
      assert.deepEqual(page.faults, []);
    });
  }
}
