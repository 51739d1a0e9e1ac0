// The dyes of a recording: what each id stands for, and what the kernel is to look for.
//
//   add(dye) ─► patterns() ─► Capture::look_for()          ids are given once and never again
//   remove("card") ─► patterns() ─► …
//
// Limits: those of DyeTable, for all forms of all dyes together. Names are unique.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/dye.h"

namespace dyetrace::recorder {

class DyeSet {
  public:
    struct Entry {
        std::uint32_t id = 0;
        capture::Dye dye;
        std::vector<capture::DyePattern> patterns;
    };

    // The new one; kAlreadyExists: there is one of this name.
    Result<const Entry*> add(capture::Dye dye);
    // What it was; kNotFound.
    Result<Entry> remove(std::string_view name);

    // The patterns of all dyes.
    std::vector<capture::DyePattern> patterns() const;
    const std::vector<Entry>& entries() const { return entries_; }

  private:
    std::vector<Entry> entries_;
    std::uint32_t next_id_ = 1;
};

}  // namespace dyetrace::recorder
