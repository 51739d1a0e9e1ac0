// This program again, twice, beside a recording: one that makes Parquet of its segments, and one that shows it in the browser.
//
//   Companions companions(trace, log);
//   companions.start_sealer();              takes what everybody else leaves of the CPUs
//   companions.start_page();                says its address itself
//   …
//   companions.await_sealer();              until all is sealed
//   companions.await_page_reader();      until Ctrl-C
//
// Their I/O is the recorder's own. Limits: whoever is still there at the end of the object goes on by itself.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/log.h"

namespace dyetrace::recorder {

class Companions {
  public:
    Companions(std::string trace, const base::Log& log) : trace_(std::move(trace)), log_(log) {}

    void start_sealer();
    void await_sealer();

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
