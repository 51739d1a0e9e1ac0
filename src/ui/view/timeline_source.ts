// Pictures of a timeline, asked for as fast as somebody zooms: one question is under way, the newest waits, those between are forgotten.
// Nothing is asked of what is there, and who moves finds what comes next (model/picture_window.ts).

import type { PictureQuestion } from "../generated/api";
import type { Side } from "../client/client";
import { askPicture, type Picture } from "../client/timeline";
import { isAmple, isWhole, questionFor, type Wanted } from "../model/picture_window";

const CANCEL_AFTER_MS = 150; // after that a question that nobody wants any more is cancelled

export interface Receiver {
  take(picture: Picture): void;
  fail(error: unknown): void;
}

export class PictureSource {
  private pending: PictureQuestion | null = null;
  private inFlight: { question: PictureQuestion; stop: AbortController; since: number } | null = null;
  private wanted: Wanted | null = null; // last

  constructor(
    private readonly receiver: Receiver,
    private readonly side: Side = "this",
  ) {}

  // `picture` is the one that is there.
  want(wanted: Wanted, picture: Picture | null): void {
    const before = this.wanted?.span ?? wanted.span,
      { span } = wanted;
    const isMove = Math.abs((span.to - span.from) / (before.to - before.from) - 1) < 1e-6;
    const ahead = isMove ? Math.sign(Math.round(span.from - before.from)) : 0;
    this.wanted = wanted;
    const asked = [
      picture?.asked,
      this.inFlight?.stop.signal.aborted === true ? null : this.inFlight?.question,
      this.pending,
    ];
    if (asked.every((question) => question == null || !isAmple(question, wanted, ahead))) {
      this.ask(questionFor(wanted, ahead));
    }
  }

  // Whether a picture is what was wanted last.
  isWhole(picture: Picture | null): boolean {
    return picture !== null && this.wanted !== null && isWhole(picture.asked, this.wanted);
  }

  // Whether a picture that came takes the place of the one that is there. Who moves on and comes back before it comes has all that is in view, which it may lack.
  isBetter(came: Picture, there: Picture | null): boolean {
    return this.isWhole(came) || !this.isWhole(there);
  }

  stop(): void {
    this.pending = null;
    this.inFlight?.stop.abort();
  }

  private ask(question: PictureQuestion): void {
    this.pending = question;
    if (this.inFlight === null) {
      void this.next();
    } else if (performance.now() - this.inFlight.since > CANCEL_AFTER_MS) {
      this.inFlight.stop.abort();
    }
  }

  private async next(): Promise<void> {
    while (this.pending !== null) {
      const question = this.pending,
        stop = new AbortController();
      this.pending = null;
      this.inFlight = { question, stop, since: performance.now() };
      try {
        const picture = await askPicture(question, stop.signal, this.side);
        this.inFlight = null;
        this.receiver.take(picture);
      } catch (error) {
        if (!stop.signal.aborted) {
          this.receiver.fail(error);
        }
      } finally {
        this.inFlight = null;
      }
    }
  }
}
