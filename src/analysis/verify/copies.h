// Where copies of the same content stopped being the same.
//
//   copies   0 cp read /a   1 cp write /b   2 web read /b   3 web send …      links   0 ─memory─► 1 ─file─► 2 ─memory─► 3
//   change   bytes 4,096 to 5,020: good in 1, bad in 2 ─ on the way over the file; 3 is bad too
//
// A copy is a strip: what one process moved into or out of one object. Each is compared with the one from which it comes in the end, its
// reference: not with the one before it, so that a program that frames what it passes on, and another one that takes the frames away again,
// changed nothing.
//
// On their way bytes are framed: headers stand between them, and are taken away where they are stored. So bytes that were put in or taken out
// count only from one file to another one, and only where no later copy is as long again; the way back to who did it goes over copies on
// connections that have as many bytes more or less. Where all that is known of the source is a connection, with frames of its own, files are held
// against the first file, too.
//
// Bytes in the place of others, put there by a call that is known, are a new version, and no change: what comes from elsewhere (origins.h), and what
// a program reads of a file and writes back to it with other bytes in it, as a database does with its pages; nor is what else it writes of them, as a journal.
//
// Nobody can tell from the outside whether a program meant to change bytes.
//
// Limits: kReferencesMax references are looked at, the earliest ones, and kChangesMax changes told; the others are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/dataflow/trail.h"
#include "analysis/verify/comparison.h"

namespace dyetrace::analysis {

inline constexpr std::size_t kReferencesMax = 64;
inline constexpr std::size_t kChangesMax = 10'000;  // as many as programs may want to look through

struct Copy {
    std::uint64_t process = 0;
    std::uint64_t object = 0;   // taken from
    std::uint64_t object2 = 0;  // put into
    std::uint64_t first_ns = 0;
    bool in_file = false;  // a file's bytes; else those of a connection or a pipe
    Strip strip;
    // What the kernel copied from file to file (copy_file_range) has the places that it had in `object`. In `object2` it lies so much farther, modulo 2^64.
    std::uint64_t shift2 = 0;

    std::uint64_t begin2() const { return strip.begin() + shift2; }
    std::uint64_t end2() const { return strip.end() + shift2; }
};

// Bytes went from one copy to another one.
struct CopyLink {
    std::size_t from = 0, to = 0;
    schema::FlowRule rule = schema::FlowRule::kFile;
    friend auto operator<=>(const CopyLink&, const CopyLink&) = default;
};

enum class Place : std::uint8_t {
    kMemory,   // of the process that took it in good and gave it away bad
    kFile,     // between write and read: page cache, disk, or a writer that no event tells of
    kNetwork,  // between the two ends of a connection
    kPipe,     // between the two ends of a pipe or unix socket
    kBetween,  // copies between the good one and the bad one could not be compared there
};

struct Change {
    std::size_t reference = 0, good = 0, bad = 0;  // copies
    std::vector<std::size_t> between;              // not known to be good or bad there
    std::vector<std::size_t> later;                // bad there because `bad` is
    Stretch stretch;                               // in the reference and in `bad`
    std::uint64_t good_begin = 0;                  // position of its first byte in `good`
    std::uint64_t good_event = 0, bad_event = 0;   // the calls that moved its first byte
    Place place = Place::kBetween;
    std::optional<std::uint64_t> replaced_by;  // the event that put other bytes there
};

// A copy in a file that ends before its reference does.
struct ShorterCopy {
    std::size_t reference = 0, copy = 0;
    std::uint64_t begin = 0, end = 0;  // in the reference: what the copy lacks
    friend bool operator==(const ShorterCopy&, const ShorterCopy&) = default;
};

enum class Sameness : std::uint8_t {
    kSame,       // all bytes of all copies
    kReplaced,   // but for those in whose place others were put, by calls that are known
    kDifferent,  // some are not the same
    kNotAllCompared,  // those that could be compared are the same; of others no later copy shows that they were good
};

struct CopyVerdict {
    std::vector<std::size_t> references;
    std::vector<Change> changes;   // by reference, and then by the time of the bad copy
    std::vector<Change> replaced;  // those with `replaced_by`
    std::vector<ShorterCopy> shorter;
    std::size_t copies_compared = 0;   // references left out
    std::uint64_t compared_bytes = 0;  // in all copies
    std::uint64_t unknown_bytes = 0;   // that could not be
    std::uint64_t open_bytes = 0;      // of these: also in no later copy
    std::size_t references_left_out = 0;
    std::size_t changes_left_out = 0;
    std::size_t replaced_left_out = 0;

    Sameness sameness() const {
        return !changes.empty() ? Sameness::kDifferent
               : copies_compared == 0 || open_bytes > 0 || references_left_out > 0 ||
                       !shorter.empty()
                   ? Sameness::kNotAllCompared
               : !replaced.empty() ? Sameness::kReplaced
                                   : Sameness::kSame;
    }
};

// `flows` tell whence the bytes of copies come.
CopyVerdict verify(const std::vector<Copy>& copies,
                   std::vector<CopyLink> links,
                   std::span<const TrailFlow> flows,
                   std::size_t changes_max = kChangesMax);

}  // namespace dyetrace::analysis
