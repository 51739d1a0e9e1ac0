// Where a running recording takes and gives back dyes: what is asked for at its socket becomes what the kernel looks for, and a
// fact in the trace.
//
//   add, FORMS, NAME, TEXT ─► ok                 remove, NAME ─► ok
//   list, FROM             ─► ok, NEXT, line …   one line of each dye from the FROMth on; NEXT is 0 after the last
//
// A change takes effect for calls that end from then on. It is answered in 0.11 to 0.18 s, beside one dye or 10,000 (measured; an idle
// recorder looks for callers ten times a second).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/kernel_dyes.h"
#include "recorder/dye_control.h"
#include "recorder/dye_set.h"
#include "recorder/fact_writer.h"

namespace dyetrace::recorder {

class DyeServer {
  public:
    // `dyes` are looked for already. Both others must outlive it.
    DyeServer(DyeSet dyes, capture::KernelDyes& kernel, FactWriter& facts)
        : dyes_(std::move(dyes)), kernel_(&kernel), facts_(&facts) {}

    // Says in the trace what is looked for, and listens in its folder.
    Result<void> open(const std::string& folder);
    void serve();
    // Writes what crosses two calls; to be called after each drain.
    Result<void> write_crossings();
    // At the end: what was not compared, for `coverage`.
    Result<void> write_lack();
    // Nobody is listened to any more.
    void close() { control_.reset(); }
    // "card 12 · pin 0": rows of dye_hits, of those that have most; removed ones too.
    std::string hits_text() const;

  private:
    ControlMessage answer(const ControlMessage& request);
    Result<void> add(const ControlMessage& request);
    Result<void> remove(const std::string& name);
    ControlMessage list(const std::string& from) const;

    DyeSet dyes_;
    std::vector<std::pair<std::uint32_t, std::string>> names_;  // of all that were ever looked for
    capture::KernelDyes* kernel_;
    FactWriter* facts_;
    std::optional<DyeControl> control_;
};

}  // namespace dyetrace::recorder
