// What a call waited for that names no object: poll, select, epoll_wait, futex and sleeps. The rules are those of woken_by() in SQL (docs/causality.md);
// what the words say is what the kernel or the trace knows, and no more.

import type { Cell } from "../generated/api";
import { askRecords, type Side } from "../client/client";
import { element, harmless, type Child } from "./elements";
import { eventsAddress } from "./rows";

const WAITS =
  /^(p?poll(_time64)?|_?(new)?select|pselect6(_time64)?|epoll_p?wait2?|futex(_time64)?|(clock_)?nanosleep(_time64)?)$/;
const NAMED_MAX = 8;
const WAKERS_MAX = 1000;

export const isWait = (name: string): boolean => WAITS.test(name);

interface Waker {
  rule: string;
  event: string | null;
  start: string | null;
  what: string;
}

function wakerLink({ event, start, what }: Waker, side: Side): Child {
  return event === null || start === null || side !== "this"
    ? what
    : element("a", { href: eventsAddress(`event_id = ${event} AND start_ns = ${start}`) }, what);
}

function listed(wakers: Waker[], side: Side): Child[] {
  const shown = wakers
    .slice(0, NAMED_MAX)
    .flatMap((waker, index): Child[] => [...(index === 0 ? [] : [", "]), wakerLink(waker, side)]);
  return wakers.length > NAMED_MAX
    ? [...shown, ` and ${(wakers.length - NAMED_MAX).toLocaleString("en")} more`]
    : shown;
}

// Each rule, in this order, with what is said before the names, and instead of them if there are none.
const SAID: [string, string, string][] = [
  ["ready", "Ready: ", ""],
  ["wake", "Woken by ", ""],
  ["one_of", "Woken by one of ", ""],
  ["exit", "Waited for the end of the thread ", ""],
  ["signal", "Ended by the signal ", "Ended by a signal"],
  ["timeout", "", "Its time was up"],
  ["no_wait", "", "Did not wait: the word in memory had changed"],
  ["unfinished", "", "Still waited when the recording ended"],
  ["not_ready", "Not ready: ", ""],
];

function sentences(wakers: Waker[], side: Side): Child[] {
  const said = SAID.flatMap(([rule, before, instead]): Child[][] => {
    const of = wakers.filter((waker) => waker.rule === rule);
    return of.length === 0
      ? []
      : [
          of.every(({ what }) => what === "")
            ? [instead === "" ? `${before}what was added before the recording` : instead]
            : [
                before,
                ...listed(
                  of.filter(({ what }) => what !== ""),
                  side,
                ),
              ],
        ];
  });
  return said.flatMap((sentence) => [...sentence, ". "]);
}

const text = (cell: Cell | undefined): string => harmless(String(cell ?? ""));

// Nothing of a call that is no wait, such as a futex that wakes.
export async function waitWords(event: string, name: string, side: Side, signal: AbortSignal): Promise<Child[]> {
  if (!isWait(name)) {
    return [];
  }
  const wanted = { name: "wait_ends", parameters: { event }, rows_max: WAKERS_MAX } as const;
  const rows = await askRecords({ ...wanted, selection: {}, signal, side });
  const wakers = rows.map(
    ({ rule, event_id = null, start_ns = null, what, poll_events = null }): Waker => ({
      rule: String(rule),
      event: event_id === null ? null : String(event_id),
      start: start_ns === null ? null : String(start_ns),
      what: text(what) + (poll_events === null ? "" : ` (${text(poll_events)})`),
    }),
  );
  return wakers.length === 0 ? [] : [element("p", { "data-wait": wakers[0]?.rule ?? "" }, ...sentences(wakers, side))];
}

// Says in a few words, which fit into the slices themselves, what was waited for.
export async function waitTargets(events: string[], side: Side, signal: AbortSignal): Promise<[string, string][]> {
  if (events.length === 0) {
    return [];
  }
  const wanted = { name: "wait_targets", parameters: { events }, rows_max: WAKERS_MAX } as const;
  const rows = await askRecords({ ...wanted, selection: {}, signal, side });
  return rows.map(({ event_id, rule, what, ends }): [string, string] => [
    String(event_id),
    `${rule === "wake" ? "← " : ""}${text(what)}${Number(ends) > 1 ? `, ${Number(ends) - 1} more` : ""}`,
  ]);
}
