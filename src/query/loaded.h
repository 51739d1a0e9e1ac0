// What the functions of SQL ask a table for, in memory from the first question on, until the trace is looked at again. Several threads ask at once.
//
//   Loaded<KnownOrder> order(database, &load_order);
//   TRY(const std::shared_ptr<const KnownOrder> known, order.get());
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "store/database.h"

namespace dyetrace::query {

template <typename Value>
class Loaded {
  public:
    using Load = Result<std::shared_ptr<const Value>> (*)(store::Database& database);

    // `database` must outlive it.
    Loaded(store::Database& database, Load load) : database_(database), load_(load) {}

    Result<std::shared_ptr<const Value>> get() {
        const base::MutexLock lock(mutex_);
        if (value_ == nullptr || look_ != database_.looks()) {
            TRY(value_, load_(database_));
            look_ = database_.looks();
        }
        return value_;
    }

  private:
    store::Database& database_;
    Load load_;
    base::Mutex mutex_;
    std::shared_ptr<const Value> value_ GUARDED_BY(mutex_);
    std::uint64_t look_ GUARDED_BY(mutex_) = 0;
};

}  // namespace dyetrace::query
