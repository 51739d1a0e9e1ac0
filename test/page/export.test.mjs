// Events saved for other tools: what is in the file, read with the formats' own messages, is what SQL says of what is shown.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build, dyetrace, makeFolder, openPage, openTrace } from "./page.mjs";

const READER = fileURLToPath(new URL("../end_to_end/read_export.py", import.meta.url));
const PYTHON = join(build, "readers/bin/python");
const SENT = "import socket; s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname()); d, _ = s.accept(); c.sendall(b'hello, world'); d.recv(99)";

let page;
before(async () => (page = await openPage("git", "#timeline")));
after(async () => {
  await page.close();
  assert.deepEqual(page.faults, []);
});

async function save(tool, from = page) {
  const [file] = await Promise.all([from.page.waitForEvent("download"), from.page.getByRole("button", { name: `Save the events for ${tool}`, exact: true }).click()]);
  return { name: file.suggestedFilename(), path: await file.path() };
}

const read = (kind, path) => JSON.parse(execFileSync(PYTHON, [READER, kind, path], { encoding: "utf8", maxBuffer: 1 << 28 }));
const idsIn = (slices) => slices.filter((one) => one.class !== "lost").map((one) => String(one.values.event_id)).sort();
const idsOf = (condition) => page.rows(`SELECT event_id::VARCHAR AS id FROM events WHERE ${condition}`).map(({ id }) => id).sort();

test("a whole trace as Perfetto's, the same bytes as dyetrace export's", async () => {
  await page.go("#timeline");
  const { name, path } = await save("Perfetto");
  assert.equal(name, "trace.pftrace");
  assert.deepEqual(idsIn(read("perfetto", path).slices), idsOf("true"));
  const folder = makeFolder("export");
  execFileSync(dyetrace, ["export", page.trace, "--perfetto", "-o", join(folder, "trace")], { stdio: "ignore" });
  assert.ok(readFileSync(path).equals(readFileSync(join(folder, "trace"))));
});

test("what the filter bar leaves, and no other event", async () => {
  const where = "class = 'pipe' OR error IS NOT NULL";
  await page.go(`#timeline?where=${encodeURIComponent(where)}`);
  const wanted = idsOf(where);
  assert.ok(wanted.length > 10);
  assert.deepEqual(idsIn(read("perfetto", (await save("Perfetto")).path).slices), wanted);
  const spans = read("otlp", (await save("OTLP")).path);
  assert.deepEqual(spans.map((span) => span.values["dyetrace.event_id"]).filter((id) => id !== undefined).map(String).sort(), wanted);
});

test("the stretch of the filter bar, and without one what is in view", async () => {
  const [{ begin, ...stretch }] = page.rows("SELECT min(ns)::VARCHAR AS begin, quantile_disc(ns, 0.3) - min(ns) AS from, quantile_disc(ns, 0.5) - min(ns) AS to FROM (SELECT epoch_ns(time) AS ns FROM events)");
  const from = Number(stretch.from), to = Number(stretch.to);
  const wanted = idsOf(`epoch_ns(time) - ${begin} <= ${to} AND epoch_ns(time) - ${begin} + coalesce(duration_ns, 0)::BIGINT >= ${from}`);
  assert.ok(wanted.length > 10 && wanted.length < page.number("SELECT count(*) FROM events"));
  for (const words of [`from=${from}&to=${to}`, `view=${from}-${to}`, `from=${from}&to=${to}&view=0-${to}`]) {
    await page.go(`#timeline?${words}`);
    await page.page.reload();
    await page.idle();
    assert.deepEqual(idsIn(read("perfetto", (await save("Perfetto")).path).slices), wanted, words);
  }
});

test("the same from Query", async () => {
  await page.go("#query?where=bytes+%3E+100");
  assert.deepEqual(idsIn(read("perfetto", (await save("Perfetto")).path).slices), idsOf("bytes > 100"));
});

test("without the bytes there are no packets, and the page says what to record", async () => {
  await page.go("#timeline");
  await page.page.getByRole("button", { name: "Save the events for pcapng" }).click();
  assert.match(await page.page.locator(".exports .error").innerText(), /--content=bytes/);
  assert.equal(page.faults.filter((fault) => /404/.test(fault)).length, 1, "the browser says what the server answered");
  page.faults.length = 0;
});

test("packets of a trace that has the bytes", async (t) => {
  const folder = makeFolder("export");
  execFileSync(dyetrace, ["record", "--content=bytes", "-o", join(folder, "trace"), "--", "python3", "-c", SENT], { stdio: "ignore" });
  const other = await openTrace(join(folder, "trace"), "#timeline");
  t.after(() => other.close());
  const { name, path } = await save("pcapng", other);
  assert.equal(name, "trace.pcapng");
  assert.equal(execFileSync("tshark", ["-r", path, "-Y", "tcp.len > 0", "-T", "fields", "-e", "tcp.payload"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim(),
    Buffer.from("hello, world").toString("hex"));
});

test("a file that takes long can be cancelled, and the next is made", async () => {
  await page.go("#timeline");
  await page.page.route("**/api/export", () => undefined); // it never comes back
  await page.page.getByRole("button", { name: "Save the events for Perfetto" }).click();
  assert.ok(await page.page.getByRole("button", { name: "Save the events for OTLP" }).isDisabled(), "one at a time");
  await page.page.getByRole("button", { name: "Cancel making the file" }).click();
  await page.page.locator(".exports", { hasText: "cancelled" }).waitFor();
  await page.page.unroute("**/api/export");
  assert.equal((await save("OTLP")).name, "spans.jsonl");
});
