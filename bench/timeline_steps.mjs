// How long a step takes in a browser: from a turn of the wheel until all of what is in view is drawn, of the server's picture in that scale.
//
//   build/bench/programs/bench_timeline_trace /tmp/day 10000000 100; build/dyetrace seal /tmp/day
//   third_party/.fetched/node/bin/node bench/timeline_steps.mjs /tmp/day [WIDTH HEIGHT]
//
// Zooms in from the whole day to a microsecond and out again, and moves, at ten places; also what is drawn at once, of the picture that is there. Each step waits for the one
// before it: how fast a person turns does not count.

import { closeAll, openTrace } from "../test/page/page.mjs";

const [, , trace, width = "1280", height = "720"] = process.argv;
const began = performance.now();
const test = await openTrace(trace, "#timeline", { viewport: { width: Number(width), height: Number(height) } });
const canvas = test.page.locator(".timeline canvas[data-state=drawn]");
await canvas.waitFor();
console.log(`first picture after ${((performance.now() - began) / 1000).toFixed(1)} s, with the browser's start`);
await test.page.getByText("open all").click();
await canvas.waitFor();

// It runs in the page, so that the driver's own time is not in it.
const steps = await test.page.evaluate(async () => {
  const found = document.querySelector(".timeline canvas"), area = found.getBoundingClientRect(), steps = [];
  const drawn = () => new Promise((done) => {
    const look = () => (found.dataset.state === "drawn" ? done() : requestAnimationFrame(look));
    look();
  });
  const span = () => /view=(\d+)-(\d+)/.exec(location.hash)?.slice(1).map(Number);
  const turn = async (place, kind, words) => {
    const begin = performance.now();
    found.dispatchEvent(new WheelEvent("wheel", { bubbles: true, cancelable: true, clientX: area.left + 220 + place * (area.width - 230), clientY: area.top + 200, ...words }));
    await drawn();
    const answers = performance.getEntriesByType("resource").filter(({ name, startTime }) => name.endsWith("api/timeline") && startTime >= begin);
    steps.push({ kind, ms: performance.now() - begin, drawing: Number(found.dataset.drawing), answer: Math.max(0, ...answers.map(({ duration }) => duration)) });
    performance.clearResourceTimings();
  };
  for (let place = 0; place < 10; ++place) {
    for (let i = 0; i < 36; ++i) await turn(0.05 + place / 11, "in", { deltaY: -400 });
    for (let i = 0; i < 5; ++i) await turn(0.5, "move", { deltaX: 300 });
    for (let i = 0; i < 36; ++i) await turn(0.5, "out", { deltaY: 400 });
    for (let i = 0; i < 5; ++i) await turn(0.5, "move", { deltaX: 300 });
    await new Promise((done) => setTimeout(done, 400));
  }
  return { steps, span: span() };
});
for (const kind of ["in", "out", "move", ""]) {
  const of = steps.steps.filter((step) => kind === "" || step.kind === kind).map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share) => of[Math.min(Math.floor(share * of.length), of.length - 1)].toFixed(0);
  const slow = steps.steps.filter((step) => (kind === "" || step.kind === kind) && step.ms >= of[Math.floor(0.9 * of.length)]);
  const mean = (name) => (slow.reduce((sum, step) => sum + step[name], 0) / slow.length).toFixed(0);
  console.log(`${(kind || "all").padEnd(5)} ${of.length} steps: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms; of the slowest tenth the answer took ${mean("answer")} ms, drawing ${mean("drawing")} ms`);
}
if (test.faults.length > 0) console.log("faults:", test.faults);
await test.close();
await closeAll();
