// What is known of single calls, to the nanosecond: a picture has the pixels between which they lie, as far as it reaches, and which part of 255 they waited.
//
//   asker.ask(drawing, run, () => tip.show(…))       asks once nobody moves, and calls it when drawing.exact has the call

import type { Drawing } from "./timeline_drawing";
import type { Run } from "./timeline_runs";
import { askFacts } from "./timeline_words";

const REST_MS = 60; // a pointer that passes asks nothing

export class ExactAsker {
  private timer = 0;
  private asking = new AbortController();
  private asked: string | null = null;
  private then = (): void => undefined;

  constructor(private readonly leaving: AbortSignal) {
    leaving.addEventListener("abort", () => this.stop());
  }

  stop(): void {
    clearTimeout(this.timer);
    this.asking.abort();
    this.asked = null;
  }

  ask(drawing: Drawing, run: Run | null, then: () => void): void {
    const event = run?.event ?? null;
    this.then = then;
    if (event !== null && event === this.asked) {
      return;
    }
    this.stop();
    if (run === null || event === null || drawing.exact.has(event) || this.leaving.aborted) {
      return;
    }
    this.asked = event;
    this.asking = new AbortController();
    const { signal } = this.asking;
    this.timer = window.setTimeout(() => {
      void askFacts(drawing, [run], signal).then(
        () => {
          if (!signal.aborted) {
            this.asked = null;
            this.then();
          }
        },
        () => undefined, // what is about right stays
      );
    }, REST_MS);
  }
}
