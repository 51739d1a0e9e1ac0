// The timeline: what it shows is what SQL says; wheel, drag, keys, choosing, filter, flows, files.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { differing, openPage, openTrace, sqlNumber, startRecording } from "./page.mjs";

const CALLS = "FROM events WHERE parent_event_id IS NULL";
const canvasOf = (page) => page.page.locator(".timeline canvas");

async function open(t, name, hash = "#timeline", options = {}) {
  const page = await openPage(name, hash, options);
  t.after(async () => {
    await page.close();
    assert.deepEqual(page.faults, []);
  });
  return page;
}

async function drawn(page) {
  await page.page.locator(".timeline canvas[data-state=drawn]").waitFor();
}

// Asked again until it is so: the address follows when nobody moves any more.
async function until(page, what, condition, argument) {
  await page.page.waitForFunction(condition, argument).catch(() => assert.fail(`it never came that ${what}`));
}

const viewOf = async (page) => /view=(\d+)-(\d+)/.exec(await page.page.evaluate(() => location.hash))?.slice(1).map(Number) ?? null;

async function tableRows(page) {
  const details = page.page.locator(".timeline details");
  if ((await details.getAttribute("open")) === null) {
    await details.locator("summary").click();
  }
  await details.locator("tbody tr").first().waitFor();
  return details.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
}

const number = (text) => Number(text.replaceAll(",", ""));

test("the rows are the nodes, processes and threads of the trace, with all their calls", async (t) => {
  const page = await open(t, "git");
  await drawn(page);
  const rows = await tableRows(page);
  const nodes = rows.filter(([, what]) => what === "node");
  assert.equal(nodes.length, 1);
  assert.equal(number(nodes[0][2]), page.number(`SELECT count(*) ${CALLS}`));
  const expected = page.rows(`SELECT count(*) AS calls ${CALLS} GROUP BY process_id ORDER BY 1`).map(({ calls }) => Number(calls));
  const processes = rows.filter(([, what]) => what === "process").map(([, , calls]) => number(calls));
  assert.deepEqual(processes.sort((a, b) => a - b), expected);
  const threads = page.number("SELECT count(*) FROM threads WHERE process_id IN (SELECT process_id FROM threads GROUP BY 1 HAVING count(*) > 1)");
  assert.equal(rows.filter(([, what]) => what === "thread").length, threads);
  await page.picture("timeline");
});

test("a filter leaves the calls that it selects, and none is said to be none", async (t) => {
  const page = await open(t, "git");
  await drawn(page);
  await page.filter("class = 'pipe'");
  await until(page, "the filter is in the words", () => document.querySelector("#timeline-words")?.textContent.includes("that the filter leaves"));
  const words = await page.page.locator("#timeline-words").innerText();
  assert.equal(number(/lanes · ([\d,]+) events/.exec(words)[1]), page.number(`SELECT count(*) ${CALLS} AND class = 'pipe'`));
  await page.filter("comm = 'nobody'");
  await page.page.getByText("The filter leaves no event.").waitFor();
});

test("keys go to a call and open it: the row beneath is the one that SQL has", async (t) => {
  const page = await open(t, "git");
  await drawn(page);
  const canvas = canvasOf(page);
  await canvas.focus();
  for (let i = 0; i < 2; ++i) await canvas.press("ArrowDown"); // node, process, thread
  await canvas.press("ArrowRight");
  await canvas.press("Enter");
  const cell = (column) => page.page.locator(`table.event td[data-column="${column}"]`);
  await cell("event_id").waitFor();
  const id = await cell("event_id").innerText();
  const [event] = page.rows(`SELECT name, tid, duration_ns, epoch_ns(time) - (SELECT min(epoch_ns(time)) ${CALLS}) AS at_ns ${CALLS} AND event_id = ${id}`);
  assert.equal(await cell("name").innerText(), event.name);
  assert.equal(await cell("tid").innerText(), String(event.tid));
  assert.equal(await cell("duration_ns").getAttribute("title"), String(event.duration_ns));
  assert.equal(await cell("at_ns").getAttribute("title"), String(event.at_ns));
});

// What a chosen wait says, and the row of woken_by() that says the same.
async function chosenWait(page, where) {
  await page.go(`#timeline?where=${encodeURIComponent(where)}`);
  await drawn(page);
  const canvas = canvasOf(page);
  await canvas.focus();
  await canvas.press("ArrowDown");
  await canvas.press("ArrowRight");
  await canvas.press("Enter");
  const cell = page.page.locator('table.event td[data-column="event_id"]');
  await cell.waitFor();
  const event = await cell.getAttribute("title");
  return { event, words: await page.page.locator("p[data-wait]").innerText(), rows: page.rows(`FROM woken_by(${event})`) };
}

test("a wait says what ended it: what was ready, who woke it, which thread ended", async (t) => {
  const page = await open(t, "waits");
  const [{ tid }] = page.rows("SELECT pid AS tid FROM events WHERE name = 'epoll_create1'");
  const epoll = await chosenWait(page, `tid = ${tid} AND name = 'epoll_wait'`);
  assert.equal(page.number(`SELECT count(*) FROM events WHERE event_id = ${epoll.event} AND name = 'epoll_wait'`), 1);
  assert.equal(epoll.words, `Ready: ${epoll.rows[0].what} (POLLIN). `.trimEnd());
  const futex = await chosenWait(page, `tid = ${tid} AND name = 'futex' AND duration_ns > 5000000 AND arguments LIKE '%FUTEX_WAIT_BITSET_PRIVATE%'`);
  assert.equal(futex.rows[0].rule, "wake");
  assert.equal(futex.words, `Woken by ${futex.rows[0].what}.`);
  await page.picture("timeline_wait");
  const joined = await chosenWait(page, `tid = ${tid} AND name = 'futex' AND arguments NOT LIKE '%PRIVATE%' AND result = 0`);
  assert.equal(joined.words, `Waited for the end of the thread ${joined.rows[0].what}.`);
  const poll = await chosenWait(page, `tid = ${tid} AND name = 'poll' AND result = 0`);
  assert.match(poll.words, /^Its time was up\. Not ready: pipe:\[\d+\], pipe:\[\d+\]\.$/);
});

test("the wheel zooms at the pointer, down to a nanosecond's neighbourhood and back to all", async (t) => {
  const page = await open(t, "git");
  await drawn(page);
  const box = await canvasOf(page).boundingBox();
  const x = box.x + 210 + (box.width - 210) / 4;
  await page.page.mouse.move(x, box.y + 60);
  const span = lengthOf(page);
  await page.page.mouse.wheel(0, -500);
  await until(page, "the view is in the address", (all) => { const [, a, b] = /view=(\d+)-(\d+)/.exec(location.hash) ?? []; return b - a < all / 2; }, span);
  const [from, to] = await viewOf(page);
  const at = span * 1.02 * 0.25;
  assert.ok(to - from < span / 2 && from < at && at < to, `${from} ${to}`);
  assert.ok(Math.abs((at - from) / (to - from) - 0.25) < 0.02, "what was under the pointer is there still");
  for (let i = 0; i < 40; ++i) await page.page.mouse.wheel(0, -500);
  await until(page, "it is a microsecond", () => { const [, a, b] = /view=(\d+)-(\d+)/.exec(location.hash); return b - a <= 1000; });
  await canvasOf(page).focus();
  await page.page.keyboard.press("Home");
  await until(page, "it is all", (all) => { const [, a, b] = /view=(\d+)-(\d+)/.exec(location.hash); return b - a >= all; }, span);
});

test("an address that is typed moves the view, however soon it comes, and the back button moves it back", async (t) => {
  const page = await open(t, "git");
  await drawn(page); // the view is about to write where it is
  const typed = [1_000_000, 3_000_000];
  await page.go(`#timeline?view=${typed.join("-")}`);
  await page.page.locator("#timeline-words", { hasText: /^2(\.0+)? ms in view/ }).waitFor(); // nobody moves any more: the view has written where it is
  assert.deepEqual(await viewOf(page), typed);
  await page.page.goBack();
  await page.page.locator("#timeline-words", { hasText: /^2(\.0+)? ms in view/ }).waitFor({ state: "detached" });
});

const lengthOf = (page) => page.number(`SELECT max(epoch_ns(time) + coalesce(duration_ns, 0)::BIGINT) - min(epoch_ns(time)) ${CALLS}`);
// `pixels` gives the lanes' upper part, as letters: a million numbers take seconds on their way.
const NODE = 24; // the first lane, into which nothing is written
const pixels = (page, height = 200) =>
  canvasOf(page).evaluate((canvas, height) => {
    const { data } = canvas.getContext("2d").getImageData(210, 26, canvas.width - 210, height);
    return Array.from({ length: Math.ceil(data.length / 8192) }, (_, part) => String.fromCharCode(...data.subarray(8192 * part, 8192 * (part + 1)))).join("");
  }, height);

// Words that come change no size: of a timeline that gets another one all is asked for again, and no longer for somebody who moves.
async function keepSize(page) {
  const fixed = () => {
    const style = new CSSStyleSheet();
    style.replaceSync("#timeline-words { height: 6em; overflow: hidden }");
    document.adoptedStyleSheets.push(style);
  };
  await page.page.addInitScript(fixed);
  await page.page.evaluate(fixed);
}

// The first third of the trace is in view.
async function openThird(t) {
  const page = await open(t, "git");
  await keepSize(page);
  await drawn(page);
  const third = Math.round(lengthOf(page) / 3);
  await page.go(`#timeline?view=0-${third}`);
  await page.page.reload();
  await drawn(page);
  await canvasOf(page).focus();
  return { page, third };
}

async function press(page, keys) {
  for (const key of keys) {
    await page.page.keyboard.press(key);
    await drawn(page);
  }
}

test("who moves finds what comes next there already, and it is what the server says of that time", async (t) => {
  const { page, third } = await openThird(t);
  let asked = 0;
  page.page.on("request", (request) => (asked += request.url().endsWith("api/timeline") ? 1 : 0));
  await press(page, "dddddd");
  assert.ok(asked >= 1 && asked < 6, `six moves asked ${asked} times`);
  await until(page, "the address follows", (begin) => Math.abs(Number(/view=(\d+)/.exec(location.hash)[1]) - begin) < 2, 6 * 0.15 * third);
  const seen = () => canvasOf(page).evaluate((canvas) => `${location.hash} ${canvas.width}x${canvas.height} ${JSON.stringify(canvas.dataset)}`);
  const [moved, seenMoved] = [await pixels(page), await seen()];
  await page.picture("timeline-moved");
  await page.page.reload();
  await drawn(page);
  const differs = differing(await pixels(page), moved); // in wide calls words follow; columns of the two begin at other fractions of a pixel
  await page.picture("timeline-moved-asked");
  assert.ok(differs < 0.05, `${differs} of the picture is another one; moved: ${seenMoved}; asked anew: ${await seen()}`);
});

// When nobody moves any more words come below the lanes, which get lower: who looked in that moment saw nothing.
test("a timeline that gets another size is drawn at once: in no frame it is seen empty", async (t) => {
  const page = await open(t, "git");
  await drawn(page);
  const labels = await page.page.evaluateHandle(() => {
    const canvas = document.querySelector(".timeline canvas"), { height } = canvas;
    const seen = () => canvas.getContext("2d").getImageData(0, 0, 200, 200).data.join();
    const after = new Promise((done) => new ResizeObserver(() => canvas.height !== height && done(seen())).observe(canvas.parentElement)); // it is told after the page's own, in the same frame
    return { before: seen(), after };
  });
  await page.page.setViewportSize({ width: 1280, height: 600 });
  assert.ok(await labels.evaluate(async ({ before, after }) => before === (await after)), "the labels are as they were");
});

test("who moves on and comes back still sees all when the picture arrives that was asked for on the way", async (t) => {
  const { page } = await openThird(t);
  await page.page.evaluate(() => {
    window.taken = 0;
    const read = Response.prototype.arrayBuffer;
    Response.prototype.arrayBuffer = async function () {
      const bytes = await read.call(this);
      setTimeout(() => ++window.taken); // when who waits for it has it
      return bytes;
    };
  });
  await press(page, "ddd");
  await until(page, "the picture with what comes next is there", () => window.taken === 1);
  let hold;
  const held = new Promise((done) => (hold = done));
  await page.page.route("**/api/timeline", hold);
  const asked = page.page.waitForRequest("**/api/timeline");
  await press(page, "d");
  await asked;
  const route = await held;
  await press(page, "aaa");
  const before = await pixels(page, NODE);
  await route.continue();
  await until(page, "the picture is there that was asked for", () => window.taken === 2);
  await press(page, ["ArrowUp"]); // draws anew
  await page.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  assert.ok((await pixels(page, NODE)) === before, "it is as it was before that picture came");
});

test("what wide calls act on is asked for, and flows are, also when the picture comes after nobody moved any more", async (t) => {
  let isSettled;
  const settled = new Promise((done) => (isSettled = done));
  const page = await open(t, "git", "#query");
  await keepSize(page);
  await page.page.route("**/api/timeline", async (route) => {
    await settled;
    await route.continue();
  });
  const asked = Promise.all([
    page.page.waitForRequest((request) => request.url().endsWith("api/rows") && request.postData().includes("timeline_targets")),
    page.page.waitForRequest((request) => request.url().endsWith("api/timeline_flows")),
  ]);
  await page.go("#timeline?flows=on");
  await page.page.locator("#timeline-words", { hasText: " in view" }).waitFor();
  isSettled();
  await asked;
});

test("Shift and a drag select a stretch of time, in all views; the back button undoes it", async (t) => {
  const page = await open(t, "git");
  await drawn(page);
  const box = await canvasOf(page).boundingBox();
  const middle = box.x + 210 + (box.width - 210) / 2;
  await page.page.keyboard.down("Shift");
  await page.page.mouse.move(middle - 100, box.y + 100);
  await page.page.mouse.down();
  await page.page.mouse.move(middle + 100, box.y + 100, { steps: 4 });
  await page.page.mouse.up();
  await page.page.keyboard.up("Shift");
  await page.page.locator("#all-time").waitFor();
  const words = new URLSearchParams((await page.page.evaluate(() => location.hash)).split("?")[1]);
  const span = lengthOf(page) * 1.02;
  const pixel = span / (box.width - 210);
  assert.ok(Math.abs(Number(words.get("from")) - (span / 2 - 100 * pixel)) < 3 * pixel);
  assert.ok(Math.abs(Number(words.get("to")) - (span / 2 + 100 * pixel)) < 3 * pixel);
  await page.page.goBack();
  await page.page.locator("#all-time").waitFor({ state: "detached" });
});

test("what is under the pointer is said, and stays to be copied after a click", async (t) => {
  const page = await open(t, "git");
  const [{ end }] = page.rows("SELECT at_ns + duration_ns AS end FROM selected WHERE name = 'execve' ORDER BY at_ns LIMIT 1");
  await page.go(`#timeline?view=0-${3 * Number(end)}`); // the first call fills a third of it
  await drawn(page);
  const box = await canvasOf(page).boundingBox();
  const tip = page.page.locator(".tip");
  await page.page.mouse.move(box.x + 260, box.y + 26 + 26 + 22 + 9);
  await until(page, "there are words", () => document.querySelector(".tip")?.textContent.includes("execve"));
  await page.page.mouse.down();
  await page.page.mouse.up();
  await page.page.mouse.move(box.x + 600, box.y + 300);
  assert.match(await tip.innerText(), /execve/);
  assert.equal(await tip.evaluate((element) => getComputedStyle(element).userSelect), "text");
  await page.page.locator('section[aria-label="Chosen event"] table').waitFor();
  await page.picture("timeline-chosen");
});

test("bytes that went from thread to thread are drawn, as many as SQL knows", async (t) => {
  const page = await open(t, "relay", "#timeline?flows=on", { colorScheme: "dark" });
  await drawn(page);
  const said = await page.page.waitForFunction(() => /^.*[\d,]+ flows of.*$/s.exec(document.querySelector("#timeline-words")?.textContent ?? "")?.[0]); // they may be asked for anew
  const words = await said.jsonValue();
  const expected = page.number("SELECT count(*) FROM flows f JOIN events a ON a.event_id = f.from_event JOIN events b ON b.event_id = f.to_event WHERE a.thread_id <> b.thread_id AND a.parent_event_id IS NULL AND b.parent_event_id IS NULL");
  assert.ok(expected > 300);
  assert.equal(number(/([\d,]+) flows/.exec(words)[1]), expected);
  assert.match(words, /bundles/);
  await page.picture("timeline-flows-dark");
});

test("a picture is saved as SVG and PNG, with the same runs", async (t) => {
  const page = await open(t, "git");
  await drawn(page);
  for (const [kind, begins] of [["SVG", "<svg"], ["PNG", "\x89PNG"]]) {
    const [file] = await Promise.all([page.page.waitForEvent("download"), page.page.getByRole("button", { name: `Save timeline as ${kind}` }).click()]);
    const bytes = readFileSync(await file.path(), "latin1");
    assert.ok(bytes.startsWith(begins), kind);
    if (kind === "SVG") {
      assert.ok(bytes.split("<rect").length > 300 && bytes.includes("git["), "it has runs and names");
    }
  }
});

test("hostile names are text, and a trace without events says so", async (t) => {
  const hostile = await open(t, "hostile");
  await drawn(hostile);
  await tableRows(hostile);
  assert.notEqual(await hostile.page.title(), "owned");
  assert.equal(await hostile.page.locator(".timeline b, .timeline img, .timeline script").count(), 0);
  const empty = await open(t, "empty");
  await empty.page.getByText("No event was recorded.").waitFor();
});

test("of a recording the timeline grows", async (t) => {
  const recording = await startRecording(t);
  const page = await openTrace(recording.trace, "#timeline");
  t.after(() => page.close());
  await page.page.evaluate(() => {
    window.calls = () => Number(/ lanes · ([\d,]+) events/.exec(document.querySelector("#timeline-words")?.textContent ?? "")?.[1].replaceAll(",", "") ?? "0");
  });
  await until(page, "there are calls", () => window.calls() > 0);
  await until(page, "there are more", (before) => window.calls() > before, await page.page.evaluate(() => window.calls()));
  await recording.stop();
  const all = sqlNumber(recording.trace, `SELECT count(*) ${CALLS}`);
  await until(page, "all are there when it has ended", (all) => window.calls() === all, all);
  assert.deepEqual(page.faults, []);
});
