// Wheel, pointer and keys of a timeline: zoom at the pointer, move, select a stretch of time, choose.

import { moved, zoomed, whole, type TimeSpan } from "../model/time_span";
import { LABELS, timeAt } from "./timeline_drawing";

export interface Seen {
  span: TimeSpan;
  width: number; // pixels, with the labels
  whole_ns: number;
}

export interface InputReceiver {
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

function zoom(receiver: InputReceiver, factor: number, at?: number): void {
  const { span, whole_ns } = receiver.seen();
  receiver.look(zoomed(span, factor, at ?? (span.from + span.to) / 2, whole_ns));
}

function move(receiver: InputReceiver, share: number): void {
  const { span, whole_ns } = receiver.seen();
  receiver.look(moved(span, share * (span.to - span.from), whole_ns));
}

const KEYS: Record<string, (receiver: InputReceiver) => void> = {
  w: (receiver) => zoom(receiver, 1 / ZOOM_OF_KEY),
  s: (receiver) => zoom(receiver, ZOOM_OF_KEY),
  "+": (receiver) => zoom(receiver, 1 / ZOOM_OF_KEY),
  "-": (receiver) => zoom(receiver, ZOOM_OF_KEY),
  a: (receiver) => move(receiver, -MOVE_OF_KEY),
  d: (receiver) => move(receiver, MOVE_OF_KEY),
  Home: (receiver) => receiver.look(whole(receiver.seen().whole_ns)),
  ArrowUp: (receiver) => receiver.step(-1, 0),
  ArrowDown: (receiver) => receiver.step(1, 0),
  PageUp: (receiver) => receiver.step(-10, 0),
  PageDown: (receiver) => receiver.step(10, 0),
  ArrowLeft: (receiver) => receiver.step(0, -1),
  ArrowRight: (receiver) => receiver.step(0, 1),
  Enter: (receiver) => receiver.open(),
};

function onWheel(event: WheelEvent, receiver: InputReceiver, x: number): void {
  if (x < LABELS) {
    return; // the browser scrolls the lanes
  }
  event.preventDefault();
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE;
  if (event.shiftKey) {
    receiver.scroll((event.deltaY === 0 ? event.deltaX : event.deltaY) * unit);
  } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    move(receiver, (event.deltaX * unit) / (receiver.seen().width - LABELS));
  } else {
    zoom(receiver, Math.exp(event.deltaY * unit * ZOOM_OF_WHEEL), timeAt(receiver.seen(), x));
  }
}

export function listenToInput(canvas: HTMLCanvasElement, receiver: InputReceiver): void {
  let down: { x: number; y: number; isBrush: boolean; isMoved: boolean } | null = null;
  const at = (event: MouseEvent): [number, number] => {
    const area = canvas.getBoundingClientRect();
    return [event.clientX - area.left, event.clientY - area.top];
  };
  const brushTo = (x: number): TimeSpan => {
    const [begin, end] = [
      timeAt(receiver.seen(), Math.max(down?.x ?? 0, LABELS)),
      timeAt(receiver.seen(), Math.max(x, LABELS)),
    ];
    return { from: Math.max(Math.min(begin, end), 0), to: Math.max(begin, end) };
  };
  canvas.addEventListener("wheel", (event) => onWheel(event, receiver, at(event)[0]), { passive: false });
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
      receiver.hover(x, y);
      return;
    }
    down.isMoved ||= Math.hypot(x - down.x, y - down.y) > CLICK;
    if (down.isBrush) {
      receiver.brush(brushTo(x));
    } else if (down.isMoved) {
      move(receiver, -event.movementX / (receiver.seen().width - LABELS));
      receiver.scroll(-event.movementY);
    }
  });
  const letGo = (): void => {
    receiver.brush(null);
    down = null;
  };
  canvas.addEventListener("pointerup", (event) => {
    const [x, y] = at(event);
    if (down?.isBrush === true && down.isMoved) {
      receiver.select(brushTo(x));
    } else if (down?.isMoved === false) {
      receiver.choose(x, y);
    }
    letGo();
  });
  canvas.addEventListener("pointercancel", letGo);
  canvas.addEventListener("pointerleave", () => receiver.leave());
  canvas.addEventListener("dblclick", (event) => receiver.enter(...at(event)));
  canvas.addEventListener("keydown", (event) => {
    const does = KEYS[event.key];
    if (does !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      does(receiver);
    }
  });
}
