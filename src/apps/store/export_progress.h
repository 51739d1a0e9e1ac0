// How far an export is, for somebody at a terminal: one line that is written over, and gone at the end.
//
//   dyetrace: reading the trace · 12 s              until the first bytes come: what is sorted, or made of all events
//   dyetrace: 345 MB written · 40 s
//
//   const ExportProgress progress(STDERR_FILENO);
//   progress.count(bytes.size());
//
// Nothing is said where `fd` is no terminal, nor in the first second.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <thread>

namespace dyetrace::apps {

class ExportProgress {
  public:
    explicit ExportProgress(int fd);  // borrows fd
    // The line is gone: what is said afterwards begins where it began.
    ~ExportProgress();
    ExportProgress(const ExportProgress&) = delete;
    ExportProgress& operator=(const ExportProgress&) = delete;

    void count(std::size_t bytes) { bytes_ += bytes; }

    // The line is gone and does not come again: what follows on the same terminal tells how far it is.
    void end() { shower_ = {}; }

  private:
    void show(const std::stop_token& stop) const;

    int fd_;
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    std::atomic<std::uint64_t> bytes_ = 0;
    std::jthread shower_;
};

}  // namespace dyetrace::apps
