// What must not reach the disk: byte strings and regular expressions, and where they are in bytes.
//
//   --redact TEXT          these bytes
//   --redact hex:DIGITS    the same, in hexadecimal
//   --redact @FILE         the content of a file, without a line break at its end
//   --redact re:PATTERN    regular expression, see byte_pattern.h
//
// All matches count, overlapping ones too: what is found is a superset of what one search from the front would find, and does
// not depend on where that begins. At open ends what could be part of a match is found as well:
//
//   secret "4929":   "card 49"   with an open end: the last two bytes      "29 is it"   with an open begin: the first two
//
// Limits: of a match that lies over several pieces kJoinedBytesMax bytes are known, see Redactor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/byte_pattern.h"

namespace dyetrace::capture {

class Secrets {
  public:
    // Bytes of a string, and of a match of an expression without a shorter longest one.
    static constexpr std::size_t kJoinedBytesMax = 4096;

    static Result<Secrets> parse(const std::vector<std::string>& words);

    bool empty() const { return strings_.empty() && patterns_.empty(); }
    // The longest match that is found whatever borders it crosses.
    std::size_t match_bytes_max() const { return match_bytes_max_; }

    // What is found is sorted by place and disjoint.
    std::vector<Stretch> find(std::span<const std::byte> bytes, Ends ends = {}) const;

  private:
    Result<void> add(const std::string& word);

    std::vector<std::string> strings_;
    std::vector<std::shared_ptr<const BytePattern>> patterns_;  // shared by copies of Secrets
    std::size_t match_bytes_max_ = 1;
};

}  // namespace dyetrace::capture
