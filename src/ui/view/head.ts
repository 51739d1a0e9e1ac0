// What stands beside the name of the page: which trace it is and how much there is of it; of one that is being recorded also how old that is, and how old what the view shows.
//
// A recording goes on while somebody holds the view, or is in it: what is known of it is told all the same, and that the view does not show it. The elements stay: who presses the
// button finds it there.

import type { Trace } from "../generated/api";
import { amountOfTrace, durationText } from "../model/words";
import { button, element, harmless, short } from "./elements";

const PATH_LETTERS = 30;

// Less than a second is no number of them.
const agoText = (ms: number): string => `${ms < 1e3 ? "less than 1 s" : durationText(Math.floor(ms / 1e3) * 1e9)} ago`;

function write(to: HTMLElement, words: string): void {
  if (to.textContent !== words) {
    to.textContent = words;
  }
}

export class Head {
  isFollowing = true;
  private known: { info: Trace; at_ms: number } | null = null;
  private drawn: { info: Trace; at_ms: number } | null = null;
  private readonly path = element("span");
  private readonly amount = element("span");
  private readonly live = element("span");
  private readonly hold = button("", () => this.turn(), { class: "live" });
  private readonly age = element("span", { id: "age" });

  // `resume`: somebody wants to see what there is.
  constructor(
    root: HTMLElement,
    private readonly resume: () => void,
  ) {
    this.live.append(" · ", this.hold, this.age);
    root.replaceChildren(this.path, this.amount, this.live);
    this.live.hidden = true;
  }

  // What is known by now.
  know(info: Trace): void {
    this.known = { info, at_ms: performance.now() };
    write(this.path, short(harmless(info.path), PATH_LETTERS));
    this.path.title = harmless(info.path);
    const hosts = info.hosts.length > 1 ? ` on ${info.hosts.length.toLocaleString("en")} hosts` : "";
    write(this.amount, ` · ${amountOfTrace(info)}${hosts}`);
    this.tell();
  }

  // The view is made of what was known then.
  draw(info: Trace, at_ms: number): void {
    this.drawn = { info, at_ms };
    this.tell();
  }

  // There is no view yet, for another one was asked for.
  leave(): void {
    this.drawn = null;
    this.tell();
  }

  // Whether the view lacks something of what is known.
  get isBehind(): boolean {
    const [known, drawn] = [this.known?.info, this.drawn?.info];
    return known?.events !== drawn?.events || known?.is_recording !== drawn?.is_recording;
  }

  tell(): void {
    if (this.known === null) {
      return;
    }
    const { info, at_ms } = this.known,
      now_ms = performance.now();
    this.live.hidden = !info.is_recording && !this.isBehind;
    write(
      this.hold,
      `${this.isFollowing ? "● " : ""}${info.is_recording ? "recording" : "it has ended"}, ${this.isFollowing ? "followed" : "held"}`,
    );
    this.hold.setAttribute("aria-pressed", String(this.isFollowing));
    write(
      this.age,
      [
        ...(info.is_recording && info.events > 0
          ? [` · newest call ${agoText(info.age_ns / 1e6 + now_ms - at_ms)}`]
          : []),
        ...(this.isBehind && this.drawn !== null ? [` · the view is of ${agoText(now_ms - this.drawn.at_ms)}`] : []),
      ].join(""),
    );
  }

  private turn(): void {
    this.isFollowing = !this.isFollowing;
    this.tell();
    if (this.isFollowing) {
      this.resume();
    }
  }
}
