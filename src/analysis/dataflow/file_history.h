// One file: who wrote each of its bytes last, and so where what is read of it comes from.
//
//   time ──►   A writes [0,100)    B writes [40,60)    R reads [30,50)      flows  A[30,40) ─► R   B[40,50) ─► R   certain
//
// Calls that overlap in time: R may have read the bytes of a write that had not returned, or those that it replaced; of two
// writes of the same bytes either may be the last. All of these are flows then, each of them likely.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/dataflow/extent_map.h"

namespace dyetrace::analysis {

// Reads that took less are not told when they start: what kReplacedKept writes replaced last is what they can have met.
inline constexpr std::uint64_t kShortReadNs = 20'000;
inline constexpr std::size_t kReplacedKept = 32;
// For a read that takes longer all is kept that was replaced since it began, up to so much: 64 bytes each.
inline constexpr std::size_t kReplacedMax = 65'536;

class FileHistory {
  public:
    explicit FileHistory(ExtentPool& pool) : pool_(pool), extents_(pool) {}

    void write_starts(std::uint64_t event, std::uint64_t begin, std::uint64_t end);
    void write(const Act& act, std::uint64_t bytes);
    void read_starts(std::uint64_t event, std::uint64_t start_ns) {
        reading_.push_back({event, start_ns});
    }
    void read(const Act& act, std::uint64_t bytes, std::vector<Flow>& flows);
    // Truncated, or a hole was punched. begin < end.
    void cut(std::uint64_t begin, std::uint64_t end, std::uint64_t cut_ns);

    // Nothing to know of it, for reads either that are in flight now.
    bool is_over(std::uint64_t now_ns) const {
        return extents_.empty() && writing_.empty() && reading_.empty() &&
               (replaced_.empty() || replaced_.back().replaced_ns + kShortReadNs <= now_ns);
    }

    // These do what those of ExtentMap do.
    void add_reached(std::vector<std::uint64_t>& reached, bool those_away) const {
        extents_.add_reached(reached, those_away);
    }
    void put_away_before(std::uint64_t reached) { extents_.put_away_before(reached); }
    void forget_before(std::uint64_t reached) { extents_.forget_before(reached); }

  private:
    struct Writing {
        std::uint64_t event, begin, end;
    };
    struct Reading {
        std::uint64_t event, start_ns;
    };
    struct Replaced {
        std::uint64_t begin = 0, end = 0;
        std::uint64_t replaced_ns = 0;
        Act act;
    };

    bool is_being_written(std::uint64_t event, std::uint64_t begin, std::uint64_t end) const;
    std::vector<Act> rivals_of(const Act& writer,
                               const Extent& extent,
                               std::uint64_t begin,
                               std::uint64_t end);
    void keep_all(const Extent& extent,
                  std::uint64_t begin,
                  std::uint64_t end,
                  std::uint64_t replaced_ns);
    void keep_replaced(const Replaced& replaced);
    void drop_replaced();

    ExtentPool& pool_;
    ExtentMap extents_;
    std::vector<Writing> writing_;
    std::vector<Reading> reading_;
    std::vector<Replaced> replaced_;  // in the order of replaced_ns
    std::size_t replaced_max_ = 2 * kReplacedKept;
};

}  // namespace dyetrace::analysis
