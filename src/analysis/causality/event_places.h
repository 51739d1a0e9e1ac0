// Where each event stands, by its id, for hundreds of millions of them: 28 bytes each, more where ids have holes.
//
// Ids of one CPU follow each other (schema: host, CPU, sequence), so they share pages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/causality/cause_edge.h"

namespace dyetrace::analysis {

class EventPlaces {
  public:
    void add(const EventPlace& place, std::uint64_t rank) {
        const auto [thread, is_new] = thread_numbers_.try_emplace(
            place.thread, static_cast<std::uint32_t>(thread_numbers_.size()) + 1);
        if (is_new) {
            threads_.push_back(place.thread);
        }
        std::unique_ptr<Page>& page = pages_[place.event / kPageEvents];
        if (page == nullptr) {
            page = std::make_unique<Page>();
        }
        const std::size_t at = place.event % kPageEvents;
        page->begin[at] = place.begin;
        page->end[at] = place.end;
        page->rank[at] = rank;
        page->thread[at] = thread->second;
    }

    // None: there is no such event, or nobody did it.
    std::optional<EventPlace> find(std::uint64_t event) const {
        const Page* const page = page_of(event);
        const std::size_t at = event % kPageEvents;
        if (page == nullptr || page->thread[at] == 0) {
            return std::nullopt;
        }
        return EventPlace{event, threads_[page->thread[at] - 1], page->begin[at], page->end[at]};
    }

    std::optional<std::uint64_t> rank(std::uint64_t event) const {
        const Page* const page = page_of(event);
        const std::size_t at = event % kPageEvents;
        if (page == nullptr || page->thread[at] == 0) {
            return std::nullopt;
        }
        return page->rank[at];
    }

  private:
    static constexpr std::size_t kPageEvents = 1024;  // 28 KiB a page

    struct Page {
        std::array<std::uint64_t, kPageEvents> begin{}, end{}, rank{};
        std::array<std::uint32_t, kPageEvents> thread{};  // from 1; 0: no event
    };

    const Page* page_of(std::uint64_t event) const {
        const auto page = pages_.find(event / kPageEvents);
        return page == pages_.end() ? nullptr : page->second.get();
    }

    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    std::unordered_map<std::uint64_t, std::uint32_t> thread_numbers_;
    std::vector<std::uint64_t> threads_;
};

}  // namespace dyetrace::analysis
