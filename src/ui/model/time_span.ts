// The stretch of time that is looked at: zoomed around a point, moved, kept where there is something to see. Times are nanoseconds after the begin of the trace.

import type { Selection } from "../generated/api";
import { note, place, selection } from "./place";

export interface TimeSpan {
  from: number;
  to: number;
}

const LEAST_NS = 100; // a microsecond is wide, then

// Nothing is shown before the begin; after the end there may be as much as is looked at.
export function clamped({ from, to }: TimeSpan, whole_ns: number): TimeSpan {
  const most = Math.max(whole_ns, LEAST_NS) * 1.02;
  const length = Math.min(Math.max(to - from, LEAST_NS), most);
  const begin = Math.min(Math.max(from, 0), Math.max(most - length, 0));
  return { from: begin, to: begin + length };
}

export function zoomed(span: TimeSpan, factor: number, at: number, whole_ns: number): TimeSpan {
  const length = Math.min(Math.max((span.to - span.from) * factor, LEAST_NS), Math.max(whole_ns, LEAST_NS) * 1.02);
  const share = (at - span.from) / (span.to - span.from);
  return clamped({ from: at - share * length, to: at + (1 - share) * length }, whole_ns);
}

export const moved = ({ from, to }: TimeSpan, by_ns: number, whole_ns: number): TimeSpan =>
  clamped({ from: from + by_ns, to: to + by_ns }, whole_ns);

export const whole = (whole_ns: number): TimeSpan => clamped({ from: 0, to: whole_ns * 1.02 }, whole_ns);

// The span has room beside it on both sides.
export const around = (begin: number, end: number, whole_ns: number): TimeSpan => {
  const beside = Math.max((end - begin) * 0.5, LEAST_NS / 2);
  return clamped({ from: begin - beside, to: end + beside }, whole_ns);
};

export function spanText({ from, to }: TimeSpan): string {
  return `${Math.round(from)}-${Math.round(to)}`;
}

export function spanIn(text: string | null): TimeSpan | null {
  const found = /^(\d+)-(\d+)$/.exec(text ?? "");
  return found === null || Number(found[1]) >= Number(found[2])
    ? null
    : { from: Number(found[1]), to: Number(found[2]) };
}

// What somebody means who sees `span` of a timeline: the stretch that the filter bar names, or else what is in view.
export function inView(named: Selection, span: TimeSpan, whole_ns: number): Selection {
  const all = whole(whole_ns);
  if (named.from_ns !== undefined || named.to_ns !== undefined || (span.from <= all.from && span.to >= all.to)) {
    return named;
  }
  return { ...named, from_ns: Math.round(span.from), to_ns: Math.round(span.to) };
}

// What the address says: its word `view`, or else what is around the stretch that is selected, or all.
export function spanInAddress(whole_ns: number): TimeSpan {
  const { from_ns, to_ns } = selection();
  const selected =
    from_ns !== undefined && to_ns !== undefined && to_ns > from_ns
      ? around(from_ns, to_ns, whole_ns)
      : whole(whole_ns);
  return clamped(spanIn(place().parameters.get("view")) ?? selected, whole_ns);
}

// The word `view` is written by the page when nobody moves any more, and by others too: an address that is typed or clicked, the back button.
export class ViewInAddress {
  private known = place().parameters.get("view");

  // What somebody else wrote since.
  taken(whole_ns: number): TimeSpan | null {
    const text = place().parameters.get("view"),
      isNew = text !== this.known;
    this.known = text;
    return isNew ? spanInAddress(whole_ns) : null;
  }

  // Not over what was not taken yet.
  note(span: TimeSpan): void {
    if (place().parameters.get("view") === this.known) {
      this.known = spanText(span);
      note({ view: this.known });
    }
  }
}
