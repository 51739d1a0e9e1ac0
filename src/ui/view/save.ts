// A picture as a file: SVG as it is, PNG drawn from it at twice its size. Events as files for other tools.

import type { ExportFormat, Selection } from "../generated/api";
import { askExport } from "../client/client";
import { colour } from "../model/theme";
import { button, element, harmless } from "./elements";
import { giveTitles } from "./svg";

export function download(name: string, blob: Blob): void {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const svgBlob = (text: string): Blob => new Blob([text], { type: "image/svg+xml" });

async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  const address = URL.createObjectURL(svgBlob(svg));
  try {
    image.src = address;
    await image.decode();
    const canvas = element("canvas", { width: String(image.width * 2), height: String(image.height * 2) });
    const renderer = canvas.getContext("2d");
    if (renderer === null) {
      throw new Error("this browser gives no canvas");
    }
    renderer.fillStyle = colour("ground");
    renderer.fillRect(0, 0, canvas.width, canvas.height);
    renderer.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, failed) =>
      canvas.toBlob((blob) => (blob === null ? failed(new Error("no PNG came out")) : done(blob)), "image/png"),
    );
  } finally {
    URL.revokeObjectURL(address);
  }
}

// An element of the page on its own: with its size, a ground, and the colour that it inherits.
export function svgText(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const size = svg.getBoundingClientRect();
  giveTitles(copy);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(Math.round(size.width)));
  copy.setAttribute("height", String(Math.round(size.height)));
  copy.style.color = colour("text");
  copy.style.background = colour("ground");
  copy.style.fontFamily = "system-ui, sans-serif";
  return new XMLSerializer().serializeToString(copy);
}

// "Save as SVG PNG", beside a picture. `svg` makes it when asked.
export function saveButtons(name: string, svg: () => string): HTMLElement {
  return element(
    "span",
    { class: "save" },
    button("SVG", () => download(`${name}.svg`, svgBlob(svg())), { "aria-label": `Save ${name} as SVG` }),
    button("PNG", () => void pngOf(svg()).then((blob) => download(`${name}.png`, blob)), {
      "aria-label": `Save ${name} as PNG`,
    }),
  );
}

const TOOLS: [ExportFormat, string, string][] = [
  ["perfetto", "Perfetto", "the events, for ui.perfetto.dev, which reads the file in the browser and sends it nowhere"],
  ["otlp", "OTLP", "the events as OpenTelemetry spans: Jaeger, Tempo, and whatever is behind a collector"],
  ["pcapng", "pcapng", "what went over TCP and UDP, for Wireshark; of a trace with --content=bytes"],
];

// "Perfetto OTLP pcapng": the events that `wanted` leaves when asked, a file at a time. Cancel ends the work of the server, as closing the page does.
export function exportButtons(wanted: () => Selection): HTMLElement {
  const said = element("span", { "aria-live": "polite" });
  const save = async (format: ExportFormat): Promise<void> => {
    const asking = new AbortController();
    said.className = "faint";
    said.replaceChildren(
      "making the file… ",
      button("Cancel", () => asking.abort(), { "aria-label": "Cancel making the file" }),
    );
    formats.forEach((each) => (each.disabled = true));
    try {
      const file = await askExport(format, wanted(), asking.signal);
      download(file.name, file.blob);
      said.replaceChildren(harmless(file.note));
    } catch (error) {
      said.className = asking.signal.aborted ? "faint" : "error";
      said.replaceChildren(
        asking.signal.aborted ? "cancelled" : harmless(error instanceof Error ? error.message : String(error)),
      );
    } finally {
      formats.forEach((each) => (each.disabled = false));
    }
  };
  const formats = TOOLS.map(([format, name, title]) =>
    button(name, () => void save(format), { title, "aria-label": `Save the events for ${name}` }),
  );
  return element(
    "span",
    { class: "save exports", role: "group", "aria-label": "Save the events for other tools" },
    ...formats,
    said,
  );
}
