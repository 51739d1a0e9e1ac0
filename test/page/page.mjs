// A trace in the browser, for tests that click and look.
//
//   const page = await openPage("git", "#overview");      records (once for all tests of a build), serves, opens
//   await page.idle();                                    what was asked is answered
//   await page.rows("SELECT count(*) FROM events");       what SQL says of the same trace, in a process of its own
//
// The tests of a file share a browser, and a server for each trace; each page has its own context. Nothing here waits for a time: who waits looks for what it waits for.
// Root is needed: traces are recorded. Pictures are taken for people only, if DYETRACE_PICTURES names a folder
// for them: page.picture("overview") makes overview.png. tools/page_pictures takes those of the documentation so.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
export const build = resolve(process.env.DYETRACE_BUILD ?? join(here, "../../build"));
export const dyetrace = join(build, "dyetrace");
const { chromium } = createRequire(join(here, "../../build/page-tests/"))("playwright-core");
export const PATIENCE_MS = 180_000; // for what should take a second or two; the machine may be busy

const traces = new Map();

// ctest has recorded it before (CMakeLists.txt); a file that is run by hand records what it lacks.
export function recordedTrace(name) {
  if (!traces.has(name)) {
    const folder = join(build, "tests", "page-traces");
    execFileSync(join(here, "traces.py"), [name, folder], { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, DYETRACE_BUILD: build, PYTHONDONTWRITEBYTECODE: "1" } });
    traces.set(name, join(folder, name));
  }
  return traces.get(name);
}

const LOOK_EVERY_MS = 50;
const SHADE = 40; // of 255

// Until it is so; what throws is not so yet.
export async function eventually(what, condition) {
  const deadline = performance.now() + PATIENCE_MS;
  const isSo = async () => {
    try {
      return await condition();
    } catch {
      return false;
    }
  };
  while (!(await isSo())) {
    if (performance.now() > deadline) {
      throw new Error(`waited in vain: ${what}`);
    }
    await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
  }
}

const folders = [];

// A folder of its own, which is there until nothing of the file looks at it any more: a server writes into a trace until it ends.
export function makeFolder(name) {
  folders.push(mkdtempSync(join(tmpdir(), `dyetrace-${name}-`)));
  return folders.at(-1);
}

// A command that goes on until the recording is stopped, in a process group with its recorder.
export async function startRecording(t, { least = 1 } = {}) {
  const trace = join(makeFolder("live"), "trace");
  const recorder = spawn(dyetrace, ["record", "-o", trace, "--", "sh", "-c", "while :; do cat /etc/hostname >/dev/null; sleep 0.5; done"], { stdio: "ignore", detached: true });
  const ended = new Promise((done) => recorder.on("exit", done));
  const stop = (signal = "SIGINT") => {
    process.kill(-recorder.pid, signal);
    return ended;
  };
  t.after(async () => {
    if (recorder.exitCode === null && recorder.signalCode === null) {
      await stop("SIGKILL");
    }
  });
  await eventually(`${least} events are recorded`, () => recorder.exitCode !== null || (existsSync(join(trace, "trace.json")) && sqlNumber(trace, "SELECT count(*) FROM events") >= least));
  // The command, not the recorder, which waits for it.
  const pause = () => execFileSync("pkill", ["-STOP", "-P", String(recorder.pid), "sh"]);
  return { trace, stop, pause };
}

// Which share of two pictures differs, whose bytes are letters: a shade does not count.
export function differing(one, other) {
  if (one.length !== other.length) {
    return 1;
  }
  let many = 0;
  for (let at = 0; at < one.length; ++at) {
    many += Math.abs(one.charCodeAt(at) - other.charCodeAt(at)) > SHADE ? 1 : 0;
  }
  return many / one.length;
}

export function sqlRows(trace, sql) {
  const text = execFileSync(dyetrace, ["sql", trace, sql, "--format", "json"], { stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28, encoding: "utf8" });
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

export const sqlNumber = (trace, sql) => Number(Object.values(sqlRows(trace, sql)[0])[0]);

// One `dyetrace sql` that answers many statements, as `dyetrace sql TRACE < FILE` does; the trace does not change meanwhile. It may make tables of its own.
export class Prompt {
  constructor(trace) {
    this.process = spawn(dyetrace, ["sql", trace, "--format", "json", "--trust"], { stdio: ["pipe", "pipe", "inherit"] });
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  async rows(sql) {
    const END = "this is all", rows = [];
    this.process.stdin.write(`${sql}\n;\nSELECT '${END}';\n`);
    for (;;) {
      const { value: line, done } = await this.lines.next();
      if (done) {
        throw new Error(`no answer to: ${sql}`);
      }
      if (line.includes(END)) {
        return rows;
      }
      if (line !== "") {
        rows.push(JSON.parse(line));
      }
    }
  }

  close() {
    this.process.kill();
  }
}

const stops = []; // of all servers: node does not end before they do

export async function serve(words, env = {}) {
  const [trace, ...others] = words; // from where it lies: on pictures it has no other name
  const server = spawn(dyetrace, ["ui", basename(trace), ...others], { cwd: dirname(trace), stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env } });
  const ended = new Promise((done) => server.on("exit", done));
  const stop = () => {
    server.kill("SIGINT");
    return ended;
  };
  stops.push(stop);
  let said = "";
  const url = await new Promise((done, failed) => {
    server.stderr.on("data", (piece) => {
      said += piece;
      const found = /http:\/\/\S+/.exec(said);
      if (found) done(found[0]);
    });
    server.on("exit", () => failed(new Error(`dyetrace ui ended: ${said}`)));
  });
  return { url, process: server, ended, stop };
}

let browser = null;
const servers = new Map(); // of recorded traces, by words

export async function closeAll() {
  await (await browser)?.close();
  await Promise.all(stops.splice(0).map((stop) => stop()));
  browser = null;
  servers.clear();
  folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
}

if (process.argv[1]?.endsWith(".test.mjs")) { // a benchmark closes them itself
  after(closeAll);
}

function sharedServer(words) {
  const key = JSON.stringify(words);
  if (!servers.has(key)) {
    servers.set(key, serve(words));
  }
  return servers.get(key);
}

// One process draws all pages of a file: each takes some 100 MB.
function openBrowser() {
  browser ??= chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--renderer-process-limit=1"] });
  return browser;
}

// Runs in the page, before its own scripts: an address that is new is not heard of at once, and until then the view of the old one is shown.
function tellWhatIsHeard() {
  let heard = location.href;
  addEventListener("hashchange", () => (heard = location.href));
  const replace = history.replaceState.bind(history);
  history.replaceState = (...words) => {
    const isHeard = heard === location.href;
    replace(...words);
    heard = isHeard ? location.href : heard;
  };
  window.hasHeard = () => heard === location.href;
}

export class TestPage {
  constructor(server, isShared, trace, page) {
    Object.assign(this, { server, isShared, trace, page, faults: [] });
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("pageerror", (error) => this.faults.push(String(error)));
    page.on("console", (message) => message.type() === "error" && this.faults.push(`${message.text()} ${message.location().url}`));
    page.on("request", (request) => !request.url().startsWith(server.url) && !/^(data|blob):/.test(request.url()) && this.faults.push(`it fetched ${request.url()}`));
  }

  async go(hash) {
    await this.page.goto(this.server.url + hash);
    await this.idle();
  }

  async idle() {
    await this.page.waitForFunction(() => window.hasHeard?.() === true && document.querySelector("main[data-view]:not([aria-busy])") !== null);
  }

  rows(sql) {
    return sqlRows(this.trace, sql);
  }

  number(sql) {
    return sqlNumber(this.trace, sql);
  }

  async texts(selector) {
    return this.page.locator(selector).allInnerTexts();
  }

  // A section of the view, by its title.
  part(title) {
    return this.page.locator(`section[aria-label="${title}"]`);
  }

  // Waits until what is typed is offered to be completed as `word`.
  async completes(word) {
    await this.page.locator(".cm-tooltip-autocomplete li").getByText(word, { exact: true }).waitFor();
  }

  async filter(where) {
    await this.page.locator("#filter .cm-content").fill(where);
    await this.page.keyboard.press("Escape"); // what completion offers
    await this.page.locator("#filter .cm-content").press("Enter");
  }

  // One of 3840 x 2160 pixels takes a second.
  async picture(name) {
    if (process.env.DYETRACE_PICTURES) {
      mkdirSync(process.env.DYETRACE_PICTURES, { recursive: true });
      writeFileSync(join(process.env.DYETRACE_PICTURES, `${name}.png`), await this.page.screenshot());
    }
  }

  async close() {
    await this.page.context().close();
    if (!this.isShared) {
      await this.server.stop();
    }
  }
}

// Beside each other: this trace and others.
export async function openPage(name, hash, { others = [], ...options } = {}) {
  const trace = recordedTrace(name), words = others.map((other) => relative(dirname(trace), recordedTrace(other)));
  return open(await sharedServer([trace, ...words]), true, trace, hash, options);
}

export async function openTrace(trace, hash, { words = [], env = {}, ...options } = {}) {
  return open(await serve([trace, ...words], env), false, trace, hash, options);
}

async function open(server, isShared, trace, hash, { viewport = { width: 1280, height: 720 }, colorScheme = "light", prepare = () => undefined }) {
  const context = await (await openBrowser()).newContext({ viewport, colorScheme });
  await context.addInitScript(tellWhatIsHeard);
  const test = new TestPage(server, isShared, trace, await context.newPage());
  await prepare(test.page);
  await test.go(hash);
  return test;
}
