// What was chosen in a timeline: an event with its columns and links, or how many calls they are.

import { around, type TimeSpan } from "../model/time_span";
import { button, element, failure, note } from "./elements";
import type { Drawing } from "./timeline_drawing";
import type { Run } from "./timeline_runs";
import { eventWords, runWords } from "./timeline_words";

export class Chosen {
  readonly root = element("section", { "aria-label": "Chosen event", "aria-live": "polite", hidden: "" });
  private run: Run | null = null;

  constructor(
    private readonly look: (span: TimeSpan) => void,
    private readonly signal: AbortSignal,
  ) {}

  async show(drawing: Drawing, run: Run): Promise<void> {
    this.run = run;
    this.root.hidden = false;
    const title = element("h2", {}, run.event === null ? "Chosen calls" : "Chosen event");
    if (run.event === null) {
      this.root.replaceChildren(
        title,
        note(runWords(drawing, run).replaceAll("\n", " · ")),
        button("zoom to them", () => this.look(around(run.begin, run.end, drawing.lanes.all.span_ns))),
      );
      return;
    }
    this.root.replaceChildren(title, note("asking…"));
    try {
      const words = await eventWords(drawing, run, this.signal);
      if (this.run === run) {
        this.root.replaceChildren(title, ...words);
      }
    } catch (error) {
      if (this.run === run && !this.signal.aborted) {
        this.root.replaceChildren(title, failure(error));
      }
    }
  }
}
