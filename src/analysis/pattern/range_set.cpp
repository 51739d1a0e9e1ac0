#include "analysis/pattern/range_set.h"

#include <algorithm>

namespace dyetrace::analysis {

RangeSet::Ends::const_iterator RangeSet::first_touching(std::uint32_t file,
                                                        std::uint64_t from) const {
    auto at = ends_.upper_bound({file, from});
    if (at != ends_.begin()) {
        const auto before = std::prev(at);
        if (before->first.first == file && before->second >= from) {
            return before;
        }
    }
    return at;
}

std::uint64_t RangeSet::add(const FileRange& range, std::vector<FileRange>* fresh) {
    std::uint64_t from = range.from, to = range.to;
    std::uint64_t at = range.from, added = 0;
    const auto take = [&](std::uint64_t until) {
        if (at < until) {
            added += until - at;
            if (fresh != nullptr) {
                fresh->push_back({range.file, at, until});
            }
        }
    };
    auto entry = first_touching(range.file, range.from);
    while (entry != ends_.end() && entry->first.first == range.file &&
           entry->first.second <= range.to) {
        take(std::min(entry->first.second, range.to));
        at = std::max(at, entry->second);
        from = std::min(from, entry->first.second);
        to = std::max(to, entry->second);
        entry = ends_.erase(entry);
    }
    take(range.to);
    ends_.emplace_hint(entry, Key{range.file, from}, to);
    return added;
}

std::uint64_t RangeSet::covered(const FileRange& range) const {
    std::uint64_t bytes = 0;
    for (auto entry = first_touching(range.file, range.from);
         entry != ends_.end() && entry->first.first == range.file && entry->first.second < range.to;
         ++entry) {
        const std::uint64_t from = std::max(entry->first.second, range.from);
        const std::uint64_t to = std::min(entry->second, range.to);
        bytes += from < to ? to - from : 0;
    }
    return bytes;
}

}  // namespace dyetrace::analysis
