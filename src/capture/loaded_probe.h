// A probe's programs in the kernel: what they share, what they hand out, and how to end them.
//
//   TRY(auto probe, LoadedProbe::load(found, watched, {}, each_row));
//   TRY(probe->attach());
//   … probe->drain(); …                    each_row gets a row for each firing; with groups, those that the kernel could not count
//   probe->detach();
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "capture/capture.h"
#include "capture/probe_links.h"
#include "capture/probe_program.h"
#include "capture/stack_texts.h"
#include "filter/bpf_grouping.h"

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

// What becomes of rows in the kernel.
struct RowFate {
    const filter::BpfGrouping* format =
        nullptr;  // of groups that they are counted in; nullptr: none is, they are handed out
    int tables_map_fd = -1;
    int blank_map_fd = -1;
    const filter::Expression* where =
        nullptr;  // without groups: those for which it may be true; nullptr: all
};

class LoadedProbe {
  public:
    static constexpr std::uint32_t kCallsMax = 65'536;    // under way at once
    static constexpr std::uint32_t kEarlierMax = 65'536;  // firings that are remembered: the latest
    static constexpr std::uint32_t kStacksMax = 16'384;
    static constexpr std::uint32_t kRowRingBytes = 16u << 20;

    // A row has the bytes of the probe's layout.
    using EachRow = std::function<void(std::span<const std::byte> row)>;

    // kUnsupported: what the kernel refuses, and why. Stays where it is, as the ring knows it.
    static Result<std::unique_ptr<LoadedProbe>> load(Probe probe,
                                                     const WatchedTasks& watched,
                                                     const RowFate& fate,
                                                     EachRow each_row);
    ~LoadedProbe();

    Result<void> attach();
    void detach() { links_.clear(); }
    void drain();

    const Probe& probe() const { return probe_; }
    // What the kernel has as a number in a row: a stack's text, or the name of a place; NULL: it is not known.
    filter::Constant name_of(RowSource source, std::uint64_t number);
    // Names of all places, by their numbers.
    const std::vector<std::string>& places() const { return places_; }
    // nullptr: no stacks are asked for.
    StackTexts* stack_texts() { return stack_texts_.get(); }

    std::uint64_t counted(ProbeCounter counter) const;
    // Times that the programs were left out, as a program ran already on that CPU.
    std::uint64_t left_out() const;

  private:
    struct CloseRing {
        void operator()(ring_buffer* ring) const;
    };
    struct Programs {
        base::Fd fired, entered;
        bool are_for_many = false;
    };

    LoadedProbe(Probe probe, EachRow each_row)
        : probe_(std::move(probe)), each_row_(std::move(each_row)) {}
    Result<void> make_maps(const WatchedTasks& watched, const RowFate& fate);
    Result<void> make_ring();
    bool has_stacks() const;
    bool is_joined_with_itself() const;
    Result<void> load_programs(const ProbeVariant& variant, bool is_before, const RowFate& fate);
    Result<base::Fd> load_program(const std::vector<bpf_insn>& code,
                                  PlaceKind kind,
                                  bool for_many) const;

    Probe probe_;
    EachRow each_row_;
    base::Fd calls_, earlier_, counters_, rows_, stacks_;
    ProbeMaps maps_;
    std::vector<Programs> programs_;  // of each variant, then of each before
    std::vector<std::string> places_;
    std::unique_ptr<StackTexts> stack_texts_;
    std::unique_ptr<ring_buffer, CloseRing> ring_;
    ProbeLinks links_;
};

}  // namespace dyetrace::capture
