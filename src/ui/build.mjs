// Makes the page's files, and the assembly that carries them in the program: node build.mjs FOLDER

import { build } from "esbuild";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const GZIPPED_MAX = 1024 * 1024;
const folder = process.argv[2];
const here = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
await mkdir(folder, { recursive: true });

// The licences of the packages whose code is in the bundle, as each of them asks.
async function licences(inputs) {
  const packages = new Set(
    inputs.map((path) => path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[0]).filter(Boolean),
  );
  let text = "The page contains these packages.\n";
  for (const path of [...packages].sort()) {
    const { name, version, license } = JSON.parse(await readFile(join(path, "package.json"), "utf8"));
    const file = (await readdir(path)).find((each) => /^(licen[cs]e|copying)/i.test(each));
    if (file === undefined) {
      throw new Error(`${name} has no file with its licence`);
    }
    text += `\n=== ${name} ${version} (${license})\n\n${(await readFile(join(path, file), "utf8")).trim()}\n`;
  }
  return text;
}

const bundle = await build({
  entryPoints: [join(here, "main.ts")],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  write: false,
  charset: "ascii",
  metafile: true,
});
const licencesText = await licences(Object.keys(bundle.metafile.inputs));
await writeFile(join(folder, "licences.txt"), licencesText);
const files = [
  ["index.html", "text/html; charset=utf-8", await readFile(join(here, "index.html"))],
  ["page.css", "text/css; charset=utf-8", await readFile(join(here, "page.css"))],
  ["page.js", "text/javascript; charset=utf-8", bundle.outputFiles[0].contents],
  ["licences.txt", "text/plain; charset=utf-8", licencesText],
  ["openapi.json", "application/json", await readFile(join(here, "openapi.json"))],
];

let assembly = ".section .rodata\n",
  rows = "",
  declared = "",
  sum = 0;
for (const [index, [name, type, bytes]] of files.entries()) {
  const gzipped = gzipSync(bytes, { level: 9 });
  sum += gzipped.length;
  await writeFile(join(folder, name + ".gz"), gzipped);
  assembly += `.global page_file_${index}\n.balign 16\npage_file_${index}: .incbin "${join(folder, name + ".gz")}"\n`;
  declared += `extern const std::byte page_file_${index}[];\n`;
  rows += `    {"${name}", "${type}", {page_file_${index}, ${gzipped.length}}},\n`;
}
if (sum > GZIPPED_MAX) {
  throw new Error(`the page is ${sum} bytes; ${GZIPPED_MAX} are the most`);
}
await writeFile(join(folder, "page_files.S"), assembly + '.section .note.GNU-stack,"",@progbits\n');
await writeFile(
  join(folder, "page_files.cpp"),
  `#include "ui/page_files.h"\n\nextern "C" {\n${declared}}\n\nnamespace dyetrace::ui {\n\nstd::span<const api::PageFile> page_files() {\n` +
    `    static const api::PageFile kFiles[] = {\n${rows}    };\n    return kFiles;\n}\n\n}  // namespace dyetrace::ui\n`,
);
