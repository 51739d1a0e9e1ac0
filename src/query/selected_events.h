// `selected`: the events that the page looks at, or `dyetrace sql`, with what people ask for; and how long the trace is.
//
//   SelectedEvents selected;
//   TRY(selected.span(database))                            begin_ns, end_ns, events
//   TRY(selected.select(database, question, cancelled))     the view `selected` is what {"selection": {"where": "comm = 'cat'", "from_ns": 0}} says
//
// Times on the page are nanoseconds from the begin of the trace, so that a JavaScript number holds them for 104 days. `selected` has the columns
// of `events`, and
//
//   at_ns    its time from the begin          verb     read, wrote, copied, synced
//   process  cat[812]                         target   what it was done to: a path, 10.0.0.7:443, clients of :5432
//
// On `selected` stand conversations(), round_trips(), file_moves() and others: sql/ has a file for each.
//
// If a trace has at most kKeptMax events, they are kept in the database, for to plan a question
// about `events` takes 100 ms; while it is being recorded, at most kKeptLiveMax, for they are kept
// anew with each look. `arguments` is long text that few ask for: it is not kept, and a statement
// that says `arguments` or `*` reads `events`.
//
// Thread: any; each database belongs to one thread at a time. Databases are known by their addresses: one that is opened after another was closed is forgotten first.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "store/database.h"

namespace dyetrace::query {

struct TraceSpan {
    std::int64_t begin_ns = 0;  // since 1970, on the clock that the trace is shown with
    std::int64_t end_ns = 0;    // when the last call returned
    std::uint64_t events = 0;
    // The clock that is shown, less CLOCK_BOOTTIME of the host, at any event: at least and at most.
    std::int64_t ahead_min_ns = 0, ahead_max_ns = 0;
};

// A bound of {"selection": {"from_ns": 0, "to_ns": 9}}, nanoseconds from the begin of the trace; nothing: there is none.
std::optional<std::int64_t> selected_bound(const base::Json& question, std::string_view name);

class SelectedEvents {
  public:
    static constexpr std::uint64_t kKeptMax = 300'000;  // events, 100 MB
    static constexpr std::uint64_t kKeptLiveMax = 50'000;

    // Who asks once keeps nothing.
    enum class Keep : std::uint8_t { kEvents, kNothing };
    explicit SelectedEvents(Keep keep = Keep::kEvents) : keeps_(keep == Keep::kEvents) {}

    // The begin is what it was when first asked: of a trace that is being recorded on many hosts it would move with their clocks.
    Result<TraceSpan> span(store::Database& database);

    // The begin alone: without a look at the events once it is known.
    Result<std::int64_t> begin_ns(store::Database& database);

    // A question about it saw that it grows no more.
    bool has_ended();

    // Makes what `statement` needs, if it says `selected` or a function that stands on it. A question without a selection selects everything.
    Result<void> select(store::Database& database,
                        const base::Json& question,
                        const std::string& statement,
                        const std::atomic<bool>& cancelled);

    // What there was at its address: `database` is new.
    void forget(const store::Database& database);

  private:
    struct Known {
        std::uint64_t looks = 0;
        TraceSpan span = {};
        bool has_views = false;
        bool is_kept = false;
        std::string selected = {};  // the statement that `selected` stands for
        // Those that there are: to make one, DuckDB plans it.
        std::set<std::string_view> functions = {};
    };
    Result<Known*> known_of(store::Database& database);
    Result<TraceSpan> span_of(store::Database& database);
    Result<void> keep(store::Database& database, Known& known, const std::atomic<bool>& cancelled);

    const bool keeps_;
    std::mutex mutex_;
    std::optional<std::int64_t> begin_ns_;
    std::optional<TraceSpan> finished_;  // of a trace that grows no more: same for each database
    std::map<const store::Database*, Known> known_;
};

}  // namespace dyetrace::query
