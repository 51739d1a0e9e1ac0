#include "recorder/totals_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "schema/syscalls.h"

namespace dyetrace::recorder {
namespace {

using capture::Total;

std::string call_name(const Total& total) {
    const schema::SyscallInfo* call = schema::find_syscall(total.abi, total.syscall);
    const std::string name =
        call != nullptr ? std::string(call->name) : fmt::format("syscall_{}", total.syscall);
    return schema::is_of_32_bits(total.abi) ? name + " (32-bit)" : name;
}

void add(Total& sum, const Total& part) {
    sum.calls += part.calls;
    sum.errors += part.errors;
    sum.would_wait += part.would_wait;
    sum.bytes += part.bytes;
    sum.duration_ns += part.duration_ns;
    sum.off_cpu_ns += part.off_cpu_ns;
    sum.duration_max_ns = std::max(sum.duration_max_ns, part.duration_max_ns);
    sum.histogram.resize(std::max(sum.histogram.size(), part.histogram.size()));
    for (std::size_t i = 0; i < part.histogram.size(); ++i) {
        sum.histogram[i] += part.histogram[i];
    }
}

Total difference(Total now, const Total& before) {
    now.calls -= before.calls;
    now.errors -= before.errors;
    now.would_wait -= before.would_wait;
    now.bytes -= before.bytes;
    now.duration_ns -= before.duration_ns;
    now.off_cpu_ns -= before.off_cpu_ns;
    for (std::size_t i = 0; i < std::min(now.histogram.size(), before.histogram.size()); ++i) {
        now.histogram[i] -= before.histogram[i];
    }
    return now;
}

auto key_of(const Total& total) {
    return std::tuple(total.pid, total.abi, total.syscall, total.event_class);
}

}  // namespace

std::vector<TotalRow> group_totals(const std::vector<Total>& totals,
                                   const std::vector<Total>& earlier,
                                   GroupBy by) {
    std::map<std::pair<std::uint64_t, std::string>, TotalRow> rows;
    auto before = earlier.begin();
    for (const Total& total : totals) {
        while (before != earlier.end() && key_of(*before) < key_of(total)) {
            ++before;
        }
        const bool known = before != earlier.end() && key_of(*before) == key_of(total);
        const Total part = known ? difference(total, *before) : total;
        if (part.calls == 0) {
            continue;
        }
        const auto key = by == GroupBy::kCall
                             ? std::pair<std::uint64_t, std::string>(0, call_name(total))
                             : std::pair<std::uint64_t, std::string>(total.pid, "");
        TotalRow& row = rows[key];
        row.name = key.second;
        row.pid = key.first;
        add(row.total, part);
        const schema::SyscallInfo* const call = schema::find_syscall(part.abi, part.syscall);
        (call != nullptr && schema::gives_bytes(*call) ? row.written_bytes : row.read_bytes) +=
            part.bytes;
    }
    std::vector<TotalRow> result;
    result.reserve(rows.size());
    for (auto& [key, row] : rows) {
        result.push_back(std::move(row));
    }
    const auto weight = [by](const TotalRow& row) {
        return by == GroupBy::kCall ? row.total.duration_ns : row.total.bytes;
    };
    std::stable_sort(result.begin(), result.end(), [&](const TotalRow& a, const TotalRow& b) {
        return std::tuple(weight(a), a.total.calls) > std::tuple(weight(b), b.total.calls);
    });
    return result;
}

}  // namespace dyetrace::recorder
