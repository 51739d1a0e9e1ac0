// Causes, out of a trace: the SQL that asks for them (docs/causality.md has the rules).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dyetrace::query {

// Where each event stands: event, thread, begin_ns, end_ns.
std::string event_places_sql();

// Statements that make the table internal.cause_candidates, all that may be an edge: edge (its number), from_event, from_thread, from_at,
// to_event, to_thread, to_at, rule, from_host, to_host. They need flows and handovers, and leave the other tables of cause_tables() behind.
std::vector<std::string> cause_candidates_sql();

// Tables that exist while there are candidates.
std::span<const char* const> cause_tables();

// Contradictions that need no order: kind, likely cause, rule, from_event, to_event.
std::string contradictions_sql();

// What may be handed over, a row of numbers for each begin and end of a call (HandoverColumn), in order of time.
std::string handover_acts_sql();

enum HandoverColumn : std::uint8_t {
    kActIsEnd,
    kActEvent,
    kActThread,
    kActStart,
    kActEnd,
    kActKind,
    kActKey,
    kActHolder,
    kActRangeBegin,
    kActRangeEnd,  // NULL: no end
    kActColumns,
};

}  // namespace dyetrace::query
