// A question about a probe, answered where it fires.
//
//   TRY(KernelProbe probe, KernelProbe::load(found, grouping, watched));
//   TRY(probe.attach());
//   … probe.drain(); …                     rows that the kernel could not count
//   TRY(probe.take(table));                groups since the last time
//   probe.detach();
//
// There are two tables of groups: while one is read, the other one is counted in. Without keys a table is an array of one group.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "capture/capture.h"
#include "capture/probe_links.h"
#include "capture/probe_program.h"
#include "capture/stack_texts.h"
#include "filter/bpf_grouping.h"
#include "filter/grouping.h"

struct ring_buffer;

namespace dyetrace::capture {

// Places where the values that a question names are read in one way.
struct ProbeVariant {
    std::vector<ProbePlace> places;
    std::vector<ProbeColumn> columns;
};

// A probe that was found on this machine, and the one whose latest firing belongs to each of its own.
struct Probe {
    std::vector<ProbeVariant> variants;  // at least one; all are of one kind of place
    std::vector<ProbeVariant> before;    // empty: it is not joined
    RowJoin join;                        // of variants and before
    std::vector<filter::RowColumn> row;  // what all of them have in common
    filter::RowLayout layout;            // of that row

    // What a value of the row is made of.
    RowSource source_of(std::size_t number) const {
        const std::vector<ProbeColumn>& own = variants.at(0).columns;
        return number < own.size() ? own[number].source
                                   : before.at(0).columns.at(number - own.size()).source;
    }
};

class KernelProbe {
  public:
    static constexpr std::uint32_t kGroupsMax = 65'536;
    static constexpr std::uint32_t kCallsMax = 65'536;    // under way at once
    static constexpr std::uint32_t kEarlierMax = 65'536;  // firings that are remembered: the latest
    static constexpr std::uint32_t kStacksMax = 16'384;
    static constexpr std::uint32_t kRowRingBytes = 4u << 20;

    // kUnsupported: what the kernel refuses, and why.
    static Result<KernelProbe> load(Probe probe,
                                    const filter::Grouping& grouping,
                                    const WatchedTasks& watched);
    KernelProbe(KernelProbe&&) noexcept;
    KernelProbe& operator=(KernelProbe&&) noexcept;
    ~KernelProbe();

    Result<void> attach();
    void detach() { links_.clear(); }

    void drain();
    // Adds what was counted since the last time.
    Result<void> take(filter::GroupTable& into);

    // Why the kernel counts nothing and every row is handed out; empty: it does.
    const std::string& refused() const { return refused_; }
    std::uint64_t counted(ProbeCounter counter) const;
    // Rows in the kernel's groups, until the last take().
    std::uint64_t counted_in_kernel() const { return counted_in_kernel_; }
    // Times that the programs were left out, as a program ran already on that CPU.
    std::uint64_t left_out() const;

  private:
    struct CloseRing {
        void operator()(ring_buffer* ring) const;
    };
    // Where the ring's callback finds the table: it stays where it is when this moves.
    struct Passed {
        filter::GroupTable table;
        std::size_t row_bytes;
    };

    KernelProbe(Probe probe, const filter::Grouping& grouping);
    Result<void> make_maps(const WatchedTasks& watched);
    bool is_joined_with_itself() const;
    Result<void> load_programs(const ProbeVariant& variant, bool is_before);
    Result<base::Fd> load_program(const std::vector<bpf_insn>& code,
                                  PlaceKind kind,
                                  bool for_many) const;
    Result<void> read(const base::Fd& table);
    void name_keys(filter::GroupKey& key);
    filter::Constant name_of(RowSource source, std::uint64_t number);

    Probe probe_;
    filter::Grouping grouping_;  // with a count of rows as the last aggregate
    bool has_one_group_ = false;
    filter::BpfGrouping format_;
    std::string refused_;
    std::array<base::Fd, 2> tables_;
    base::Fd current_, blank_, calls_, earlier_, counters_, rows_, stacks_;
    ProbeMaps maps_;
    struct Loaded {
        base::Fd fired, entered;
        bool are_for_many = false;
    };
    std::vector<Loaded> loaded_;      // of each variant, then of each before
    std::vector<std::string> names_;  // of all places
    std::size_t counting_ = 0;
    std::uint64_t counted_in_kernel_ = 0;
    std::unique_ptr<ring_buffer, CloseRing> ring_;
    std::unique_ptr<Passed> passed_;
    std::unique_ptr<StackTexts> stack_texts_;
    ProbeLinks links_;
};

}  // namespace dyetrace::capture
