// What the events of a timeline were read with: who did them, what a condition asks of besides the event itself, when their hosts' clocks began.
// A timeline can be added to as long as all of it holds.
//
//   TRY(const TimelineFacts now, TimelineFacts::of(database, !where.empty()));
//   now.hold(before)        each fact of `before` is there as it was; others may have come
//
// A fact that comes later than an event that refers to it breaks that unseen: with a condition it is trusted only where no fact was lost
// (docs/trace_format.md, "Order"); without one, an event of an unknown thread tells.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/database.h"

namespace dyetrace::api {

class TimelineFacts {
  public:
    // More of them count when there is a condition.
    static Result<TimelineFacts> of(store::Database& database, bool has_condition);

    bool hold(const TimelineFacts& before) const;

  private:
    bool may_come_late_ = false;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> hashes_;  // by what they are of
};

}  // namespace dyetrace::api
