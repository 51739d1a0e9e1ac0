// A trace in the browser, for tests that click and look.
//
//   const page = await openPage("git", "#overview");      records (once for all tests), serves, opens
//   await page.idle();                                    what was asked is answered
//   await page.rows("SELECT count(*) FROM events");       what SQL says of the same trace, in a process of its own
//
// Root is needed: traces are recorded. A picture that page.picture("overview") takes lies in build/pictures;
// tools/page_pictures takes those of the documentation from there.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
export const build = resolve(process.env.DYETRACE_BUILD ?? join(here, "../../build"));
export const dyetrace = join(build, "dyetrace");
const { chromium } = createRequire(join(here, "../../build/page-tests/"))("playwright-core");
const PATIENCE_MS = 60_000;

export function recordedTrace(name) {
  const age = Math.round(statSync(join(build, "dyetrace")).mtimeMs); // of another build the trace may be another
  const folder = join(build, "tests", "page-traces", `${name}-${age}`);
  execFileSync(join(here, "traces.py"), [name, folder], { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, DYETRACE_BUILD: build, PYTHONDONTWRITEBYTECODE: "1" } });
  return join(folder, name);
}

export function sqlRows(trace, sql) {
  const text = execFileSync(dyetrace, ["sql", trace, sql, "--format", "json"], { stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28, encoding: "utf8" });
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

export const sqlNumber = (trace, sql) => Number(Object.values(sqlRows(trace, sql)[0])[0]);

export async function serve(words, env = {}) {
  const [trace, ...others] = words; // from where it lies: on pictures it has no other name
  const server = spawn(dyetrace, ["ui", basename(trace), ...others], { cwd: dirname(trace), stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env } });
  const ended = new Promise((done) => server.on("exit", done));
  let said = "";
  const url = await new Promise((done, failed) => {
    server.stderr.on("data", (piece) => {
      said += piece;
      const found = /http:\/\/\S+/.exec(said);
      if (found) done(found[0]);
    });
    server.on("exit", () => failed(new Error(`dyetrace ui ended: ${said}`)));
  });
  const stop = () => {
    server.kill("SIGINT");
    return ended;
  };
  return { url, process: server, ended, stop };
}

export async function openBrowser() {
  return chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
}

export class TestPage {
  constructor(browser, server, trace, page) {
    Object.assign(this, { browser, server, trace, page, faults: [] });
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("pageerror", (error) => this.faults.push(String(error)));
    page.on("console", (message) => message.type() === "error" && this.faults.push(message.text()));
    page.on("request", (request) => !request.url().startsWith(server.url) && !/^(data|blob):/.test(request.url()) && this.faults.push(`it fetched ${request.url()}`));
  }

  async go(hash) {
    await this.page.goto(this.server.url + hash);
    await this.idle();
  }

  async idle() {
    await this.page.evaluate(() => new Promise((done) => setTimeout(done, 50))); // until it has heard of a new address, it shows the old one
    await this.page.waitForFunction(() => document.querySelector("main[data-view]:not([aria-busy])") !== null);
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

  async filter(where) {
    await this.page.locator("#filter .cm-content").fill(where);
    await this.page.keyboard.press("Escape"); // what completion offers
    await this.page.locator("#filter .cm-content").press("Enter");
  }

  async picture(name) {
    const folder = join(build, "pictures");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.png`), await this.page.screenshot());
  }

  async close() {
    await this.browser.close();
    await this.server.stop();
  }
}

export async function openPage(name, hash, options = {}) {
  return openTrace(recordedTrace(name), hash, options);
}

export async function openTrace(trace, hash, { viewport = { width: 1280, height: 720 }, colorScheme = "light", words = [], env = {} } = {}) {
  const server = await serve([trace, ...words], env);
  const browser = await openBrowser();
  const test = new TestPage(browser, server, trace, await browser.newPage({ viewport, colorScheme }));
  await test.go(hash);
  return test;
}
