// An ExtentStore for tests: in memory, and as unreliable as they want it.
#pragma once

#include <map>
#include <utility>

#include "analysis/dataflow/extent_store.h"

namespace dyetrace::analysis {

class MemoryStore : public ExtentStore {
  public:
    std::optional<std::uint64_t> put(std::span<const std::uint64_t> words) override {
        if (kept_.size() == room) {
            return std::nullopt;
        }
        kept_.emplace(++tickets_, std::vector<std::uint64_t>(words.begin(), words.end()));
        return tickets_;
    }
    std::vector<std::uint64_t> take(std::uint64_t ticket) override {
        ++taken;
        std::vector<std::uint64_t> words = std::move(kept_.at(ticket));
        kept_.erase(ticket);
        return loses ? std::vector<std::uint64_t>() : words;
    }
    void drop(std::uint64_t ticket) override { kept_.erase(ticket); }

    std::size_t size() const { return kept_.size(); }

    std::size_t room = SIZE_MAX;
    std::size_t taken = 0;
    bool loses = false;

  private:
    std::uint64_t tickets_ = 0;
    std::map<std::uint64_t, std::vector<std::uint64_t>> kept_;
};

}  // namespace dyetrace::analysis
