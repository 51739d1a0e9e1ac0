// This program again, twice, beside a recording: one that makes Parquet of its segments, and one that shows it in the browser.
//
//   Companions companions(trace, log);
//   companions.start_sealer();              takes what everybody else leaves of the CPUs
//   companions.start_page();                says its address itself
//   …
//   companions.await_sealer();              until all is sealed, or somebody has waited long enough
//   companions.await_page_reader();      until Ctrl-C
//
// Their I/O is the recorder's own. Limits: whoever is still there at the end of the object goes on by itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/log.h"

namespace dyetrace::recorder {

// What became of the sealer while it was waited for.
struct Sealing {
    enum class End {
        kDone,
        kFailed,  // it has said so itself
        kLeft,    // it goes on alone
        kStopped,
    };
    End end = End::kDone;
    std::uint64_t waited_ns = 0;
    std::uint64_t cpu_ns = 0;  // all that it used; 0 if it goes on
};

class Companions {
  public:
    Companions(std::string trace, const base::Log& log) : trace_(std::move(trace)), log_(log) {}

    void start_sealer();
    // Says how far it is: on a terminal in a line that is rewritten, elsewhere now and then. Ctrl-C (and SIGHUP) leaves it to go on
    // alone, SIGQUIT (Ctrl-\ at a terminal) and SIGTERM stop it: what is in segments is read as well, `dyetrace seal` goes on. Nothing if
    // there is none.
    std::optional<Sealing> await_sealer();

    void start_page();
    // Shows it until the person has had enough (SIGINT, SIGTERM).
    void await_page_reader();

  private:
    std::string trace_;
    const base::Log& log_;
    pid_t sealer_ = -1;
    pid_t page_ = -1;
};

}  // namespace dyetrace::recorder
