#include "format/call_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace dyetrace::format {
namespace {

constexpr std::string_view kRule =
    "------ ----------- ----------- --------- --------- ----------------\n";

void append_total(std::string& out, const CallTotal& total, std::uint64_t whole_ns) {
    const double percent =
        whole_ns == 0 ? 0.0
                      : 100.0 * static_cast<double>(total.total_ns) / static_cast<double>(whole_ns);
    const std::uint64_t us_per_call = total.calls == 0 ? 0 : total.total_ns / total.calls / 1000;
    const std::string errors = total.errors == 0 ? std::string() : std::to_string(total.errors);
    fmt::format_to(std::back_inserter(out),
                   "{:6.2f} {:4}.{:06} {:11} {:9} {:>9} {}\n",
                   percent,
                   total.total_ns / 1'000'000'000,
                   total.total_ns % 1'000'000'000 / 1000,
                   us_per_call,
                   total.calls,
                   errors,
                   total.name);
}

}  // namespace

CallTotal& CallSummary::total_of(std::string_view name) {
    auto at = std::lower_bound(
        totals_.begin(), totals_.end(), name, [](const CallTotal& total, std::string_view n) {
            return total.name < n;
        });
    if (at == totals_.end() || at->name != name) {
        at = totals_.insert(at, CallTotal{std::string(name), 0, 0, 0});
    }
    return *at;
}

void CallSummary::add(std::string_view name, bool failed, std::uint64_t ns) {
    CallTotal& total = total_of(name);
    total.calls += 1;
    total.errors += failed ? 1 : 0;
    total.total_ns += ns;
}

void CallSummary::add(const CallTotal& more) {
    CallTotal& total = total_of(more.name);
    total.calls += more.calls;
    total.errors += more.errors;
    total.total_ns += more.total_ns;
}

std::vector<CallTotal> CallSummary::sorted(CallOrder order) const {
    const auto size = [&](const CallTotal& total) -> std::uint64_t {
        switch (order) {
            case CallOrder::kTime:
                return total.total_ns;
            case CallOrder::kAverage:
                return total.calls == 0 ? 0 : total.total_ns / total.calls;
            case CallOrder::kCalls:
                return total.calls;
            case CallOrder::kErrors:
                return total.errors;
            case CallOrder::kName:
                break;
        }
        return 0;
    };
    std::vector<CallTotal> rows = totals_;
    std::stable_sort(rows.begin(), rows.end(), [&](const CallTotal& a, const CallTotal& b) {
        if (size(a) != size(b)) {
            return size(a) > size(b);
        }
        return order != CallOrder::kName && a.calls > b.calls;
    });
    return rows;
}

std::string CallSummary::text(CallOrder order) const {
    CallTotal whole{"total", 0, 0, 0};
    for (const CallTotal& total : totals_) {
        whole.calls += total.calls;
        whole.errors += total.errors;
        whole.total_ns += total.total_ns;
    }
    std::string out = "% time     seconds  usecs/call     calls    errors syscall\n";
    out.append(kRule);
    for (const CallTotal& total : sorted(order)) {
        append_total(out, total, whole.total_ns);
    }
    out.append(kRule);
    std::string line;
    append_total(line, whole, whole.total_ns);
    out.append(line);
    return out;
}

}  // namespace dyetrace::format
