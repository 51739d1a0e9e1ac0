#include "capture/kernel_probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "capture/bpf_map.h"
#include "capture/grace_period.h"
#include "capture/group_table.h"

namespace dyetrace::capture {

KernelProbe::KernelProbe(const filter::Grouping& grouping) : grouping_(grouping) {
    grouping_.aggregates.push_back({});  // counts rows
    handed_out_ = std::make_unique<filter::GroupTable>(grouping_, std::string());
}
KernelProbe::KernelProbe(KernelProbe&&) noexcept = default;
KernelProbe& KernelProbe::operator=(KernelProbe&&) noexcept = default;
KernelProbe::~KernelProbe() = default;

Result<KernelProbe> KernelProbe::load(Probe probe,
                                      const filter::Grouping& grouping,
                                      const WatchedTasks& watched) {
    KernelProbe made(grouping);
    auto format = filter::BpfGrouping::of_rows(made.grouping_);
    if (format.ok()) {
        made.format_ = std::move(format).value();
    } else {
        made.refused_ = format.error().message();
    }
    TRY(made.make_tables());
    TRY(made.probe_,
        LoadedProbe::load(std::move(probe),
                          watched,
                          {.format = made.refused_.empty() ? &made.format_ : nullptr,
                           .tables_map_fd = made.current_.get(),
                           .blank_map_fd = made.blank_.get()},
                          [table = made.handed_out_.get()](std::span<const std::byte> row) {
                              table->add_row(row);
                          }));
    return made;
}

Result<void> KernelProbe::make_tables() {
    const auto key_bytes = static_cast<std::uint32_t>(format_.key_bytes());
    const auto value_bytes =
        static_cast<std::uint32_t>(std::max(format_.value_bytes(), filter::kWord));
    has_one_group_ = key_bytes == filter::kWord;  // no more than which of no keys are NULL
    for (base::Fd& table : tables_) {
        TRY(table,
            has_one_group_ ? make_map(BPF_MAP_TYPE_PERCPU_ARRAY, "probe_group", 4, value_bytes, 1)
                           : make_map(BPF_MAP_TYPE_PERCPU_HASH,
                                      "probe_groups",
                                      key_bytes,
                                      value_bytes,
                                      kGroupsMax,
                                      BPF_F_NO_PREALLOC));
    }
    TRY(current_,
        make_map(BPF_MAP_TYPE_ARRAY_OF_MAPS, "probe_table", 4, 4, 1, 0, tables_[0].get()));
    TRY(blank_, make_map(BPF_MAP_TYPE_ARRAY, "probe_blank", 4, value_bytes, 1));
    const std::uint32_t first = 0;
    const int table = tables_[0].get();
    return bpf_map_update_elem(current_.get(), &first, &table, BPF_ANY) == 0
               ? Result<void>()
               : Error::from_errno(errno, "the kernel takes no table of groups");
}

Result<void> KernelProbe::take(filter::GroupTable& into) {
    const std::uint32_t first = 0;
    const base::Fd& full = tables_[counting_];
    counting_ = 1 - counting_;
    const int next = tables_[counting_].get();
    if (bpf_map_update_elem(current_.get(), &first, &next, BPF_ANY) != 0) {
        return Error::from_errno(errno, "cannot change the kernel's table of groups");
    }
    wait_for_running_programs();
    drain();
    if (refused_.empty()) {
        TRY(read(full));
    }
    for (const auto& [key, partials] : handed_out_->groups()) {
        filter::GroupKey named = key;
        name_keys(named);
        into.merge(named, {partials.begin(), partials.end() - 1});
    }
    handed_out_->clear();
    return {};
}

// Into the table of what was handed out: keys get their names once for all.
Result<void> KernelProbe::read(const base::Fd& table) {
    const EachPartials merge = [this](const filter::GroupKey& group,
                                      const std::vector<filter::Partial>& partials) {
        if (const std::uint64_t rows = partials.back().count; rows > 0) {
            counted_in_kernel_ += rows;
            handed_out_->merge(group, partials);
        }
    };
    if (!has_one_group_) {
        return take_groups(table, format_, merge);
    }
    const std::vector<std::byte> first(filter::kWord);
    TRY(read_group(table, format_, first, merge));
    const std::vector<std::byte> zeros(format_.value_bytes() *
                                       static_cast<std::size_t>(libbpf_num_possible_cpus()));
    return bpf_map_update_elem(table.get(), first.data(), zeros.data(), BPF_ANY) == 0
               ? Result<void>()
               : Error::from_errno(errno, "cannot empty a group in the kernel");
}

void KernelProbe::name_keys(filter::GroupKey& key) {
    for (std::size_t i = 0; i < key.size(); ++i) {
        const filter::Expression& e = grouping_.keys[i];
        const auto* const number = std::get_if<filter::Integer>(&key[i]);
        if (e.op == filter::Operator::kField && e.field->is_stack && number != nullptr) {
            key[i] = probe_->name_of(probe_->probe().source_of(e.field->number),
                                     static_cast<std::uint64_t>(*number));
        }
    }
}

}  // namespace dyetrace::capture
