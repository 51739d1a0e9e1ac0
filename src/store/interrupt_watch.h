// Ends a statement whose rows are being taken, once it is cancelled: while DuckDB looks for the next row nobody else can.
// For this folder's sources only.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "store/duckdb_engine.h"

namespace dyetrace::store {

class InterruptWatch {
  public:
    // `cancelled` may be null: then nobody looks. The connection must outlive this.
    InterruptWatch(duckdb_connection connection, const std::atomic<bool>* cancelled);
    InterruptWatch(const InterruptWatch&) = delete;
    ~InterruptWatch();

  private:
    void look();

    const duckdb_connection connection_;
    const std::atomic<bool>* const cancelled_;
    std::mutex mutex_;  // std's, for the condition
    std::condition_variable ending_;
    bool has_ended_ = false;
    std::thread thread_;
};

}  // namespace dyetrace::store
