// Makes strips for tests of bytes that are given, cut into calls, with the anchors that they have.
//
//   Moved moved;
//   const Strip strip = moved.strip("…", {100, 7});       calls of 100 and 7 bytes, again and again
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/verify/strip.h"
#include "base/random_bytes.h"
#include "content/anchors.h"
#include "content/content_sum.h"

namespace dyetrace::analysis {

using base::random_bytes;

class Moved {
  public:
    // Calls of these sizes in turn; anchors that lie across their borders belong to the one in which they end, as the recorder does it.
    std::vector<MovedPiece> pieces(std::string_view bytes,
                                   const std::vector<std::size_t>& sizes,
                                   std::uint64_t first = 0) {
        const auto windows = content::AnchorRule(256).find(std::as_bytes(std::span(bytes)));
        std::vector<MovedPiece> result;
        for (std::size_t at = 0, turn = 0; at < bytes.size(); ++turn) {
            const std::size_t size = std::min(bytes.size() - at, sizes[turn % sizes.size()]);
            auto& anchors = anchors_.emplace_back();
            for (const auto& window : windows) {
                const std::size_t end = window.position + ANCHOR_WINDOW;
                if (end > at && end <= at + size) {
                    anchors.push_back({end - at, window.fingerprint, sum(bytes, at, end)});
                }
            }
            result.push_back({.event = ++last_event_,
                              .position = first + at,
                              .bytes = size,
                              .end_ns = last_event_,
                              .sum = sum(bytes, at, at + size),
                              .anchors = anchors});
            at += size;
        }
        return result;
    }

    Strip strip(std::string_view bytes,
                const std::vector<std::size_t>& sizes,
                std::uint64_t first = 0) {
        return Strip(pieces(bytes, sizes, first));
    }

  private:
    static std::uint64_t sum(std::string_view bytes, std::size_t begin, std::size_t end) {
        return content::content_sum(std::as_bytes(std::span(bytes)).subspan(begin, end - begin));
    }

    std::deque<std::vector<SummedAnchor>> anchors_;
    std::uint64_t last_event_ = 0;
};

}  // namespace dyetrace::analysis
