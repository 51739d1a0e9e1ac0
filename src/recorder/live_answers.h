// The program beside a recorder that knows SQL: it takes a statement apart, gets what was counted, and says the answer.
//
//   TRY(LiveAnswers answers, LiveAnswers::start("SELECT comm, count(*) FROM events GROUP BY 1", {"--format", "json"}));
//   answers.grouping()                        what is to be counted
//   answers.say(window)                       it writes the answer to stdout
//   answers.end()                             after the last one; its exit status
//
//        ◄── the probe, if it is about one ─ its descriptor 3       filter/probe_question.h
//   here ── the types of its columns ──────► its stdin
//        ◄── the grouping ────────────────── its descriptor 3
//   here ── windows ───────────────────────► its stdin              a line of JSON each
//
// What is wrong with the statement it says itself, on stderr; then there is no grouping.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "filter/grouping.h"
#include "filter/probe_question.h"

namespace dyetrace::recorder {

struct LiveWindow {
    std::int64_t begin_ns = 0, end_ns = 0;  // wall clock
    std::string remark;                     // what is missing from it; empty: nothing
};

class LiveAnswers {
  public:
    static Result<LiveAnswers> start(const std::string& statement,
                                     std::vector<std::string> options,
                                     const filter::FindProbe& find);

    // Nothing: it has said why, and end() has the exit status.
    const std::optional<filter::Grouping>& grouping() const { return grouping_; }
    pid_t pid() const { return pid_; }

    // It reads no more windows.
    bool ended() const;
    // kUnavailable: it has ended.
    Result<void> say(const LiveWindow& window, const filter::Groups& groups);

    int end();

  private:
    LiveAnswers(pid_t pid, base::Fd windows) : pid_(pid), windows_(std::move(windows)) {}

    pid_t pid_;
    base::Fd windows_;
    std::optional<filter::Grouping> grouping_;
};

}  // namespace dyetrace::recorder
