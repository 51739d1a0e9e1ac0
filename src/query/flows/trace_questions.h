// What `follow` and `verify-copies` ask a trace alike.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/dataflow/operation.h"
#include "analysis/dataflow/trail.h"
#include "base/result.h"
#include "query/asked_rows.h"
#include "query/clock/shared_clock.h"
#include "store/database.h"

namespace dyetrace::query {

// All calls that move bytes, for questions that look at them several times: DuckDB is asked for the first time only, unless there are too many to keep.
class Operations {
  public:
    // `call` is abi << 16 | number.
    using Take = std::function<void(const analysis::Operation&, std::uint64_t call)>;

    static constexpr std::size_t kKeptMax = 131'072;  // 250 bytes each: 32 MB

    explicit Operations(store::Database& database,
                        const std::atomic<bool>* cancelled = nullptr,
                        std::size_t kept_max = kKeptMax)
        : database_(database), cancelled_(cancelled), kept_max_(kept_max) {}

    // In any order, each time the same. Setting `*cancelled` makes it kInterrupted.
    Result<void> each(const Take& take);

  private:
    struct Kept {
        analysis::Operation operation;
        std::uint64_t call;
    };
    Result<void> ask(const Take& take);

    store::Database& database_;
    const std::atomic<bool>* const cancelled_;
    const std::size_t kept_max_;
    std::vector<Kept> kept_;
    bool are_kept_ = false;
    bool are_too_many_ = false;
};

// Whatever had this name at some time. kNotFound: nothing had; says what may have been meant.
Result<std::unordered_set<std::uint64_t>> objects_called(store::Database& database,
                                                         const std::string& path);
// "; did you mean /real/data (where 'link' led)", or nothing: what somebody may have meant who asked for a path that leads to nothing.
Result<std::string> names_meant(store::Database& database, const std::string& path);

// kLimitReached: there are more than kFlowsMax. offer_flows() must have been called.
inline constexpr std::size_t kFlowsMax = 16'000'000;  // 56 bytes each: 900 MB
Result<std::vector<analysis::TrailFlow>> load_flows(store::Database& database,
                                                    schema::Certainty min_certainty,
                                                    const std::atomic<bool>* cancelled = nullptr);

// What people call an event, and what it acted on.
struct EventLabels {
    std::string who, name;  // "cat[28338]", "read"
    std::string path,
        path2;  // of its objects, of a copy where bytes came from and went to; of a connection "10.0.0.1:80→10.0.0.2:4711", as bytes went or came
    std::string what;  // of a copy both, in the order in which bytes went: "/source → /copy"
    std::uint64_t start_ns = 0;
    std::string host, node;
};
Result<std::unordered_map<std::uint64_t, EventLabels>> labels_of_events(
    store::Database& database, const std::vector<std::uint64_t>& events);

// What is missing in this time of `clock`, in words; empty: nothing.
Result<std::string> gaps_between(store::Database& database,
                                 const SharedClock& clock,
                                 std::uint64_t start_ns,
                                 std::uint64_t end_ns);

}  // namespace dyetrace::query
