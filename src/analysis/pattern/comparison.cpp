#include "analysis/pattern/comparison.h"

#include <algorithm>
#include <numeric>

namespace dyetrace::analysis {
namespace {

// A piece of bytes that both passes met, and when: the number of the range in each, and the offset, as a long range is
// met from its beginning.
struct Piece {
    FileRange range;
    std::uint32_t before = 0, after = 0;
};

struct Numbered {
    FileRange range;
    std::uint32_t number = 0;
};

std::vector<Numbered> sorted_by_place(std::span<const FileRange> ranges) {
    std::vector<Numbered> out;
    out.reserve(ranges.size());
    for (const FileRange& range : ranges) {
        out.push_back({range, static_cast<std::uint32_t>(out.size())});
    }
    std::sort(out.begin(), out.end(), [](const Numbered& a, const Numbered& b) {
        return a.range < b.range;
    });
    return out;
}

bool ends_first(const FileRange& a, const FileRange& b) {
    return a.file != b.file ? a.file < b.file : a.to < b.to;
}

std::vector<Piece> common_pieces(std::span<const FileRange> before,
                                 std::span<const FileRange> after) {
    const std::vector<Numbered> a = sorted_by_place(before), b = sorted_by_place(after);
    std::vector<Piece> pieces;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const FileRange& left = a[i].range;
        const FileRange& right = b[j].range;
        const std::uint64_t from = std::max(left.from, right.from);
        const std::uint64_t to = std::min(left.to, right.to);
        if (left.file == right.file && from < to) {
            pieces.push_back({{left.file, from, to}, a[i].number, b[j].number});
        }
        ends_first(left, right) ? ++i : ++j;
    }
    return pieces;
}

// Leaves the pieces in the order of the later pass; for each the place that it has in the earlier one.
template <typename Pieces>
std::vector<std::uint32_t> order_of_pieces(Pieces&& pieces) {
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
        return a.before != b.before ? a.before < b.before : a.range.from < b.range.from;
    });
    std::uint32_t place = 0;
    for (Piece& piece : pieces) {
        piece.before = place++;
    }
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
        return a.after != b.after ? a.after < b.after : a.range.from < b.range.from;
    });
    std::vector<std::uint32_t> order;
    order.reserve(pieces.size());
    for (const Piece& piece : pieces) {
        order.push_back(piece.before);
    }
    return order;
}

// One piece per file: the one that the earlier, and that the later pass met first.
std::vector<Piece> first_pieces(std::span<const Piece> by_file) {
    std::vector<Piece> firsts;
    for (const Piece& piece : by_file) {
        if (firsts.empty() || firsts.back().range.file != piece.range.file) {
            firsts.push_back(piece);
            firsts.back().range = {piece.range.file, 0, 0};
        }
        firsts.back().before = std::min(firsts.back().before, piece.before);
        firsts.back().after = std::min(firsts.back().after, piece.after);
    }
    return firsts;
}

Permutation within_files(std::span<Piece> by_file) {
    Permutation sum;
    for (std::size_t begin = 0; begin < by_file.size();) {
        std::size_t end = begin + 1;
        while (end < by_file.size() && by_file[end].range.file == by_file[begin].range.file) {
            ++end;
        }
        sum += measure(order_of_pieces(by_file.subspan(begin, end - begin)));
        begin = end;
    }
    return sum;
}

}  // namespace

std::vector<FileRange> first_met(std::span<const Access> pass) {
    RangeSet met;
    std::vector<FileRange> out;
    for (const Access& access : pass) {
        met.add({access.file, access.offset, access.end()}, &out);
    }
    return out;
}

Comparison compare(std::span<const FileRange> before, std::span<const FileRange> after) {
    Comparison out;
    std::vector<Piece> pieces = common_pieces(before, after);  // sorted by file, then offset
    for (const Piece& piece : pieces) {
        out.common_bytes += piece.range.to - piece.range.from;
    }
    out.files = measure(order_of_pieces(first_pieces(pieces)));
    std::vector<Piece> by_file = pieces;
    out.within_files = within_files(by_file);
    out.pieces = measure(order_of_pieces(pieces));
    return out;
}

}  // namespace dyetrace::analysis
