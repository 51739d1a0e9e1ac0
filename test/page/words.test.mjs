// What the page says is so: of one call its own time, of a stretch what is in it, of text in a field whether it holds; and what is pressed is clicked.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PATIENCE_MS, eventually, openPage, openTrace, startRecording } from "./page.mjs";

const CALLS = "FROM selected WHERE parent_event_id IS NULL";
let page;
before(async () => (page = await openPage("git", "#overview")));
after(async () => {
  await page.close();
  assert.deepEqual(page.faults, []);
});

const UNITS = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9 };
const nsIn = (text) => {
  const [, amount, unit] = /([\d.]+) (ns|µs|ms|s|min|h)\b/.exec(text);
  return Number(amount) * UNITS[unit];
};

// Words of the call that the keyboard goes to, in a timeline that shows `view`.
async function wordsOf(event, from, to) {
  await page.go(`#timeline?where=${encodeURIComponent(`event_id = ${event}`)}&view=${Math.round(from)}-${Math.round(to)}`);
  await page.page.locator(".timeline canvas[data-state=drawn]").waitFor();
  const canvas = page.page.locator(".timeline canvas");
  await canvas.focus();
  await canvas.press("ArrowDown");
  await canvas.press("ArrowRight");
  await page.page.waitForFunction(() => /% of it waiting/.test(document.querySelector("#timeline-words").textContent));
  return page.page.locator("#timeline-words").innerText();
}

test("a call has its own time and share of waiting, whatever of it is in view", async () => {
  const [{ event_id, at_ns, duration_ns, on_cpu_ns }] = page.rows(`SELECT event_id, at_ns, duration_ns, on_cpu_ns ${CALLS} AND on_cpu_ns > 0 AND on_cpu_ns * 1000 < duration_ns ORDER BY duration_ns DESC LIMIT 1`);
  const middle = Number(at_ns) + Number(duration_ns) / 2, waiting = 100 * (1 - Number(on_cpu_ns) / Number(duration_ns));
  for (const [from, to] of [[Number(at_ns) - 1000, Number(at_ns) + 1.5 * Number(duration_ns)], [middle - 50_000, middle + 50_000]]) {
    const words = await wordsOf(event_id, Math.max(from, 0), to);
    const [, share, digits = ""] = /, ((?:\d+)(\.\d+)?) % of it waiting/.exec(words);
    assert.ok(Math.abs(Number(share) - waiting) <= 0.5 * 10 ** -Math.max(digits.length - 1, 0), `${share} % is ${waiting} %: ${words}`);
    assert.notEqual(Number(share), 100, `${on_cpu_ns} ns on a CPU: ${words}`);
    const said = nsIn(/, ([\d.]+ (?:ns|µs|ms|s|min|h)), [\d.]+ % of it/.exec(words)[1]);
    assert.ok(Math.abs(said / Number(duration_ns) - 1) < 0.051, `${said} ns are ${duration_ns} ns: ${words}`);
  }
});

test("a stretch is as long as it is, and what is worth a look is of it", async () => {
  const [{ at_ns, duration_ns }] = page.rows(`SELECT at_ns, duration_ns ${CALLS} AND duration_ns IS NOT NULL ORDER BY duration_ns DESC LIMIT 1`);
  const [from, to] = [0.48, 0.52].map((share) => Math.round(Number(at_ns) + share * Number(duration_ns)));
  const asked = page.page.waitForRequest((request) => request.url().endsWith("/api/report"));
  await page.go(`#overview?from=${from}&to=${to}`);
  const long = await page.part("In short").locator("li", { hasText: /long$/ }).locator("a").innerText();
  assert.ok(Math.abs(nsIn(long) / (to - from) - 1) < 0.051, `${long} is ${to - from} ns`);
  const overlap = page.number(`SELECT count(*) ${CALLS} AND at_ns < ${from} AND at_ns + duration_ns > ${to}`);
  assert.ok(overlap > 0, "a call reaches over both ends of it");
  const question = (await asked).postDataJSON();
  assert.deepEqual(question.selection, { from_ns: from, to_ns: to });
  const report = await (await page.page.request.post(`${page.server.url}api/report`, { data: question })).json();
  assert.equal(report.overview.calls, page.number(`SELECT count(*) ${CALLS} AND kind = 'syscall' AND at_ns <= ${to} AND at_ns + coalesce(duration_ns, 0) >= ${from}`));
});

test("a process is said by its pid: in the filter, in links, in lanes", async () => {
  await page.go("#overview");
  const rows = await page.part("Busiest processes").locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map(({ title }) => title)));
  for (const [name, , , , , , command] of rows) {
    assert.match(name, /.\[\d+\]$/);
    assert.equal(command, page.rows(`SELECT command FROM processes WHERE pid = ${/\[(\d+)\]$/.exec(name)[1]}`)[0].command ?? "");
  }
  await page.part("Busiest processes").locator("tbody tr a").first().click();
  await page.page.waitForFunction(() => location.hash.includes("where="));
  await page.idle();
  assert.match(await page.page.locator("#filter .cm-content").innerText(), new RegExp(`^pid = ${/\[(\d+)\]$/.exec(rows[0][0])[1]}$`));
  const calls = await page.part("In short").locator("li", { hasText: /calls$/ }).locator("a").innerText();
  assert.equal(calls.replaceAll(",", ""), rows[0][1]);
  const crowd = await openPage("crowd", "#space-time");
  const lanes = crowd.rows("SELECT process FROM selected GROUP BY 1").map(({ process }) => process);
  const answer = await (await crowd.page.request.post(`${crowd.server.url}api/rows`, { data: { name: "space_time_cluster", rows_max: 100_000, selection: {}, parameters: { lanes: "process", is_all: false, window_begin: null, window_end: null, event: null, lanes_max: 40, lines_max: 10, inner_max: 10, moves_max: 20 } } })).json();
  const named = answer.rows.filter(([kind]) => kind === "lane").map((row) => row[7]);
  assert.equal(named.length, 40);
  for (const name of named) assert.ok(lanes.includes(name), `the lane ${name}`); // of most of them no call is among the twenty
  await crowd.close();
});

test("what would have had to wait is no error", async () => {
  const postgres = await openPage("postgres", "#overview");
  const asked = postgres.number("SELECT count(*) FROM events WHERE parent_event_id IS NULL AND error = 'EAGAIN' AND class = 'network'");
  assert.ok(asked > 100, "its servers ask before there is anything");
  const fact = async (name) => Number((await postgres.part("In short").locator("li", { hasText: name }).locator("a").innerText()).replaceAll(",", ""));
  assert.ok((await fact("would have had to wait")) >= asked);
  assert.ok((await fact(/errors?$/)) < asked);
  await postgres.part("In short").locator("li", { hasText: "would have had to wait" }).locator("a").click();
  await postgres.page.waitForFunction(() => location.hash.startsWith("#query") && document.querySelector("#answer tbody tr") !== null);
  assert.deepEqual(await postgres.texts("#view .error"), []);
  await postgres.close();
});

test("a recording says how old it is, and its timeline comes to be as long as it", async (t) => {
  const recording = await startRecording(t);
  const live = await openTrace(recording.trace, "#timeline");
  t.after(() => live.close());
  await live.page.waitForFunction(() => /newest call (less than 1 s|\d+ s) ago/.test(document.querySelector("#trace").textContent));
  recording.pause();
  // Nothing comes any more: the age grows, and the last of it is in the timeline, too.
  await live.page.waitForFunction(() => /newest call ([3-9]|\d\d+) s ago/.test(document.querySelector("#trace").textContent));
  await live.page.waitForFunction(() => {
    const said = (selector, pattern) => pattern.exec(document.querySelector(selector)?.textContent ?? "")?.[1];
    const events = said("#trace", /([\d,]+) events/);
    return events !== undefined && events === said("#timeline-words", / ([\d,]+) events in all/);
  });
  assert.deepEqual(live.faults, []);
});

// The overview counts calls; who reads a chart has the focus in it, and it stays as it is.
test("a recording that somebody is in goes on in the head, which says how old the view is", async (t) => {
  const recording = await startRecording(t);
  const live = await openTrace(recording.trace, "#overview");
  t.after(() => live.close());
  await live.page.evaluate(() => {
    window.number = (text) => Number(/([\d,]+) (?:events|calls)/.exec(text)?.[1].replaceAll(",", "") ?? "0");
    window.known = () => window.number(document.querySelector("#trace").textContent);
    window.shown = () => window.number(document.querySelector('section[aria-label="In short"]')?.innerText.replace("\n", " ") ?? "");
    window.said = () => document.querySelector("#trace").textContent;
  });
  await live.page.waitForFunction(() => window.shown() > 0);
  await eventually("the focus is in the view, which is not being made anew", async () => {
    await live.idle();
    await live.page.locator("svg[data-chart=rates]").focus();
    return live.page.evaluate(() => document.activeElement.dataset.chart === "rates" && !document.querySelector("main").hasAttribute("aria-busy"));
  });
  const [known, shown] = await live.page.evaluate(() => [window.known(), window.shown()]);
  await live.page.waitForFunction((known) => {
    const [, call = "0", view] = /newest call (?:less than 1|(\d+)) s ago · the view is of (\d+) s ago/.exec(window.said()) ?? [];
    return window.known() > known && Number(call) < Number(view);
  }, known);
  assert.equal(await live.page.evaluate(() => window.shown()), shown, "the chart that is read stays");
  await live.page.evaluate(() => document.activeElement.blur());
  await live.page.waitForFunction((known) => window.shown() > known, known);
  const hold = live.page.locator("button.live");
  await hold.click();
  const held = await live.page.evaluate(() => window.known());
  await live.page.waitForFunction((held) => window.known() > held && /recording, held/.test(window.said()) && /the view is of/.test(window.said()), held);
  await recording.stop();
  await live.page.waitForFunction(() => /it has ended, held/.test(window.said()));
  await hold.click();
  await live.page.waitForFunction(() => !/held|followed|ago/.test(document.querySelector("#trace").innerText));
  assert.deepEqual(live.faults, []);
});

// Each answer to a view is held back for a while, as those to a large recording take.
test("a view that takes long is asked for again after a rest that is longer", async (t) => {
  const recording = await startRecording(t);
  const HELD_MS = 500, RESTS = 3, moments = [];
  const prepare = (page) =>
    page.route("**/api/report", async (route) => {
      const asked = performance.now();
      const answer = await route.fetch({ timeout: PATIENCE_MS });
      await new Promise((done) => setTimeout(done, HELD_MS));
      moments.push({ asked, answered: performance.now() });
      await route.fulfill({ response: answer });
    });
  const live = await openTrace(recording.trace, "#overview", { prepare });
  t.after(() => live.close());
  await eventually("it is asked twice", () => moments.length >= 2);
  moments.slice(1).forEach(({ asked }, at) => {
    const before = moments[at], rest = asked - before.answered, least = RESTS * (before.answered - before.asked);
    assert.ok(rest > 0.9 * least, `${rest} ms after a view of ${before.answered - before.asked} ms`); // the browser's clock is not this one
  });
  await recording.stop(); // the rest of what is held back has nobody to go to
});

// The path of the link that has the pointer down on it when it is pressed where this one is; undefined: none, or it was taken away while looked at.
async function pressed(link) {
  const box = await link.boundingBox();
  if (box === null) {
    return undefined;
  }
  await page.page.mouse.move(box.x + 5, box.y + box.height / 2);
  await page.page.mouse.down();
  return page.page.evaluate(() => document.querySelector("tbody a:active")?.title);
}

// Also where the answer comes while it is pressed.
test("a file that is pressed while what was searched for comes is shown", async () => {
  await page.go("#file");
  let answer;
  const asked = new Promise((done) => {
    void page.page.route("**/api/**", async (route) => {
      if (answer === undefined && (route.request().postData() ?? "").includes("git")) {
        answer = route;
        done();
      } else {
        await route.continue();
      }
    });
  });
  await page.page.locator("input[type=search]").fill("git");
  await asked;
  const path = await pressed(page.part("Files").locator("tbody a").first());
  await Promise.all([page.page.waitForResponse((response) => response.request() === answer.request()), answer.continue()]);
  await page.page.evaluate(() => new Promise((done) => setTimeout(done, 500))); // for what is done with it
  await page.page.mouse.up();
  await page.page.unroute("**/api/**");
  await page.page.waitForFunction(() => location.hash.includes("object="));
  await page.idle();
  assert.equal(await page.part("File").locator("strong").getAttribute("title"), path);
});

test("a file that is pressed while the search is being typed is shown", async () => {
  for (let time = 0; time < 3; ++time) {
    await page.go("#file");
    await page.page.locator("input[type=search]").pressSequentially("git");
    const link = page.part("Files").locator("tbody a").first();
    let path;
    // What the search found may come between the look at where a link is and the press: then another one is pressed, or none.
    while ((path = await pressed(link)) === undefined) {
      await page.page.mouse.up();
    }
    await page.page.evaluate(() => new Promise((done) => setTimeout(done, 500))); // it is held for longer than the search waits
    await page.page.mouse.up();
    await page.page.waitForFunction(() => location.hash.includes("object="));
    await page.idle();
    assert.ok((await page.part("File").locator("strong").getAttribute("title")) === path);
  }
});

test("what is typed into the search is what the list holds, without Enter", async () => {
  await page.go("#file");
  await page.page.locator("input[type=search]").fill("/objects/");
  await page.page.waitForFunction(() => location.hash.includes("like=") && !document.querySelector("main").hasAttribute("aria-busy"));
  const shown = await page.part("Files").locator("tbody a").evaluateAll((links) => links.map(({ title }) => title));
  assert.ok(shown.length > 0 && shown.every((title) => title.includes("/objects/")), shown.join());
  const search = page.page.locator("input[type=search]");
  assert.deepEqual([await search.isVisible(), await search.inputValue()], [true, "/objects/"], "the field is there to write on in");
  await search.press("Backspace");
  await page.page.waitForFunction(() => /like=%2Fobjects(&|$)/.test(location.hash));
});

test("text of the filter bar that does not hold says so, and can be made to", async () => {
  await page.go("#overview");
  const pending = page.page.locator("#not-in-force");
  assert.equal(await pending.innerText(), "");
  await page.page.locator("#filter .cm-content").fill("error IS NOT NULL");
  await page.page.waitForFunction(() => /not in force/.test(document.querySelector("#not-in-force").textContent));
  assert.ok(!page.page.url().includes("where="));
  await page.page.keyboard.press("Escape");
  await page.page.keyboard.press("Escape"); // what completion offers, then the field
  await pending.getByRole("button").click();
  await page.page.waitForFunction(() => location.hash.includes("where="));
  await page.idle();
  assert.equal(await pending.innerText(), "");
  await page.page.locator("#stretch").fill("1 ms … 2 ms");
  await page.page.waitForFunction(() => /not in force/.test(document.querySelector("#not-in-force").textContent));
  await page.page.locator("h1").click();
  assert.match(await pending.innerText(), /not in force/, "leaving the field does not hide it");
  await page.page.locator("#stretch").press("Enter");
  await page.page.waitForFunction(() => location.hash.includes("from=1000000"));
  await page.idle();
  assert.equal(await pending.innerText(), "");
});
