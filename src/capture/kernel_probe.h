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
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "capture/capture.h"
#include "capture/loaded_probe.h"
#include "filter/bpf_grouping.h"
#include "filter/grouping.h"

namespace dyetrace::capture {

class KernelProbe {
  public:
    static constexpr std::uint32_t kGroupsMax = 65'536;

    // kUnsupported: what the kernel refuses, and why.
    static Result<KernelProbe> load(Probe probe,
                                    const filter::Grouping& grouping,
                                    const WatchedTasks& watched);
    KernelProbe(KernelProbe&&) noexcept;
    KernelProbe& operator=(KernelProbe&&) noexcept;
    ~KernelProbe();

    Result<void> attach() { return probe_->attach(); }
    void detach() { probe_->detach(); }

    void drain() { probe_->drain(); }
    // Adds what was counted since the last time.
    Result<void> take(filter::GroupTable& into);

    // Why the kernel counts nothing and every row is handed out; empty: it does.
    const std::string& refused() const { return refused_; }
    std::uint64_t counted(ProbeCounter counter) const { return probe_->counted(counter); }
    // Rows in the kernel's groups, until the last take().
    std::uint64_t counted_in_kernel() const { return counted_in_kernel_; }
    // Times that the programs were left out, as a program ran already on that CPU.
    std::uint64_t left_out() const { return probe_->left_out(); }

  private:
    explicit KernelProbe(const filter::Grouping& grouping);
    Result<void> make_tables();
    Result<void> read(const base::Fd& table);
    void name_keys(filter::GroupKey& key);

    filter::Grouping grouping_;  // with a count of rows as the last aggregate
    bool has_one_group_ = false;
    filter::BpfGrouping format_;
    std::string refused_;
    std::array<base::Fd, 2> tables_;
    base::Fd current_, blank_;
    std::size_t counting_ = 0;
    std::uint64_t counted_in_kernel_ = 0;
    std::unique_ptr<filter::GroupTable> handed_out_;  // the ring knows where it is
    std::unique_ptr<LoadedProbe> probe_;
};

}  // namespace dyetrace::capture
