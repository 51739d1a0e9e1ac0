#include "query/flows/extent_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

namespace dyetrace::query {
namespace {

std::uint64_t pages_for(std::size_t words) {
    return (words * sizeof(std::uint64_t) + ExtentFile::kPageBytes - 1) / ExtentFile::kPageBytes;
}

// Page and words in one number.
constexpr unsigned kWordBits = 16;

std::uint64_t ticket_of(std::uint64_t page, std::size_t words) {
    return page << kWordBits | words;
}
std::uint64_t page_of(std::uint64_t ticket) {
    return ticket >> kWordBits;
}
std::size_t words_of(std::uint64_t ticket) {
    return ticket & ExtentFile::kWordsMax;
}

}  // namespace

bool ExtentFile::open() {
    if (!file_.valid() && !failed_) {
        std::string path = folder_ + "/dyetrace-ranges-XXXXXX";
        file_ = base::Fd(::mkostemp(path.data(), O_CLOEXEC));
        failed_ = !file_.valid();
        ::unlink(path.c_str());
    }
    return !failed_;
}

std::optional<std::uint64_t> ExtentFile::place(std::uint64_t pages) {
    if (auto& free = free_[pages]; !free.empty()) {
        const std::uint64_t first = free.back();
        free.pop_back();
        return first;
    }
    if ((end_ + pages) * kPageBytes > bytes_max_) {
        return std::nullopt;
    }
    end_ += pages;
    return end_ - pages;
}

std::optional<std::uint64_t> ExtentFile::put(std::span<const std::uint64_t> words) {
    const std::uint64_t pages = pages_for(words.size());
    const bool can = words.size() <= kWordsMax && open();
    const auto first = can ? place(pages) : std::nullopt;
    if (!first) {
        return std::nullopt;
    }
    const auto bytes = static_cast<ssize_t>(words.size_bytes());
    if (::pwrite(file_.get(),
                 words.data(),
                 words.size_bytes(),
                 static_cast<off_t>(*first * kPageBytes)) != bytes) {
        free_[pages].push_back(*first);
        return std::nullopt;
    }
    return ticket_of(*first, words.size());
}

std::vector<std::uint64_t> ExtentFile::take(std::uint64_t ticket) {
    std::vector<std::uint64_t> words(words_of(ticket));
    const std::size_t bytes = words.size() * sizeof(std::uint64_t);
    const auto got =
        ::pread(file_.get(), words.data(), bytes, static_cast<off_t>(page_of(ticket) * kPageBytes));
    drop(ticket);
    if (got != static_cast<ssize_t>(bytes)) {
        words.clear();
    }
    return words;
}

void ExtentFile::drop(std::uint64_t ticket) {
    free_[pages_for(words_of(ticket))].push_back(page_of(ticket));
}

}  // namespace dyetrace::query
