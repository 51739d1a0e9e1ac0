// Lanes and messages: what is drawn is what SQL says of the same trace. Where things lie is read from the picture that is saved.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { dyetrace, openPage } from "./page.mjs";

let page;
before(async () => (page = await openPage("dyed", "#space-time")));
after(() => page.close());

const MOVED = "SELECT event_id, process_id, fingerprint FROM events WHERE bytes > 0 AND event_id IN (SELECT from_event FROM flows UNION SELECT to_event FROM flows)";
const BETWEEN = "FROM flows f JOIN events a ON a.event_id = f.from_event JOIN events b ON b.event_id = f.to_event WHERE a.process_id <> b.process_id";

const attributesOf = (text) => Object.fromEntries([...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));

// Messages and calls as they are drawn: what lies in the part that is cut off at the lanes' ends.
async function drawn(of = page) {
  const [file] = await Promise.all([of.page.waitForEvent("download"), of.page.getByRole("button", { name: "Save space-time as SVG" }).click()]);
  const inside = readFileSync(await file.path(), "utf8").split("</clipPath>")[1];
  const all = (name) => [...inside.matchAll(new RegExp(`<${name} ([^>]*)>`, "g"))].map(([, text]) => attributesOf(text));
  return { lines: all("line"), calls: all("circle").filter(({ r }) => r === "4"), dyes: all("circle").filter(({ r }) => r === "7.5") };
}

// Gives the colour that model/theme.ts gives, in the light theme.
function contentColour(fingerprint) {
  let hash = 0;
  for (const letter of fingerprint) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0;
  return `hsl(${Math.round((hash * 0.618034) % 360)} 65% 42%)`;
}

const word = (name) => page.page.evaluate((word) => new URLSearchParams(location.hash.split("?")[1] ?? "").get(word), name);
const windowShown = async () => {
  await page.page.waitForSelector("canvas[data-window]"); // it is drawn a frame after the view is there
  return (await page.page.locator("canvas").getAttribute("data-window")).split(" ").map(Number);
};
const settled = (condition) => page.page.waitForFunction(condition);
const follow = (...words) => JSON.parse(execFileSync(dyetrace, ["follow", page.trace, ...words, "--json"], { encoding: "utf8" }));

async function clickAt(x, y) {
  const { x: left, y: top } = await page.page.locator("canvas").boundingBox();
  await page.page.mouse.click(left + x, top + y);
}

test("each message between processes is a line, each call that moved bytes a dot, in the colour of its content", async () => {
  await page.go("#space-time");
  const { lines, calls, dyes } = await drawn(), moved = page.rows(MOVED);
  assert.equal(lines.length, page.number(`SELECT count(*) ${BETWEEN}`));
  assert.deepEqual(calls.map(({ stroke }) => stroke).sort(), moved.map(({ fingerprint }) => contentColour(String(fingerprint))).sort());
  assert.equal(dyes.length, page.number(`SELECT count(*) FROM (${MOVED}) JOIN events USING (event_id) WHERE dye_hits > 0`));
  assert.ok(dyes.length >= 8, "the dye was met at each end of each hop");
  await page.picture("space_time");
});

test("the same as a table, for those who do not see the picture", async () => {
  await page.go("#space-time");
  const rows = (await page.texts('table[aria-label="Messages"] tbody tr')).map((row) => row.split("\t"));
  assert.equal(rows.length, Math.min(200, page.number(`SELECT count(*) ${BETWEEN}`)));
  assert.ok(rows.every(([, from, to, , , rule, certainty]) => from !== to && rule === "tcp" && certainty === "certain"));
});

test("in the logical order every message goes forward, and each lane too", async () => {
  await page.go("#space-time?time=order");
  const { lines } = await drawn();
  assert.ok(lines.length > 100 && lines.every(({ x1, x2 }) => Number(x1) <= Number(x2)));
  await page.page.getByRole("button", { name: "time ↓" }).click();
  await settled(() => location.hash.includes("along=down"));
  await page.idle();
  assert.ok((await drawn()).lines.every(({ y1, y2 }) => Number(y1) <= Number(y2)));
});

test("a call that is clicked shows its trail alone: as many calls as follow reaches, forward and back", async () => {
  await page.go("#space-time");
  const ring = (await drawn()).dyes[2]; // the first taker of the dye
  await clickAt(Number(ring.cx), Number(ring.cy));
  await page.page.waitForSelector("#chosen");
  const event = await word("event"), [forward, back] = [[], ["--back"]].map((words) => follow("--event", event, ...words).hops.reduce((sum, { calls }) => sum + calls, 0) - 1);
  assert.ok(forward > 3 && back > 0, "it is in the middle of the relay");
  const said = await page.page.locator('section[aria-label="Chosen"]').innerText();
  assert.match(said, new RegExp(`its bytes: ${forward} calls later, ${back} before`));
  const { calls } = await drawn();
  assert.equal(calls.filter(({ opacity }) => opacity === undefined).length, forward + back + 1);
  await page.picture("space_time_trail");
  await page.page.getByRole("link", { name: "trail: where it went" }).click();
  await page.page.waitForSelector("svg[data-chart=trail]");
  assert.equal(await word("start"), `event:${event}`);
  await page.page.goBack();
  await page.page.waitForSelector("#chosen");
  await page.page.keyboard.press("Escape");
  await settled(() => document.querySelector("#chosen") === null);
});

test("a line that is clicked is that message", async () => {
  await page.go("#space-time");
  const { lines, calls } = await drawn();
  const middle = ({ x1, y1, x2, y2 }) => ({ x: (Number(x1) + Number(x2)) / 2, y: (Number(y1) + Number(y2)) / 2 });
  const isFar = ({ x, y }) => calls.every(({ cx, cy }) => Math.hypot(x - cx, y - cy) > 12);
  const line = lines.find((each) => isFar(middle(each)));
  await clickAt(middle(line).x, middle(line).y);
  await page.page.waitForSelector("#chosen");
  const [from, to] = [await word("event"), await word("message")];
  assert.ok(page.number(`SELECT count(*) FROM flows WHERE from_event = ${from} AND to_event = ${to}`) > 0);
});

test("arrows go from call to call on the canvas", async () => {
  await page.go("#space-time");
  await page.page.locator("canvas").focus();
  await page.page.keyboard.press("ArrowRight");
  await page.page.waitForSelector("#chosen");
  const first = await word("event");
  await page.page.waitForFunction(() => document.activeElement.tagName === "CANVAS");
  await page.page.keyboard.press("ArrowRight");
  await page.page.waitForFunction((before) => !location.hash.includes(`event=${before}`), first);
  const [next] = page.rows(`SELECT event_id FROM (${MOVED}) JOIN events USING (event_id) ORDER BY start_ns + CASE WHEN name IN ('read', 'recvfrom') THEN duration_ns ELSE 0 END, event_id LIMIT 1 OFFSET 1`);
  assert.equal(await word("event"), String(next.event_id));
});

test("the wheel zooms, d moves on, the address keeps where one is", async () => {
  await page.go("#space-time");
  const whole = await windowShown();
  const box = await page.page.locator("canvas").boundingBox();
  await page.page.mouse.move(box.x + box.width / 2, box.y + 100);
  await page.page.mouse.wheel(0, -500);
  await settled(() => location.hash.includes("begin="));
  const zoomed = await windowShown();
  assert.ok(zoomed[1] - zoomed[0] < (whole[1] - whole[0]) / 2 && zoomed[0] > whole[0] && zoomed[1] < whole[1]);
  await page.page.keyboard.press("d");
  await page.page.waitForFunction((begin) => Number(document.querySelector("canvas").dataset.window.split(" ")[0]) > begin, zoomed[0]);
  await page.page.waitForFunction((begin) => Number(new URLSearchParams(location.hash.split("?")[1]).get("begin")) > begin, zoomed[0]);
  const moved = await windowShown();
  await page.page.reload();
  await page.page.waitForSelector("canvas[data-window]");
  assert.ok(Math.abs((await windowShown())[0] - moved[0]) <= 1);
});

test("shift and drag selects a stretch of time in all views", async () => {
  await page.go("#space-time");
  const box = await page.page.locator("canvas").boundingBox();
  const { lines } = await drawn(), { x1, x2 } = lines[Math.floor(lines.length / 2)];
  await page.page.keyboard.down("Shift");
  await page.page.mouse.move(box.x + Math.min(x1, x2) - 10, box.y + 60);
  await page.page.mouse.down();
  await page.page.mouse.move(box.x + Math.max(x1, x2) + 10, box.y + 70, { steps: 3 });
  await page.page.mouse.up();
  await page.page.keyboard.up("Shift");
  await page.page.waitForFunction(() => location.hash.includes("from="));
  await page.idle();
  const [from, to] = [Number(await word("from")), Number(await word("to"))], [begin] = await windowShown();
  assert.ok(to > from && begin < to);
  const ends = `epoch_ns(time) - (SELECT epoch_ns(min(time)) FROM events)`;
  const left = page.rows(`WITH s AS (SELECT event_id, process_id FROM events WHERE bytes > 0 AND ${ends} <= ${to} AND ${ends} + coalesce(duration_ns, 0)::BIGINT >= ${from}) SELECT count(*) AS n FROM flows f JOIN s a ON a.event_id = f.from_event JOIN s b ON b.event_id = f.to_event WHERE a.process_id <> b.process_id`)[0].n;
  assert.ok(left > 0);
  assert.equal((await drawn()).lines.length, Number(left));
});

test("the slider joins contents that are alike, and stands in the address", async () => {
  await page.go("#space-time");
  const said = () => page.page.locator(".like").innerText();
  const contents = page.number(`SELECT count(DISTINCT fingerprint) FROM (${MOVED})`);
  assert.match(await said(), new RegExp(`the same content · ${contents} of ${contents} contents`));
  await page.page.locator("#like").fill("30");
  await page.page.waitForFunction(() => /30 % alike/.test(document.querySelector(".like").innerText) && location.hash.includes("like=30"));
  const joined = Number(/· (\d+) of/.exec(await said())[1]);
  const alike = page.number(`SELECT count(*) FROM similarities s JOIN events a ON a.event_id = s.a JOIN events b ON b.event_id = s.b WHERE item = 'event' AND jaccard >= 0.3 AND a.fingerprint <> b.fingerprint`);
  assert.ok(alike > 0 && joined < contents && joined >= contents - alike, `${joined} of ${contents}, ${alike} pairs`);
});

// A stretch of time with some hundred whole messages. Readers may be far behind their writers, so it grows from the shortest message.
function someOf(messages) {
  const all = messages.map(({ sent, taken }) => [Number(sent), Number(taken)]);
  const within = ([from, to]) => all.filter(([sent, taken]) => sent >= from && taken <= to).length;
  let chosen = all.reduce((short, message) => (message[1] - message[0] < short[1] - short[0] ? message : short));
  for (let wider = chosen; within(wider) <= 1000; wider = [2 * wider[0] - wider[1], 2 * wider[1] - wider[0]]) {
    chosen = wider;
  }
  return chosen;
}

test("of more than a picture holds the busiest lanes are shown, which is said, and zooming shows the rest", async (t) => {
  const crowd = await openPage("crowd", "#space-time");
  t.after(() => crowd.close());
  const between = crowd.number(`SELECT count(*) ${BETWEEN}`);
  assert.ok(between >= 6000);
  const said = async () => (await crowd.texts("#cut")).join("").replaceAll(",", "");
  assert.match(await said(), /the 40 busiest of 12\d lanes/);
  const [shown, all] = /(\d+) of (\d+) messages/.exec(await said()).slice(1).map(Number);
  assert.ok(shown === 3000 && all > 3000 && all <= between, `${shown} of ${all}, ${between}`);
  const moment = (event) => `epoch_ns(${event}.time) - (SELECT epoch_ns(min(time)) FROM events) + CASE WHEN ${event}.name = 'read' THEN ${event}.duration_ns::BIGINT ELSE 0 END`;
  const [from, to] = someOf(crowd.rows(`SELECT ${moment("a")} AS sent, ${moment("b")} AS taken ${BETWEEN}`));
  await crowd.go(`#space-time?begin=${from}&end=${to}`);
  const text = await crowd.page.locator("main").innerText();
  assert.match(text, /Messages: [\d,]+/);
  const rows = Number(/Messages: ([\d,]+)/.exec(text)[1].replaceAll(",", ""));
  const at = (event) => `${moment(event)} BETWEEN ${from} AND ${to}`;
  assert.equal(rows, crowd.number(`SELECT count(*) ${BETWEEN} AND ${at("a")} AND ${at("b")}`));
  assert.ok(rows > 0 && !(await said()).includes("messages"), await said());
  assert.deepEqual(crowd.faults, []);
});

test("lanes are nodes when asked: of one node there are no messages, and that is said", async () => {
  await page.go("#space-time");
  await page.page.getByRole("button", { name: "nodes" }).click();
  await settled(() => location.hash.includes("lane=node"));
  await page.idle();
  assert.match(await page.page.locator("main").innerText(), /from one node to another one/);
});

test("of many hosts no message arrives before it was sent, but by the hosts' own clocks some do; lanes can be hosts", async (t) => {
  const two = await openPage("hosts", "#space-time");
  t.after(() => two.close());
  const messages = two.number(`SELECT count(*) FROM flows f JOIN events a ON a.event_id = f.from_event JOIN events b ON b.event_id = f.to_event WHERE a.host <> b.host`);
  assert.ok(messages >= 800, `${messages} messages`);
  const backward = async () => {
    const { lines } = await drawn(two);
    assert.equal(lines.length, messages);
    return lines.filter(({ x1, x2 }) => Number(x2) < Number(x1)).length;
  };
  assert.equal(await backward(), 0);
  await two.page.getByRole("button", { name: "own clocks" }).click();
  await two.page.waitForFunction(() => location.hash.includes("time=raw"));
  await two.idle();
  const early = await backward();
  assert.ok(early > 0 && early <= messages / 2, `${early} of ${messages} go back in time: those of one direction, when the clocks are far enough apart`);
  await two.go("#space-time?lane=node");
  assert.equal(await backward(), 0);
  assert.deepEqual([...new Set((await two.texts('table[aria-label="Messages"] tbody tr')).flatMap((row) => row.split("\t").slice(1, 3)))].sort(), ["alpha", "beta"]);
  assert.deepEqual(two.faults, []);
});

test("of many hosts, too, a stretch of time has the events that SQL says", async (t) => {
  const two = await openPage("hosts", "#overview");
  t.after(() => two.close());
  const begin = String(two.rows("SELECT epoch_ns(min(time))::VARCHAR AS begin FROM events WHERE parent_event_id IS NULL")[0].begin);
  const length = two.number("SELECT epoch_ns(max(time)) - epoch_ns(min(time)) FROM events");
  const selected = (selection) => two.page.evaluate(async (words) => (await (await fetch("api/query", { method: "POST", body: words })).json()).rows[0], JSON.stringify({ sql: "SELECT count(*), sum(event_id)::VARCHAR FROM selected", selection }));
  for (let part = 0; part < 7; ++part) {
    const [from, to] = [part, part + 1].map((share) => Math.round((share * length) / 7));
    const { events, sum } = two.rows(`SELECT count(*) AS events, sum(event_id)::VARCHAR AS sum FROM events WHERE epoch_ns(time) - ${begin} <= ${to} AND epoch_ns(time) - ${begin} + coalesce(duration_ns, 0)::BIGINT >= ${from}`)[0];
    assert.ok(events > 0);
    assert.deepEqual(await selected({ from_ns: from, to_ns: to }), [Number(events), sum]);
  }
});

test("a trace without content says what to record, and one without events says so", async (t) => {
  const other = await openPage("hostile", "#space-time?calls=all");
  t.after(() => other.close());
  assert.match(await other.page.locator("main").innerText(), /record with dyetrace record --content=anchors/i);
  const empty = await openPage("empty", "#space-time?calls=all");
  t.after(() => empty.close());
  assert.match(await empty.page.locator("main").innerText(), /No call here moved bytes/);
  assert.deepEqual([other.faults, empty.faults], [[], []]);
});

test("nothing went wrong in the browser", () => assert.deepEqual(page.faults, []));
