// Records of the same call, made by two agents on one kernel. A thread makes one call at a time, so two records of one thread that overlap in time are of
// one call; of one that began before a recording that has only its end, which lies next to the end of the other record. Signals have no length and come in bunches: the n-th of each host is the same there.
//
//   host 0   ├─ read ─┤     ├─ read ─┤                      twins   B of A, D of C
//   host 1    ├─ read ─┤     ├─ read ─┤  ├─ read ─┤
//                A,B            C,D
//
//   TwinFinder finder;
//   finder.add(record, twins);                in order of thread, what and start; parts after their call
//   finder.end(twins);
//
// It holds one bunch: the records of a thread that overlap, at most kBunchMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dyetrace::analysis {

struct TwinRecord {
    std::uint64_t thread =
        0;                   // as the kernel tells them apart: the same number for all of its hosts
    std::uint64_t what = 0;  // records that may be of one call have the same
    std::uint64_t start_ns = 0;
    // None: it never returned, and lasts until the next one. As start_ns: only its end was seen.
    std::optional<std::uint64_t> end_ns;
    std::uint64_t id = 0;
    std::uint32_t host = 0;
    std::optional<std::uint64_t> handle = {},
                                 handle2 = {};  // what it acted on, as its host numbers them
};

struct TwinPart {
    std::uint64_t id = 0;
    std::uint64_t part = 0;  // which of its call
};

// A record, or a part of it, and the same one as the first of the hosts that have it recorded it.
struct Twin {
    std::uint64_t id = 0, first_id = 0;
};

// Hosts number what calls act on for themselves: these two are the same.
struct TwinHandle {
    std::uint32_t host = 0, first_host = 0;
    std::uint64_t handle = 0, first_handle = 0;
    auto operator<=>(const TwinHandle&) const = default;
};

struct Twins {
    std::vector<Twin> records;
    std::vector<TwinHandle>
        handles;  // one for each two records that have them, so most of them many times
};

class TwinFinder {
  public:
    // A thread that gets signals without pause: those beyond it are another bunch.
    static constexpr std::size_t kBunchMax = 65'536;

    // Between the ends of two records of one call: the programs of both agents run one after the other.
    static constexpr std::uint64_t kEndsApartNs = 1'000'000;

    void add(const TwinRecord& record, Twins& found);
    void add_part(const TwinPart& part);  // of the record that was added last
    void end(Twins& found);

  private:
    struct Member {
        TwinRecord record;
        std::size_t turn = 0;  // among those of its host in the bunch
        std::size_t parts_begin = 0, parts_end = 0;
    };

    bool continues(const TwinRecord& record);
    void add_pair(const Member& first, const Member& twin, Twins& found) const;

    std::vector<Member> bunch_;
    std::vector<TwinPart> parts_;
    std::uint64_t end_ns_ = 0;  // the latest of the bunch
};

}  // namespace dyetrace::analysis
