// How much of a set of files was moved, and how often each part.
//
// The files stand one after another in the order of their numbers and are cut into kParts equal
// parts, so that a picture has one column for each, whatever the files' sizes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/pattern/access.h"

namespace dyetrace::analysis {

// Where each file begins when all stand one after another; a file is as long as it was said to be,
// or as far as it was accessed.
class FileLayout {
  public:
    FileLayout() = default;
    FileLayout(std::vector<std::uint64_t> sizes, std::span<const Access> accesses);

    std::uint64_t place(std::uint32_t file, std::uint64_t offset) const {
        return begins_[file] + offset;
    }
    std::uint64_t bytes() const { return begins_.empty() ? 0 : begins_.back(); }
    // 0 … 1 for what is drawn
    double fraction(const Access& access) const;

  private:
    std::vector<std::uint64_t> begins_;  // one more than files: the end
};

struct Coverage {
    static constexpr std::size_t kParts = 40;  // columns of a terminal of 80, beside their words

    std::uint64_t covered_bytes = 0;     // moved at least once
    std::uint64_t once_bytes = 0;        // exactly once
    std::uint64_t times_max = 0;         // what the most wanted byte was moved
    std::array<double, kParts> times{};  // mean per part
};
Coverage coverage_of(std::span<const Access> accesses, const FileLayout& extent);

}  // namespace dyetrace::analysis
