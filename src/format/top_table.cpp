#include "format/top_table.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace dyetrace::format {
namespace {

constexpr int kRowsWithoutTerminal = 20;
constexpr std::size_t kNameWidth = 16;
constexpr std::size_t kHostNameWidth = 24;  // host, process and its number

std::string rate(std::uint64_t number, double seconds) {
    return number == 0 ? "–"
                       : base::bytes_text(
                             static_cast<std::uint64_t>(static_cast<double>(number) / seconds)) +
                             "/s";
}

std::string count_rate(std::uint64_t number, double seconds) {
    return base::with_separators(static_cast<std::uint64_t>(static_cast<double>(number) / seconds));
}

std::string name_of(const TopRow& row) {
    if (row.host.empty()) {
        return fmt::format("{:>7} {}", row.pid, base::left_aligned(row.comm, kNameWidth));
    }
    return base::left_aligned(fmt::format("{}:{}[{}]", row.host, row.comm, row.pid),
                              kHostNameWidth);
}

}  // namespace

std::string top_text(const std::vector<TopRow>& rows, double seconds, int rows_max) {
    const bool has_hosts =
        std::any_of(rows.begin(), rows.end(), [](const TopRow& row) { return !row.host.empty(); });
    std::string page = has_hosts ? fmt::format("{:<24}", "host:process[pid]")
                                 : fmt::format("{:>7} {:<16}", "pid", "process");
    page += fmt::format(" {:>9} {:>6} {:>10} {:>10} {:>7} {:>7}\n",
                        "calls/s",
                        "errors",
                        "read",
                        "written",
                        "p99",
                        "max");
    for (const TopRow& row : rows) {
        if (rows_max-- <= 0) {
            break;
        }
        page += fmt::format("{} {:>9} {:>6} {:>10} {:>10} {:>7} {:>7}\n",
                            name_of(row),
                            count_rate(row.calls, seconds),
                            row.errors == 0 ? "" : base::with_separators(row.errors),
                            rate(row.read_bytes, seconds),
                            rate(row.written_bytes, seconds),
                            base::duration_text(row.p99_ns),
                            base::duration_text(row.max_ns));
    }
    return page;
}

std::string top_json(const std::vector<TopRow>& rows, double seconds) {
    std::string lines;
    for (const TopRow& row : rows) {
        base::Json line = base::Json::object();
        if (!row.host.empty()) {
            line.set("host", row.host);
        }
        line.set("pid", row.pid);
        line.set("comm", row.comm);
        line.set("seconds", seconds);
        line.set("calls", row.calls);
        line.set("errors", row.errors);
        line.set("read_bytes", row.read_bytes);
        line.set("written_bytes", row.written_bytes);
        line.set("p99_ns", row.p99_ns);
        line.set("max_ns", row.max_ns);
        lines += line.text() + "\n";
    }
    return lines;
}

int top_rows_max(int used) {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row <= used) {
        return kRowsWithoutTerminal;
    }
    return size.ws_row - used;
}

}  // namespace dyetrace::format
