#include "format/top_table.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/harmless.h"
#include "base/json.h"
#include "base/text.h"
#include "schema/text.h"

namespace dyetrace::format {
namespace {

constexpr int kRowsWithoutTerminal = 20;
constexpr std::size_t kWidth = 79;
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

std::string name_of(const TopRow& row, bool is_ambiguous, std::size_t more_width) {
    const std::string name = base::make_harmless(
        is_ambiguous && !row.arguments.empty() ? row.comm + " " + row.arguments : row.comm);
    if (row.host.empty()) {
        return fmt::format("{:>7} {}", row.pid, base::left_aligned(name, kNameWidth + more_width));
    }
    return base::left_aligned(fmt::format("{}:{}[{}]", row.host, name, row.pid),
                              kHostNameWidth + more_width);
}

}  // namespace

std::string arguments_of(std::string_view command) {
    std::string out;
    std::size_t at = std::min(command.find('\0'), command.size());
    while (at + 1 < command.size()) {
        const std::size_t end = std::min(command.find('\0', at + 1), command.size());
        std::string_view word = command.substr(at + 1, end - at - 1);
        const std::size_t path =
            word.starts_with('/') ? 0 : word.find("=/") + 1;  // 0 where there is none
        const bool has_path = (path > 0 || word.starts_with('/')) && !word.ends_with('/');
        out += (out.empty() || word.empty() ? "" : " ") +
               schema::escaped(word.substr(0, has_path ? path : 0)) +
               schema::escaped(word.substr(has_path ? word.rfind('/') + 1 : 0));
        at = end;
    }
    return out;
}

std::string top_text(const std::vector<TopRow>& rows,
                     double seconds,
                     int rows_max,
                     std::size_t width) {
    const bool has_hosts =
        std::any_of(rows.begin(), rows.end(), [](const TopRow& row) { return !row.host.empty(); });
    std::map<std::string, std::size_t> named;
    for (const TopRow& row : rows) {
        ++named[row.host + ':' + row.comm];
    }
    const std::size_t more_width = std::max(width, kWidth) - kWidth;
    std::string page = has_hosts
                           ? fmt::format("{:<{}}", "host:process[pid]", kHostNameWidth + more_width)
                           : fmt::format("{:>7} {:<{}}", "pid", "process", kNameWidth + more_width);
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
                            name_of(row, named[row.host + ':' + row.comm] > 1, more_width),
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
        line.set("arguments", row.arguments);
        line.set("seconds", seconds);
        line.set("calls", row.calls);
        line.set("errors", row.errors);
        line.set("would_wait", row.would_wait);
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
