#include "recorder/dye_set.h"

#include <fmt/format.h>

#include <algorithm>

namespace dyetrace::recorder {

Result<const DyeSet::Entry*> DyeSet::add(capture::Dye dye) {
    const bool known = std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return entry.dye.name == dye.name;
    });
    if (known) {
        return Error(ErrorCode::kAlreadyExists,
                     fmt::format("there is a dye {} already: give this one another name, or remove "
                                 "that one first",
                                 dye.name));
    }
    TRY(std::vector<capture::DyePattern> patterns, capture::patterns_of(next_id_, dye));
    entries_.push_back({next_id_++, std::move(dye), std::move(patterns)});
    return &entries_.back();
}

Result<DyeSet::Entry> DyeSet::remove(std::string_view name) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return entry.dye.name == name;
    });
    if (found == entries_.end()) {
        return Error(ErrorCode::kNotFound, fmt::format("there is no dye {}", name));
    }
    Entry removed = std::move(*found);
    entries_.erase(found);
    return removed;
}

std::vector<capture::DyePattern> DyeSet::patterns() const {
    std::vector<capture::DyePattern> result;
    for (const Entry& entry : entries_) {
        result.insert(result.end(), entry.patterns.begin(), entry.patterns.end());
    }
    return result;
}

}  // namespace dyetrace::recorder
