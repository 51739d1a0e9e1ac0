// Bytes of files, as disjoint ranges.
//
//   RangeSet seen;
//   seen.add(0, 100, 200);        100: all of it is new
//   seen.add(0, 150, 250);        50: only [200, 250) is
//   seen.covered(0, 0, 1000);     150
//
// Ranges that touch become one, so that what is read in order takes one entry. Memory: one entry of about 80 bytes per
// range; a caller that adds at most n ranges holds at most n.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace dyetrace::analysis {

struct FileRange {
    std::uint32_t file = 0;
    std::uint64_t from = 0, to = 0;  // `to` not included

    friend auto operator<=>(const FileRange&, const FileRange&) = default;
};

class RangeSet {
  public:
    // How many of these bytes are new. `fresh`, if given, gets them as ranges, in order.
    std::uint64_t add(const FileRange& range, std::vector<FileRange>* fresh = nullptr);
    std::uint64_t covered(const FileRange& range) const;
    void clear() { ends_.clear(); }
    std::size_t ranges() const { return ends_.size(); }

  private:
    using Key = std::pair<std::uint32_t, std::uint64_t>;  // file, from
    using Ends = std::map<Key, std::uint64_t>;            // to

    // The first range that ends at `from` or after it: it may touch what is added.
    Ends::const_iterator first_touching(std::uint32_t file, std::uint64_t from) const;

    Ends ends_;
};

}  // namespace dyetrace::analysis
