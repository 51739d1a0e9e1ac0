// The bytes that a process moved into or out of one object, call after call: a strip, cut where the
// content has anchors.
//
//   read(4096) read(4096) … read(100)
//   |-----A--|--B-----C-|…|-D--|          cuts: A, B, C, D and the borders of calls; the sum of what lies between two of them is known,
//   begin                     end         over the borders of calls too (content/content_sum.h)
//
// A cut stands after the last byte of an anchor's window, and where a call begins. A stretch of calls whose bytes are all
// known and follow each other is a run; between runs no sum is known. Each run begins and ends with
// a cut, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dyetrace::analysis {

// An anchor among the bytes that a call moved.
struct SummedAnchor {
    std::uint64_t end = 0;  // after the window's last byte
    std::uint64_t fingerprint = 0;
    std::uint64_t prefix_sum = 0;  // of the call's bytes up to there
};

// What one call moved.
struct MovedPiece {
    std::uint64_t event = 0;
    std::uint64_t position = 0;  // of its first byte in the strip: in the file, the stream
    std::uint64_t bytes = 0;
    std::uint64_t end_ns = 0;
    std::optional<std::uint64_t> sum;       // of all its bytes
    std::span<const SummedAnchor> anchors;  // by end; must outlive the strip
};

struct Cut {
    std::uint64_t position = 0;
    std::uint64_t sum = 0;  // of the run up to here
    std::uint32_t run = 0;
    std::optional<std::uint64_t>
        fingerprint;  // nothing: where a call or a run begins, or a run ends
};

class Strip {
  public:
    // Pieces are sorted by position, and no two overlap; there is at least one.
    explicit Strip(std::vector<MovedPiece> pieces);

    std::uint64_t begin() const { return pieces_.front().position; }
    std::uint64_t end() const { return pieces_.back().position + pieces_.back().bytes; }
    std::uint64_t size() const { return end() - begin(); }
    const std::vector<Cut>& cuts() const { return cuts_; }
    const std::vector<MovedPiece>& pieces() const { return pieces_; }
    // Finds the call that moved the byte there, or the next one that is known, or the last.
    std::size_t index_at(std::uint64_t position) const;
    const MovedPiece& piece_at(std::uint64_t position) const { return pieces_[index_at(position)]; }
    // How many of the bytes there calls moved.
    std::uint64_t moved_between(std::uint64_t begin, std::uint64_t end) const;
    // Finds the first of the cuts that stand there.
    std::optional<std::size_t> cut_at(std::uint64_t position) const;
    // Sums up the bytes from one cut to another one; nothing if there are no cuts, or some of the
    // bytes are not known.
    std::optional<std::uint64_t> sum_of(std::uint64_t begin, std::uint64_t end) const;

  private:
    std::vector<MovedPiece> pieces_;
    std::vector<Cut> cuts_;
};

// Sums up the bytes from one cut to a later one; nothing if some of them are not known.
std::optional<std::uint64_t> sum_between(const Cut& from, const Cut& to);

// Pieces in order of time; where one moves bytes at a position again, another strip begins.
std::vector<Strip> strips_of(const std::vector<MovedPiece>& pieces);

}  // namespace dyetrace::analysis
