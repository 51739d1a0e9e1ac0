// The databases that answers are made from: several of one trace, each for one answer at a time.
//
//   DatabasePool pool([&] { return open_database(path, "300MB"); }, 2, [&] { return open_database(path, "3GB"); });
//   TRY(pool.with(cancelled, [&](store::Database& database) { return database.query(…); }));
//
// The first is opened by the first answer, the others when all are in use. Of a trace that is still being recorded what an answer sees is not
// older than kLookAgainAfter.
//
// An answer for which a database's memory is not enough (kOutOfMemory) is made again, from a larger one that is opened for it and closed after
// it: the others stay small, for they are kept as long as the page is open. There is one larger at a time.
//
// What an answer cannot have of the process's memory (std::bad_alloc) is its error, kLimitReached, and no other's.
//
// Thread: any.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "store/database.h"

namespace dyetrace::api {

inline constexpr std::chrono::seconds kLookAgainAfter{1};

class DatabasePool {
  public:
    using Opener = std::function<Result<std::unique_ptr<store::Database>>()>;

    DatabasePool(Opener open, std::size_t databases_max, Opener open_larger);
    ~DatabasePool();

    // Waits for a database that nobody uses; kInterrupted if `cancelled` is set meanwhile. `use` may be called twice, with another database each.
    Result<void> with(const std::atomic<bool>& cancelled,
                      const std::function<Result<void>(store::Database&)>& use);

  private:
    struct Slot;
    Result<Slot*> take(const std::atomic<bool>& cancelled);
    void give_back(Slot& slot);
    Result<void> with_larger(const std::atomic<bool>& cancelled,
                             const std::function<Result<void>(store::Database&)>& use);

    const Opener open_, open_larger_;
    const std::size_t most_;
    std::mutex mutex_;  // std's, for the condition
    std::condition_variable free_;
    std::vector<std::unique_ptr<Slot>> slots_;
    bool is_larger_open_ = false;
};

}  // namespace dyetrace::api
