#include "capture/kernel_groups.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <utility>

#include "capture/grace_period.h"
#include "capture/group_table.h"
#include "kernel/abi.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {

Result<KernelGroups> KernelGroups::install(dyetrace_bpf& skeleton,
                                           const KernelFilter& filter,
                                           const filter::Grouping& grouping) {
    KernelGroups groups;
    auto format = filter::BpfGrouping::of(grouping, filter.layout().host);
    if (!format.ok()) {
        groups.refused_ = format.error().message();
        return groups;
    }
    groups.format_ = std::move(format).value();
    const auto key_bytes = static_cast<std::uint32_t>(groups.format_.key_bytes());
    const auto value_bytes = static_cast<std::uint32_t>(groups.format_.value_bytes());
    groups.blank_ =
        base::Fd(bpf_map_create(BPF_MAP_TYPE_ARRAY, "dyetrace_blank", 4, value_bytes, 1, nullptr));
    for (Table& table : groups.tables_) {
        LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
        table.groups = base::Fd(bpf_map_create(BPF_MAP_TYPE_PERCPU_HASH,
                                               "dyetrace_groups",
                                               key_bytes,
                                               value_bytes,
                                               kGroupsMax,
                                               &options));
        if (!table.groups.valid() || !groups.blank_.valid()) {
            return Error::from_errno(errno, "the kernel gives no table for groups");
        }
        filter::StringAtoms atoms = filter.atoms();  // the same condition, so the same atoms
        const auto code = groups.format_.program(filter.layout(),
                                                 {.groups_map_fd = table.groups.get(),
                                                  .blank_map_fd = groups.blank_.get(),
                                                  .counted_index = PROGRAM_COUNTED},
                                                 atoms);
        if (!code) {
            groups.refused_ = "the question is too long for the kernel";
            return groups;
        }
        TRY(table.program, load_exit_program(*code, skeleton.progs.sys_exit));
    }
    const int counted = bpf_program__fd(skeleton.progs.counted);
    groups.exit_programs_ = bpf_map__fd(skeleton.maps.exit_programs);
    TRY(groups.go_on_in(PROGRAM_COUNTED, counted));
    TRY(groups.go_on_in(PROGRAM_FILTER, groups.tables_[0].program.get()));
    return groups;
}

Result<void> KernelGroups::go_on_in(std::uint32_t index, int program) const {
    return bpf_map_update_elem(exit_programs_, &index, &program, BPF_ANY) == 0
               ? Result<void>()
               : Error::from_errno(errno, "cannot change the kernel's table of programs");
}

Result<void> KernelGroups::take(filter::GroupTable& into) {
    if (!refused_.empty()) {
        return {};
    }
    const Table& full = tables_[counting_];
    counting_ = 1 - counting_;
    TRY(go_on_in(PROGRAM_FILTER, tables_[counting_].program.get()));
    wait_for_running_programs();
    return take_groups(
        full.groups,
        format_,
        [&](const filter::GroupKey& group, const std::vector<filter::Partial>& partials) {
            into.merge(group, partials);
        });
}

}  // namespace dyetrace::capture
