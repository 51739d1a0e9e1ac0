// Pictures of a timeline, asked for as fast as somebody zooms: one question is under way, the newest wish waits, those between are forgotten.

import { askPicture, type Picture, type PictureQuestion } from "../client/timeline";

const PATIENCE_MS = 150; // after that a question that nobody wants any more is cancelled

export class PictureSource {
  private wish: PictureQuestion | null = null;
  private under: { question: PictureQuestion; stop: AbortController; since: number } | null = null;

  constructor(private readonly take: (picture: Picture) => void, private readonly fail: (error: unknown) => void) {}

  ask(question: PictureQuestion): void {
    this.wish = question;
    if (this.under === null) {
      void this.next();
    } else if (performance.now() - this.under.since > PATIENCE_MS) {
      this.under.stop.abort();
    }
  }

  // The newest wish is not there yet.
  get isBusy(): boolean {
    return this.under !== null || this.wish !== null;
  }

  stop(): void {
    this.wish = null;
    this.under?.stop.abort();
  }

  private async next(): Promise<void> {
    while (this.wish !== null) {
      const question = this.wish, stop = new AbortController();
      this.wish = null;
      this.under = { question, stop, since: performance.now() };
      try {
        const picture = await askPicture(question, stop.signal);
        this.under = null;
        this.take(picture);
      } catch (error) {
        if (!stop.signal.aborted) {
          this.fail(error);
        }
      } finally {
        this.under = null;
      }
    }
  }
}
