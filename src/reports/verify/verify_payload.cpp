#include "reports/verify/verify_payload.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>

#include "content/content_sum.h"
#include "query/payload/trace_payload.h"

namespace dyetrace::reports {
namespace {

using analysis::Change;
using analysis::Copy;
using analysis::MovedPiece;

// Bytes of a strip.
struct Range {
    const analysis::Strip& strip;
    std::uint64_t begin, end;

    std::uint64_t size() const { return end - begin; }
    // Calls that moved them.
    template <typename Take>
    void each_piece(Take&& take) const {
        const std::vector<MovedPiece>& pieces = strip.pieces();
        for (std::size_t i = strip.index_at(begin); i < pieces.size() && pieces[i].position < end;
             ++i) {
            take(pieces[i]);
        }
    }
};

Range good_range(const std::vector<Copy>& copies, const Change& change) {
    const std::uint64_t size = change.stretch.end - change.stretch.begin;
    return {copies[change.good].strip, change.good_begin, change.good_begin + size};
}

Range bad_range(const std::vector<Copy>& copies, const Change& change) {
    return {copies[change.bad].strip, change.stretch.copy_begin, change.stretch.copy_end};
}

struct KeptBytes {
    std::vector<std::byte> bytes;
    std::uint64_t missing = 0;
};

class ChangesReader {
  public:
    ChangesReader(query::TracePayload& payload, const std::vector<Copy>& copies)
        : payload_(payload), copies_(copies) {}

    Result<std::vector<ChangedBytes>> read(const std::vector<Change>& changes) {
        TRY(find_parts(changes));
        std::vector<ChangedBytes> result;
        for (const Change& change : changes) {
            TRY(ChangedBytes bytes, bytes_of(change));
            result.push_back(std::move(bytes));
        }
        return result;
    }

  private:
    // Where the payload is of the calls that moved what changed.
    Result<void> find_parts(const std::vector<Change>& changes) {
        const auto want = [&](const MovedPiece& piece) { parts_[piece.event]; };
        for (const Change& change : changes) {
            good_range(copies_, change).each_piece(want);
            bad_range(copies_, change).each_piece(want);
        }
        return payload_.scan([&](std::uint64_t event, const query::PayloadPart& part) {
            if (const auto wanted = parts_.find(event); wanted != parts_.end()) {
                wanted->second.push_back(part);
            }
        });
    }

    Result<ChangedBytes> bytes_of(const Change& change) {
        const Range good = good_range(copies_, change), bad = bad_range(copies_, change);
        ChangedBytes result;
        if (std::max(good.size(), bad.size()) > kPieceBytesMax) {
            result.known = BytesKnown::kTooLong;
            return result;
        }
        TRY(const KeptBytes old_bytes, kept_of(good));
        TRY(const KeptBytes new_bytes, kept_of(bad));
        result.missing = old_bytes.missing + new_bytes.missing;
        const analysis::Strip& reference = copies_[change.reference].strip;
        if (result.missing > 0) {
            result.known = BytesKnown::kNotKept;
        } else if (content::content_sum(old_bytes.bytes) !=
                       reference.sum_of(change.stretch.begin, change.stretch.end) ||
                   content::content_sum(new_bytes.bytes) != bad.strip.sum_of(bad.begin, bad.end)) {
            result.known = BytesKnown::kNotTheSame;
        } else {
            result.known = BytesKnown::kAll;
            result.differences =
                analysis::byte_differences(change.stretch, old_bytes.bytes, new_bytes.bytes);
        }
        return result;
    }

    Result<KeptBytes> kept_of(const Range& range) {
        KeptBytes kept{std::vector<std::byte>(range.size()), range.size()};
        Result<void> done;
        range.each_piece([&](const MovedPiece& piece) {
            for (const query::PayloadPart& part : parts_[piece.event]) {
                if (done.ok()) {
                    done = copy_part(range, piece.position + part.position, part, kept);
                }
            }
        });
        TRY(std::move(done));
        return kept;
    }

    // What lies at `position` of the strip.
    Result<void> copy_part(const Range& range,
                           std::uint64_t position,
                           const query::PayloadPart& source,
                           KeptBytes& kept) {
        const std::uint64_t begin = std::max(range.begin, position);
        const std::uint64_t end = std::min(range.end, position + source.place.length);
        if (begin >= end) {
            return {};
        }
        TRY(const std::span<const std::byte> bytes, payload_.bytes_at(source));
        const auto part = bytes.subspan(begin - position, end - begin);
        std::copy(part.begin(),
                  part.end(),
                  kept.bytes.begin() + static_cast<std::ptrdiff_t>(begin - range.begin));
        kept.missing -= part.size();
        return {};
    }

    query::TracePayload& payload_;
    const std::vector<Copy>& copies_;
    std::unordered_map<std::uint64_t, std::vector<query::PayloadPart>> parts_;  // by event
};

}  // namespace

Result<std::vector<ChangedBytes>> changed_bytes(const std::string& trace_path,
                                                const std::vector<Copy>& copies,
                                                const std::vector<Change>& changes) {
    auto payload = query::TracePayload::open(trace_path);
    if (!payload.ok() && payload.error().code() == ErrorCode::kNotFound) {
        return std::vector<ChangedBytes>(changes.size());
    }
    TRY(query::TracePayload reader, std::move(payload));
    return ChangesReader(reader, copies).read(changes);
}

}  // namespace dyetrace::reports
