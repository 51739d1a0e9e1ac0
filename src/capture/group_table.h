// Reads and empties a table of groups that programs in the kernel have counted in, while they count in another one.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "filter/bpf_grouping.h"
#include "filter/grouping.h"

namespace dyetrace::capture {

using EachPartials = std::function<void(const filter::GroupKey& group,
                                        const std::vector<filter::Partial>& partials)>;

// Hands out what every CPU has counted in one group, whose key is in the map.
Result<void> read_group(const base::Fd& table,
                        const filter::BpfGrouping& format,
                        const std::vector<std::byte>& key,
                        const EachPartials& each);

// The same for all groups of a per-CPU hash, which are taken out.
Result<void> take_groups(const base::Fd& table,
                         const filter::BpfGrouping& format,
                         const EachPartials& each);

}  // namespace dyetrace::capture
