// Every number of every view, and of one stretch of time, beside SQL: `dyetrace sql` on the same trace, asked in other words than the page asks.
//
// A cell of a table has its exact amount as its title. What a chart says are the words of its data; amounts in words (3.1 MB, 14 µs) are right if nothing nearer could be said with
// as many digits.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Prompt, openPage } from "./page.mjs";

const UNITS = { "": 1, ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

function agrees(text, value, what) {
  const found = /^([\d,]+)(\.\d+)? ?(ns|µs|ms|s|min|h|B|kB|MB|GB|TB)?(\/s)?$/.exec(text);
  assert.ok(found !== null, `${what}: '${text}' is an amount`);
  const [, whole, digits = "", unit = ""] = found, size = UNITS[unit];
  const shown = Number(whole.replaceAll(",", "") + digits) * size;
  const slack = size === 1 && digits === "" ? 0.5 : (whole.replaceAll(",", "").length < 2 ? 0.05 : 0.5) * size;
  assert.ok(Math.abs(shown - value) <= slack * 1.0001, `${what}: ${text} is ${value}`);
}

// What is asked again and again is read once. Events as the page counts time.
const KEPT = [
  "CREATE TEMP TABLE e AS SELECT *, epoch_ns(time) - (SELECT min(epoch_ns(time)) FROM events WHERE parent_event_id IS NULL) AS begun FROM events",
  "CREATE TEMP TABLE shown AS FROM selected",
  "CREATE TEMP TABLE flow AS FROM flows",
];

// Those that touch the stretch.
function eventsIn({ from, to }) {
  const part = from === undefined ? "true" : `begun + coalesce(duration_ns, 0) >= ${from} AND begun <= ${to}`;
  return `WITH p AS (SELECT * FROM e WHERE ${part}), c AS (SELECT * FROM p WHERE parent_event_id IS NULL AND kind = 'syscall'), w AS (SELECT * FROM p WHERE parent_event_id IS NULL)`;
}
const FAILED = `error IS NOT NULL AND error NOT LIKE 'ERESTART%' AND error NOT IN ('EINPROGRESS', 'EALREADY') AND NOT (error = 'EAGAIN' AND class NOT IN ('process', 'memory'))`;
const READS = "transfer IN ('read', 'peek')", MOVES = "transfer IS NOT NULL";

class Walk {
  constructor(page, prompt, stretch) {
    Object.assign(this, { page, prompt, stretch });
  }

  go(view, words = {}) {
    const all = new URLSearchParams({ ...words, ...(this.stretch.from === undefined ? {} : this.stretch) });
    return this.page.go(`#${view}${String(all) === "" ? "" : `?${all}`}`);
  }

  rows(sql) {
    return this.prompt.rows(`${eventsIn(this.stretch)} ${sql}`);
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

  // Each number of calls leads to as many.
  async leads() {
    const COUNTS = /^(calls?|errors?|times|unfinished|longer than 100 ms|would have had to wait)$/;
    const links = await this.page.page.locator('main a[href^="#query?"]').evaluateAll((all) => all.map((link) => {
      const cell = link.closest("td"), fact = link.parentElement.querySelector(".faint");
      return { href: link.getAttribute("href"), of: cell === null ? fact?.textContent : link.closest("table").querySelectorAll("thead th")[cell.cellIndex].textContent, number: cell?.title ?? link.textContent.replaceAll(",", "") };
    }));
    for (const { href, of, number } of links) {
      if (!COUNTS.test(of ?? "")) continue;
      const sql = new URLSearchParams(href.slice("#query?".length)).get("sql").replace(/ORDER BY at_ns LIMIT 1000\s*$/, "");
      const { from, to } = this.stretch, selection = from === undefined ? {} : { from_ns: from, to_ns: to };
      const answer = await (await this.page.page.request.post(`${this.page.server.url}api/query`, { data: { sql: `SELECT count(*) FROM (${sql})`, selection } })).json();
      assert.deepEqual(answer.rows, [[Number(number)]], `${number} ${of} lead to ${JSON.stringify(answer)}: ${sql}`);
    }
  }

  async words(chart) {
    return this.page.page.locator(`svg[data-chart=${chart}] [data-words]`).evaluateAll((data) => data.map((datum) => datum.dataset.words));
  }
}

const byPid = (rows) => rows.map((row) => ({ ...row, pid: /\[(\d+)\]$/.exec(row.process)?.[1] }));

async function walkOverview(walk, duration) {
  await walk.go("overview");
  const { page, stretch } = walk;
  const [sums] = await walk.rows(`SELECT count(*) AS calls, count(DISTINCT process_id) AS process, count(DISTINCT thread_id) AS thread, coalesce(sum(bytes) FILTER (${READS}), 0)::BIGINT AS read,
    coalesce(sum(bytes) FILTER (transfer = 'write'), 0)::BIGINT AS written, coalesce(sum(bytes) FILTER (transfer IN ('copy_to', 'copy_from', 'tee')), 0)::BIGINT AS copied, count(*) FILTER (${FAILED}) AS errors, count(*) FILTER (error IS NOT NULL AND NOT (${FAILED})) AS wait,
    count(*) FILTER (duration_ns > 100000000) AS slow, count(*) FILTER (state = 'unfinished' AND NOT starts_with(name, 'exit')) AS unfinished, max(begun + coalesce(duration_ns, 0)) - min(begun) AS long FROM c`);
  const facts = await page.part("In short").locator("li").evaluateAll((items) => items.map((item) => [item.querySelector("a").textContent, item.querySelector(".faint").textContent]));
  const named = { call: "calls", processes: "process", threads: "thread", error: "errors", "longer than 100 ms": "slow", "would have had to wait": "wait" };
  for (const [text, name] of facts) {
    const value = name === "long" && stretch.from !== undefined ? Math.min(stretch.to, duration) - stretch.from : Number(sums[named[name] ?? name]);
    assert.ok(!Number.isNaN(value), `'${name}' is known`);
    agrees(text, value, name);
  }
  assert.equal(facts.some(([, name]) => name === "would have had to wait"), Number(sums.wait) > 0);
  assert.equal(facts.some(([, name]) => name === "copied"), Number(sums.copied) > 0);

  const step = await columnNs(page);
  const rates = await walk.rows(`SELECT begun - begun % ${step} AS moment, coalesce(class, '?') AS class, count(*) AS calls FROM c GROUP BY ALL`);
  const key = (moment, kind) => `${Math.round(moment / step)} ${kind}`;
  const known = new Map(rates.map(({ moment, class: kind, calls }) => [key(Number(moment), kind), Number(calls)]));
  const words = await walk.words("rates");
  assert.equal(words.length, rates.length, "a column for each class at each time");
  for (const word of words) {
    const [, seconds, kind, amount] = /^\+([\d.]+) s · (\S+): (.*)$/.exec(word);
    agrees(amount, (known.get(key(Number(seconds) * 1e9, kind)) * 1e9) / step, word);
  }
  const bands = (await walk.rows(`SELECT count(*) AS calls FROM c WHERE class <> 'wait' AND duration_ns IS NOT NULL GROUP BY begun // ${step}, floor(log2(greatest(duration_ns, 1)))`)).map(({ calls }) => Number(calls));
  const boxes = (await walk.words("latency")).map((word) => Number(/ · ([\d,]+) calls/.exec(word)[1].replaceAll(",", "")));
  assert.deepEqual(boxes.sort((a, b) => a - b), bands.sort((a, b) => a - b), "calls by how long they took");

  const sorted = "coalesce(sum(bytes), 0)::BIGINT AS bytes, sum(duration_ns)::BIGINT AS time";
  const processes = await walk.rows(`SELECT any_value(pid) AS pid, count(*) AS calls, count(*) FILTER (${FAILED}) AS errors, ${sorted}, quantile_disc(duration_ns, 0.99) AS p99 FROM c GROUP BY process_id`);
  const pids = new Map(processes.map(({ pid, ...row }) => [String(pid), row]));
  const busiest = byPid(await walk.table("Busiest processes"));
  assert.equal(busiest.length, Math.min(processes.length, 12));
  for (const row of busiest) {
    assert.ok(row.pid !== undefined, `${row.process} has its pid`);
    for (const [name, value] of Object.entries(pids.get(row.pid))) assert.equal(row[name], value === null ? "" : String(value), `${name} of ${row.process}`);
  }
  await walk.same("Calls that took most time", "name", await walk.rows(`SELECT name, count(*) AS calls, count(*) FILTER (${FAILED}) AS errors, ${sorted}, quantile_disc(duration_ns, 0.5) AS p50,
    quantile_disc(duration_ns, 0.99) AS p99, max(duration_ns) AS max FROM c GROUP BY name`), 12);
  const errors = await walk.rows(`SELECT error || ' ' || name AS key, pid, count(*) AS times FROM c WHERE ${FAILED} GROUP BY ALL`);
  const shown = (await walk.table("Errors")).map((row) => ({ ...row, key: `${row.error} ${row.name}` }));
  assert.equal(shown.length, Math.min(new Set(errors.map(({ key: known }) => known)).size, 12));
  for (const { key, times, process } of shown) {
    const who = errors.filter(({ key: known }) => known === key), most = Math.max(...who.map(({ times: many }) => Number(many)));
    assert.equal(times, String(who.reduce((sum, { times: many }) => sum + Number(many), 0)), key);
    const [, pid, more = "0"] = /\[(\d+)\](?: and (\d+) more)?$/.exec(process);
    assert.deepEqual([Number(who.find((one) => String(one.pid) === pid)?.times), Number(more)], [most, who.length - 1], `${key}: ${process}`);
  }
  await walk.same("Connections with most bytes", "peer", (await walk.prompt.rows(`SELECT target AS peer, coalesce(sum(bytes) FILTER (transfer IN ('read', 'copy_to')), 0)::BIGINT AS received_bytes,
    coalesce(sum(bytes) FILTER (transfer IN ('write', 'copy_from')), 0)::BIGINT AS sent_bytes, count(*) AS calls, sum(duration_ns)::BIGINT AS time
    FROM shown WHERE object_type = 'socket' AND ${MOVES} AND kind = 'syscall' AND parent_event_id IS NULL AND ${partOf(stretch)} GROUP BY target`)).map((row) => renamed(row)), 12);
  await walk.leads();
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
  const files = await walk.rows(`, ${USES} SELECT object, (SELECT o.path FROM objects o WHERE o.object_id = object) AS file, ${AMOUNTS}, count(DISTINCT process_id) AS processes, sum(duration_ns) FILTER (is_first)::BIGINT AS time
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
  const users = await walk.rows(`, ${USES} SELECT any_value(pid) AS pid, ${AMOUNTS}, count(DISTINCT tid) AS threads, count(*) FILTER (${FAILED}) AS errors FROM uses WHERE object = ${of.object} GROUP BY process_id`);
  const who = byPid(await walk.table("Who"));
  assert.equal(who.length, Math.min(users.length, 30));
  for (const row of who) {
    const right = users.find(({ pid }) => String(pid) === row.pid);
    for (const [name, value] of Object.entries(right)) assert.equal(row[name], String(value), `${name} of ${row.process}`);
  }
  const calls = await walk.rows(`SELECT name, coalesce(error, '') AS error, count(*) AS calls, coalesce(sum(bytes), 0)::BIGINT AS bytes FROM p WHERE object_id = ${of.object} OR object2_id = ${of.object} GROUP BY ALL`);
  for (const row of await walk.table("What was done to it")) {
    const right = calls.find(({ name, error }) => name === row.name && error === row.error);
    assert.deepEqual([row.calls, row.bytes], [String(right.calls), String(right.bytes)], `${row.name} ${row.error}`);
  }
  await walk.leads();
}

async function walkSockets(walk) {
  await walk.go("sockets");
  const asked = await walk.rows(`, m AS (SELECT pid, process_id, object_id, connection_id, begun, event_id, greatest(coalesce(bytes, 0), 0) AS bytes, transfer, coalesce(duration_ns - on_cpu_ns, 0) AS waited, ${FAILED} AS failed, error
      FROM c WHERE object_type = 'socket' AND ${MOVES} AND object2_id IS NULL),
    s AS (SELECT process_id, object_id, begun, event_id, transfer IN ('read', 'copy_to') AS takes FROM m WHERE transfer <> 'peek' AND error IS NULL),
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
  assert.ok(asked.length === 0 || said.includes(`${shown.length.toLocaleString("en")} conversation`), said.slice(0, 200));
  const waits = (await walk.rows(`SELECT duration_ns - on_cpu_ns AS waited FROM p WHERE object_type = 'socket' AND ${MOVES} AND duration_ns > on_cpu_ns ORDER BY 1 DESC LIMIT 12`)).map(({ waited }) => String(waited));
  assert.deepEqual((await walk.table("Longest waits")).map(({ waited }) => waited), waits);
  for (const text of await walk.page.texts('section[aria-label="Longest waits"] tbody td:first-child')) assert.match(text, /^\+[\d.]+ s$/, "a time is no duration");
  await walk.leads();
}

async function walkTimeline(walk) {
  await walk.go("timeline");
  const { page } = walk.page;
  await page.locator(".timeline canvas[data-state=drawn]").waitFor();
  await page.waitForFunction(() => / events in all/.test(document.querySelector("#timeline-words").textContent));
  const words = await page.locator("#timeline-words").innerText();
  agrees(/ · ([\d,]+) events in all/.exec(words)[1], Number((await walk.prompt.rows("SELECT count(*) AS n FROM events WHERE parent_event_id IS NULL"))[0].n), words);
  if (walk.stretch.from !== undefined) return; // around the stretch there is more in view
  await page.locator(".timeline details summary").click();
  await page.locator(".timeline details tbody tr").first().waitFor();
  const rows = await page.locator(".timeline details tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  const processes = new Map((await walk.rows("SELECT any_value(pid) AS pid, count(*) AS calls FROM w GROUP BY process_id")).map(({ pid, calls }) => [String(pid), Number(calls)]));
  for (const [label, what, calls] of rows.filter(([, what]) => what === "process")) {
    const pid = /\[(\d+)\]$/.exec(label)?.[1];
    assert.equal(Number(calls.replaceAll(",", "")), processes.get(pid), `calls of ${label} (${what})`);
  }
  const nodes = new Map((await walk.rows("SELECT last AS node, count(*) AS calls FROM w JOIN (SELECT thread_id, arg_max(node, begun) AS last FROM e GROUP BY 1) USING (thread_id) GROUP BY 1")).map(({ node, calls }) => [node, Number(calls)]));
  // A thread stands where it was last.
  for (const [label, , calls] of rows.filter(([, what]) => what === "node")) assert.equal(Number(calls.replaceAll(",", "")), nodes.get(label), `calls of ${label}`);
}

// Which bytes went from one process to another one, or to another node, as the table says it; a call that reads has its bytes when it ends.
const MESSAGES = `m AS (SELECT event_id, process_id, process, target, name, bytes, coalesce(dye_hits, 0) AS dyes, fingerprint, at_ns + CASE WHEN transfer IN ('read', 'peek') THEN coalesce(duration_ns, 0)::BIGINT ELSE 0 END AS x
    FROM shown WHERE bytes > 0 AND transfer IS NOT NULL AND PART),
  g AS (SELECT f.*, a.process AS giver, b.process AS taker, a.process_id <> b.process_id AS is_message, a.target AS over, a.x FROM flow f JOIN m a ON a.event_id = f.from_event JOIN m b ON b.event_id = f.to_event)`;

async function walkSpaceTime(walk) {
  await walk.go("space-time");
  const { page } = walk.page, { prompt } = walk;
  const asked = (what) => prompt.rows(`WITH ${MESSAGES.replace("PART", partOf(walk.stretch))} ${what}`);
  const [all] = await asked(`SELECT count(*) FILTER (is_message) AS messages, (SELECT count(DISTINCT process_id) FROM m WHERE event_id IN (SELECT unnest([from_event, to_event]) FROM g)) AS lanes,
    (SELECT count(*) FROM m WHERE event_id IN (SELECT unnest([from_event, to_event]) FROM g)) AS calls FROM g`);
  const section = page.locator('section[aria-label^="Messages"]');
  if ((await section.count()) === 0) {
    assert.equal(Number(all.calls), 0);
    return;
  }
  const cut = (await page.locator("#cut").count()) > 0 ? await page.locator("#cut").innerText() : "";
  for (const [, of, what] of cut.matchAll(/ of ([\d,]+) (lanes|calls|messages)/g)) agrees(of, Number(all[what]), `${what} in all`);
  const shown = Number(/^Messages: ([\d,]+)/.exec(await section.getAttribute("aria-label"))[1].replaceAll(",", ""));
  if (!/ (lanes|messages)/.test(cut)) assert.equal(shown, Number(all.messages));
  const known = new Map();
  for (const { x, ...row } of await asked("SELECT from_event, giver, taker, over, bytes, rule, certainty, x FROM g WHERE is_message")) known.set(harmless(Object.values(row).join("|")), Number(x));
  const rows = await section.locator("tbody tr").evaluateAll((all) => all.map((row) => ({ from: /event%3A(\d+)/.exec(row.querySelector("a").href)[1], when: row.cells[0].textContent, words: [...row.cells].slice(1).map(({ title }) => title) })));
  assert.equal(rows.length, Math.min(shown, 200));
  for (const { from, when, words } of rows) {
    const key = [from, ...words].join("|");
    assert.ok(known.has(key), `SQL has the message ${key}`);
    agreesMoment(when, known.get(key), key);
  }
  const [contents] = await asked("SELECT count(DISTINCT fingerprint) AS n FROM m WHERE event_id IN (SELECT unnest([from_event, to_event]) FROM g)");
  if (cut === "") assert.match(await page.locator(".like").innerText(), new RegExp(`· ${Number(contents.n).toLocaleString("en")} of ${Number(contents.n).toLocaleString("en")} contents`));
  if (rows.length > 0) await walkChosen(walk, asked, rows[0].from, cut === "");
}

// What is beside a call that is chosen. What its bytes became is dyetrace's own answer (walk.ts has a test of its own): no more calls than are reached by flows.
async function walkChosen(walk, asked, event, isWhole) {
  await walk.go("space-time", { event });
  const { page } = walk.page;
  const [move] = await asked(`SELECT process, name, target, bytes, x, dyes, (SELECT count(*) FROM m o WHERE o.fingerprint = m.fingerprint AND event_id IN (SELECT unnest([from_event, to_event]) FROM g)) AS same FROM m WHERE event_id = ${event}`);
  const [when, what, bytes] = (await page.locator("#chosen").innerText()).split(" · ");
  agreesMoment(when, Number(move.x), event);
  assert.ok(what.startsWith(harmless(`${move.process} ${move.name} `)), what);
  agrees(bytes, Number(move.bytes), event);
  const said = await page.locator('section[aria-label="Chosen"] p.faint').innerText();
  const [, later, before] = /its bytes: ([\d,]+) calls later, ([\d,]+) before/.exec(said).map((number) => Number(number.replaceAll(",", "")));
  for (const [count, from, to] of [[later, "from_event", "to_event"], [before, "to_event", "from_event"]]) {
    const [{ most }] = await walk.prompt.rows(`WITH RECURSIVE reached(event) AS (SELECT ${event}::BIGINT UNION SELECT ${to} FROM flow JOIN reached ON ${from} = event) SELECT count(*) - 1 AS most FROM reached`);
    const [{ least }] = await asked(`SELECT count(DISTINCT ${to}) AS least FROM g WHERE ${from} = ${event}`);
    assert.ok(count <= Number(most) && (!isWhole || count >= Number(least)), `${said}: ${least} to ${most}`);
  }
  if (isWhole && Number(move.same) > 0) assert.match(said, new RegExp(` ${Number(move.same).toLocaleString("en")} calls? here with this content`));
  assert.equal(/ · (\d+) dyes? met/.exec(said)?.[1] ?? "0", String(move.dyes));
}

const harmless = (text) => text.replaceAll("\n", "\\n");

// "+1.234567 s": as many digits as are shown.
function agreesMoment(text, ns, what) {
  const [, sign, whole, digits] = /^([+−])(\d+)(\.\d+)? s$/.exec(text);
  const shown = Number(whole + (digits ?? "")) * (sign === "+" ? 1 : -1);
  assert.ok(Math.abs(shown - ns / 1e9) <= 0.5001 * 10 ** -(digits?.length - 1 || 0), `${what}: ${text} is ${ns} ns`);
}

async function walkTrail(walk) {
  const { page, prompt } = walk;
  const [start] = await prompt.rows("SELECT path FROM events WHERE object_type = 'file' AND transfer = 'read' AND bytes > 0 AND starts_with(path, '/') GROUP BY path HAVING count(*) < 20 ORDER BY sum(bytes) DESC, path LIMIT 1");
  if (start === undefined) return;
  for (const direction of ["forward", "back"]) {
    const said = page.page.waitForResponse((response) => response.url().endsWith("/api/follow"));
    await page.go(`#trail?start=${encodeURIComponent(start.path)}&direction=${direction}&as=table`);
    const answer = await (await said).json();
    assert.equal(answer.direction, direction);
    await walkHops(prompt, answer);
    await walkLinks(prompt, answer);
    const many = (number, one, more) => `${number.toLocaleString("en")} ${number === 1 ? one : more}`;
    const links = (certainty) => `${answer.links.filter((link) => link.certainty === certainty).length} ${certainty}`;
    const summary = (await page.page.locator(".summary").innerText()).split(" · ");
    assert.deepEqual(summary.slice(2, 7), [many(answer.hops.length, "hop", "hops"), many(new Set(answer.hops.map(({ process_id }) => process_id)).size, "process", "processes"), ...["certain", "likely", "possible"].map(links)]);
    const lines = await page.page.locator(".trail-table tbody tr").evaluateAll((all) => all.map((row) => ({
      when: row.querySelector("th").textContent, column: row.closest("table").querySelectorAll("thead th")[[...row.cells].findIndex((cell) => cell.querySelector(".operation") !== null)].textContent,
      name: row.querySelector(".operation a").textContent.split(" ")[0], calls: /×([\d,]+)/.exec(row.querySelector(".operation").textContent)?.[1] ?? "1", words: row.querySelector(".operation .faint").textContent.split(" · "),
    })));
    assert.equal(lines.length, Math.min(answer.hops.length, 500));
    lines.forEach(({ when, column, name, calls, words }, at) => {
      const hop = answer.hops[at];
      agreesMoment(when, hop.first_ns - answer.hops[0].first_ns, name);
      assert.deepEqual([column, name, calls], [harmless(hop.process), hop.name, hop.calls.toLocaleString("en")]);
      const range = words[0].startsWith("bytes ") ? words.shift().slice("bytes ".length).split("–").map((text) => Number(text.replaceAll(",", ""))) : [null, null];
      assert.deepEqual(range, [hop.offset, hop.offset_end]);
      agrees(words[0], hop.bytes, name);
    });
  }
}

// A hop is calls of one process, alike and on the same objects.
async function walkHops(prompt, { hops }) {
  if (hops.length === 0) return;
  const values = hops.map(({ hop, first_event_id, first_ns, end_ns }) => `(${hop}, ${first_event_id}::BIGINT, ${first_ns}::BIGINT, ${end_ns}::BIGINT)`);
  const known = await prompt.rows(`WITH h(hop, event_id, first_ns, end_ns) AS (VALUES ${values.join()})
    SELECT hop, any_value(e.name) AS name, any_value(e.process_id) AS process_id, any_value(e.process) AS process, any_value(e.node) AS node, any_value(e.start_ns) AS start_ns, count(*) AS calls, sum(a.bytes)::BIGINT AS bytes
    FROM h JOIN shown e USING (event_id) JOIN shown a ON a.process_id = e.process_id AND a.name = e.name AND a.object_id IS NOT DISTINCT FROM e.object_id AND a.bytes > 0
      AND a.object2_id IS NOT DISTINCT FROM e.object2_id GROUP BY hop ORDER BY hop`);
  assert.equal(known.length, hops.length, "each hop is a call");
  hops.forEach((hop, at) => {
    const right = known[at];
    assert.deepEqual([hop.name, hop.process_id, hop.start_ns], [right.name, String(right.process_id), Number(right.start_ns)]);
    assert.ok([right.process, `${right.node}:${right.process}`].includes(hop.process), `${hop.process} is ${right.process} of ${right.node}`);
    assert.ok(hop.calls >= 1 && hop.calls <= Number(right.calls), `${hop.calls} of ${right.calls} calls`);
    assert.ok(hop.bytes >= 1 && hop.bytes <= Number(right.bytes), `${hop.bytes} of ${right.bytes} bytes`);
  });
}

// A link is flows between the calls of two hops.
async function walkLinks(prompt, { hops, links }) {
  if (links.length === 0) return;
  const values = links.map(({ from_hop, to_hop }, at) => `(${at}, ${hops[from_hop].first_event_id}::BIGINT, ${hops[to_hop].first_event_id}::BIGINT)`);
  const side = (name, end) => `JOIN shown ${name} ON ${name}.event_id = l.${end}_call JOIN shown ${name}s ON ${name}s.event_id = f.${end}_event AND ${name}s.process_id = ${name}.process_id AND ${name}s.name = ${name}.name
    AND ${name}s.object_id IS NOT DISTINCT FROM ${name}.object_id AND ${name}s.object2_id IS NOT DISTINCT FROM ${name}.object2_id`;
  const known = new Map((await prompt.rows(`WITH l(link, from_call, to_call) AS (VALUES ${values.join()})
    SELECT link, count(*) AS flows, sum(f.bytes)::BIGINT AS bytes, list(DISTINCT certainty) AS certainties, list(DISTINCT rule) AS rules FROM l JOIN flow f ON true ${side("a", "from")} ${side("b", "to")} GROUP BY link`)).map((row) => [Number(row.link), row]));
  links.forEach((link, at) => {
    const right = known.get(at);
    assert.ok(right !== undefined, `SQL has flows from hop ${link.from_hop} to ${link.to_hop}`);
    assert.ok(link.flows <= Number(right.flows) && link.bytes <= Number(right.bytes), `${link.flows} of ${right.flows} flows, ${link.bytes} of ${right.bytes} bytes`);
    assert.ok(right.certainties.includes(link.certainty) && link.rules.every((rule) => right.rules.includes(rule)), `${link.certainty} ${link.rules}`);
  });
}

const prompts = new Map(); // by recording
after(() => prompts.forEach((prompt) => prompt.close()));

async function promptOf(name, trace) {
  if (!prompts.has(name)) {
    const prompt = new Prompt(trace);
    prompts.set(name, prompt);
    for (const statement of KEPT) await prompt.rows(statement);
  }
  return prompts.get(name);
}

for (const name of ["postgres", "git", "namespaces"]) {
  for (const which of ["all", "a stretch"]) {
    test(`${name}, ${which}: every number is SQL's`, async (t) => {
      const page = await openPage(name, "#query");
      t.after(() => page.close());
      const prompt = await promptOf(name, page.trace);
      const [{ duration }] = await prompt.rows("SELECT max(epoch_ns(time) + coalesce(duration_ns, 0)) - min(epoch_ns(time)) AS duration FROM events WHERE parent_event_id IS NULL");
      const stretch = which === "all" ? {} : { from: Math.round(Number(duration) / 3), to: Math.round((2 * Number(duration)) / 3) };
      const walk = new Walk(page, prompt, stretch);
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
