#include "capture/group_table.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <utility>

namespace dyetrace::capture {

Result<void> read_group(const base::Fd& table,
                        const filter::BpfGrouping& format,
                        const std::vector<std::byte>& key,
                        const EachPartials& each) {
    const std::size_t value_bytes = format.value_bytes();
    std::vector<std::byte> values(value_bytes *
                                  static_cast<std::size_t>(libbpf_num_possible_cpus()));
    if (bpf_map_lookup_elem(table.get(), key.data(), values.data()) != 0) {
        return Error::from_errno(errno, "cannot read a group from the kernel");
    }
    const filter::GroupKey group = format.key(key);
    for (std::size_t at = 0; at < values.size(); at += value_bytes) {
        each(group, format.partials({values.data() + at, value_bytes}));
    }
    return {};
}

Result<void> take_groups(const base::Fd& table,
                         const filter::BpfGrouping& format,
                         const EachPartials& each) {
    std::vector<std::byte> key(format.key_bytes()), next_key(format.key_bytes());
    int found = bpf_map_get_next_key(table.get(), nullptr, key.data());
    for (; found == 0; std::swap(key, next_key)) {
        TRY(read_group(table, format, key, each));
        found = bpf_map_get_next_key(table.get(), key.data(), next_key.data());
        const int end = errno;
        if (bpf_map_delete_elem(table.get(), key.data()) != 0) {
            return Error::from_errno(errno, "cannot empty a table of groups in the kernel");
        }
        errno = end;
    }
    return errno == ENOENT ? Result<void>()
                           : Error::from_errno(errno, "cannot read the kernel's groups");
}

}  // namespace dyetrace::capture
