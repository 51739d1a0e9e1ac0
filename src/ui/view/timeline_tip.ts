// Words beside the pointer. Pinned ones stay, and can be selected and copied.

import { element } from "./elements";

export class Tip {
  readonly root = element("div", { class: "tip", role: "tooltip", hidden: "" });

  // x and y are those of `beside`, a canvas in the same box as the tip.
  show(beside: HTMLElement, x: number, y: number, words: string): void {
    this.root.hidden = words === "";
    this.root.textContent = words;
    const area = beside.getBoundingClientRect(),
      box = this.root.offsetParent?.getBoundingClientRect() ?? area;
    const width = this.root.offsetWidth,
      isLeft = x + width + 24 > area.width;
    this.root.style.left = `${area.left - box.left + x + (isLeft ? -width - 12 : 14)}px`;
    this.root.style.top = `${area.top - box.top + Math.min(y + 16, area.height - this.root.offsetHeight - 4)}px`;
  }

  get isPinned(): boolean {
    return this.root.classList.contains("pinned");
  }

  pin(): void {
    this.root.classList.add("pinned");
  }

  hide(): void {
    this.root.hidden = true;
    this.root.classList.remove("pinned");
  }
}
