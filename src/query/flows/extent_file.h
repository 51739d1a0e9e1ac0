// What the flow engine puts away: numbers in a file without a name, which goes with the process.
//
//   slots, by how many pages they take      │ a 2 │ b 1 │ free 2 │ c 1 │ …       a free one is taken before the file grows
//
// A ticket says where and how long: nothing is held in memory but the free places.
//
// Limit: kBytesMax; over it, and when the disk is full, put() has no room.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/dataflow/extent_store.h"
#include "base/fd.h"

namespace dyetrace::query {

class ExtentFile : public analysis::ExtentStore {
  public:
    static constexpr std::size_t kWordsMax = UINT16_MAX;  // of one put(); a leaf has 1,728 at most
    static constexpr std::uint64_t kPageBytes = 1024;     // a full leaf takes five
    static constexpr std::uint64_t kBytesMax = std::uint64_t{16} << 30;  // some 200 million ranges

    // Made in `folder` when it is first needed, and unlinked at once.
    explicit ExtentFile(std::string folder, std::uint64_t bytes_max = kBytesMax)
        : folder_(std::move(folder)), bytes_max_(bytes_max) {}

    std::optional<std::uint64_t> put(std::span<const std::uint64_t> words) override;
    std::vector<std::uint64_t> take(std::uint64_t ticket) override;
    void drop(std::uint64_t ticket) override;

    std::uint64_t bytes() const { return end_ * kPageBytes; }

  private:
    bool open();
    std::optional<std::uint64_t> place(std::uint64_t pages);

    std::string folder_;
    std::uint64_t bytes_max_;
    base::Fd file_;
    bool failed_ = false;
    std::uint64_t end_ = 0;                                               // in pages
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> free_;  // first pages, by pages
    std::unordered_map<std::uint64_t, std::uint32_t> words_;  // by ticket, the first page
};

}  // namespace dyetrace::query
