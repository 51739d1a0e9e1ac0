// What `dyetrace verify-copies` answers: the copies of some content, and where they differ; in words and as JSON.
//
//   /tmp/source · are its copies the same?
//   reference  cat[12] read /tmp/source 0–2,097,152
//   CHANGED    999,822–1,001,404 (1,582 bytes)
//     exactly    byte 1,000,003: 85 → 84               (only with --content=bytes)
//     in the memory of relay[31]
//     last good  relay[31] recvfrom 127.0.0.1:40→127.0.0.1:50
//                at 999,822 · event 4711
//     first bad  relay[31] sendto 127.0.0.1:51→127.0.0.1:60
//                at 999,822 · event 4712
//     later bad  2 copies: relay[32] recvfrom 127.0.0.1:51→127.0.0.1:60, relay[32] write /tmp/copy
//   A program that means to change bytes looks the same.
//   replaced   vi[40] write /tmp/copy 8,000–9,100         (other bytes were put there, and it is known by whom)
//   shorter    cp[41] write /tmp/copy2 0–2,000,000, by 97,152 bytes
//   5 copies · 10,485,760 bytes compared, 0 could not be
//   1 change · no gaps in this time
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/verify/byte_differences.h"
#include "analysis/verify/copies.h"

namespace dyetrace::reports {

inline constexpr std::size_t kChangesTold = 20;  // a screen; --json has all

// A copy in words.
struct CopyLabels {
    std::string who, name, what;
    std::uint64_t begin = 0, end = 0;  // positions in the object
    // What the kernel copied from object to object: positions in the second one.
    std::optional<std::pair<std::uint64_t, std::uint64_t>> range2 = std::nullopt;
    std::uint64_t calls = 0;
    std::uint64_t first_event = 0;
    std::uint64_t start_ns = 0;
};

enum class BytesKnown : std::uint8_t {
    kAll,
    kNoPayload,   // the trace has none
    kNotKept,     // not all bytes of the piece
    kNotTheSame,  // as those that the sums are of: somebody changed them while they were looked at
    kTooLong,
};

// Which bytes of the piece are others.
struct ChangedBytes {
    BytesKnown known = BytesKnown::kNoPayload;
    std::uint64_t missing = 0;                   // of kNotKept: in both copies
    analysis::ByteDifferences differences = {};  // of kAll
};

struct VerifyAnswer {
    std::string question;
    std::vector<CopyLabels> copies;  // as verdict counts them
    analysis::CopyVerdict verdict;
    std::vector<ChangedBytes> changed_bytes;  // by change
    std::vector<CopyLabels> replacers;  // by what was replaced: the call that put other bytes there
    std::string gaps;                   // what is missing in this time; empty: nothing
};

struct VerifyStyle {
    std::size_t width = 80;  // columns of the terminal
    bool colour = false;
};

std::string verify_text(const VerifyAnswer& answer, const VerifyStyle& style);

// One object, ended by a line break.
std::string verify_json(const VerifyAnswer& answer);

}  // namespace dyetrace::reports
