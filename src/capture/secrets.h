// What must not reach the disk: byte strings and regular expressions, and where they are in bytes.
//
//   --redact TEXT          these bytes
//   --redact hex:DIGITS    the same, in hexadecimal
//   --redact @FILE         the content of a file, without a line break at its end
//   --redact re:PATTERN    POSIX extended regular expression; a match across a border has at most kRegexMatchMax bytes
//
// Every place at which a match begins counts, also one inside another match: what is redacted is a superset of what one
// search from the front would find, and does not depend on where that begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace dyetrace::capture {

class Secrets {
  public:
    static constexpr std::size_t kRegexMatchMax =
        256;  // bytes; as many less one wait at each border
    static constexpr std::size_t kSecretBytesMax = 4096;  // of a byte string; likewise

    static Result<Secrets> parse(const std::vector<std::string>& words);

    bool empty() const { return strings_.empty() && patterns_.empty(); }
    // The longest match that is found whatever borders it crosses.
    std::size_t match_bytes_max() const { return match_bytes_max_; }

    // Stretches that hold a match, by rising position and disjoint.
    using Stretch = std::pair<std::size_t, std::size_t>;  // from, to
    std::vector<Stretch> find(std::span<const std::byte> bytes) const;

  private:
    class Pattern;

    Result<void> add(const std::string& word);

    std::vector<std::string> strings_;
    std::vector<std::shared_ptr<const Pattern>>
        patterns_;  // copies of Secrets share what regcomp made
    std::size_t match_bytes_max_ = 1;
};

}  // namespace dyetrace::capture
