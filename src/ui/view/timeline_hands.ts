// Wheel, pointer and keys of a timeline: zoom at the pointer, move, select a stretch of time, choose.

import { moved, zoomed, whole, type TimeSpan } from "../model/time_span";
import { LABELS, timeAt } from "./timeline_drawing";

export interface Seen {
  span: TimeSpan;
  width: number; // pixels, with the labels
  whole_ns: number;
}

export interface Hands {
  seen(): Seen;
  look(span: TimeSpan): void;
  scroll(by: number): void;
  brush(span: TimeSpan | null): void; // while it is drawn
  select(span: TimeSpan): void;
  hover(x: number, y: number): void;
  leave(): void;
  choose(x: number, y: number): void;
  enter(x: number, y: number): void; // double click
  step(rows: number, runs: number): void; // by keys
  open(): void;
}

const ZOOM_OF_WHEEL = 0.0018,
  MOVE_OF_KEY = 0.15,
  ZOOM_OF_KEY = 1.5,
  CLICK = 4;
const LINE = 18; // pixels, where a wheel counts lines

function zoom(hands: Hands, factor: number, at?: number): void {
  const { span, whole_ns } = hands.seen();
  hands.look(zoomed(span, factor, at ?? (span.from + span.to) / 2, whole_ns));
}

function move(hands: Hands, share: number): void {
  const { span, whole_ns } = hands.seen();
  hands.look(moved(span, share * (span.to - span.from), whole_ns));
}

const KEYS: Record<string, (hands: Hands) => void> = {
  w: (hands) => zoom(hands, 1 / ZOOM_OF_KEY),
  s: (hands) => zoom(hands, ZOOM_OF_KEY),
  "+": (hands) => zoom(hands, 1 / ZOOM_OF_KEY),
  "-": (hands) => zoom(hands, ZOOM_OF_KEY),
  a: (hands) => move(hands, -MOVE_OF_KEY),
  d: (hands) => move(hands, MOVE_OF_KEY),
  Home: (hands) => hands.look(whole(hands.seen().whole_ns)),
  ArrowUp: (hands) => hands.step(-1, 0),
  ArrowDown: (hands) => hands.step(1, 0),
  PageUp: (hands) => hands.step(-10, 0),
  PageDown: (hands) => hands.step(10, 0),
  ArrowLeft: (hands) => hands.step(0, -1),
  ArrowRight: (hands) => hands.step(0, 1),
  Enter: (hands) => hands.open(),
};

function onWheel(event: WheelEvent, hands: Hands, x: number): void {
  if (x < LABELS) {
    return; // the browser scrolls the lanes
  }
  event.preventDefault();
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE;
  if (event.shiftKey) {
    hands.scroll((event.deltaY === 0 ? event.deltaX : event.deltaY) * unit);
  } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    move(hands, (event.deltaX * unit) / (hands.seen().width - LABELS));
  } else {
    zoom(hands, Math.exp(event.deltaY * unit * ZOOM_OF_WHEEL), timeAt(hands.seen(), x));
  }
}

export function takeHands(canvas: HTMLCanvasElement, hands: Hands): void {
  let down: { x: number; y: number; isBrush: boolean; isMoved: boolean } | null = null;
  const at = (event: MouseEvent): [number, number] => {
    const area = canvas.getBoundingClientRect();
    return [event.clientX - area.left, event.clientY - area.top];
  };
  const brushTo = (x: number): TimeSpan => {
    const [begin, end] = [
      timeAt(hands.seen(), Math.max(down?.x ?? 0, LABELS)),
      timeAt(hands.seen(), Math.max(x, LABELS)),
    ];
    return { from: Math.max(Math.min(begin, end), 0), to: Math.max(begin, end) };
  };
  canvas.addEventListener("wheel", (event) => onWheel(event, hands, at(event)[0]), { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button === 0) {
      const [x, y] = at(event);
      down = { x, y, isBrush: event.shiftKey && x >= LABELS, isMoved: false };
      canvas.setPointerCapture(event.pointerId);
    }
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (down === null) {
      hands.hover(x, y);
      return;
    }
    down.isMoved ||= Math.hypot(x - down.x, y - down.y) > CLICK;
    if (down.isBrush) {
      hands.brush(brushTo(x));
    } else if (down.isMoved) {
      move(hands, -event.movementX / (hands.seen().width - LABELS));
      hands.scroll(-event.movementY);
    }
  });
  const letGo = (): void => {
    hands.brush(null);
    down = null;
  };
  canvas.addEventListener("pointerup", (event) => {
    const [x, y] = at(event);
    if (down?.isBrush === true && down.isMoved) {
      hands.select(brushTo(x));
    } else if (down?.isMoved === false) {
      hands.choose(x, y);
    }
    letGo();
  });
  canvas.addEventListener("pointercancel", letGo);
  canvas.addEventListener("pointerleave", () => hands.leave());
  canvas.addEventListener("dblclick", (event) => hands.enter(...at(event)));
  canvas.addEventListener("keydown", (event) => {
    const does = KEYS[event.key];
    if (does !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      does(hands);
    }
  });
}
