// A picture as a file: SVG as it is, PNG drawn from it at twice its size.

import { colour } from "../model/theme";
import { button, element } from "./elements";
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
    const pen = canvas.getContext("2d");
    if (pen === null) {
      throw new Error("this browser gives no canvas");
    }
    pen.fillStyle = colour("ground");
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, failed) => canvas.toBlob((blob) => (blob === null ? failed(new Error("no PNG came out")) : done(blob)), "image/png"));
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
    button("PNG", () => void pngOf(svg()).then((blob) => download(`${name}.png`, blob)), { "aria-label": `Save ${name} as PNG` }),
  );
}
