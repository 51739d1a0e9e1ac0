// dyetrace top: who does I/O now, a table that is drawn again and again; counted in the kernel.

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <map>

#include "apps/child.h"
#include "apps/session.h"
#include "apps/totals_table.h"
#include "apps/verbs.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "schema/record.h"
#include "schema/text.h"

namespace dyetrace::apps {
namespace {

constexpr int kRowsWithoutTerminal = 20;
constexpr std::size_t kNamesMax =
    100'000;  // processes whose names are remembered; then the memory is emptied

struct TopArguments {
    TargetOptions targets;
    std::string interval = "1s";
    bool json = false;
};

// Names of processes, from what the kernel announces.
class Names {
  public:
    void add(std::span<const std::byte> records) {
        while (!records.empty()) {
            const schema::RecordBytes record = schema::first_record(records);
            if (record.empty()) {
                return;
            }
            if (const auto* context = schema::as<schema::TaskContext>(record)) {
                if (names_.size() >= kNamesMax) {
                    names_.clear();
                }
                const char* comm = reinterpret_cast<const char*>(context->comm);
                names_[context->pid] =
                    schema::escaped(std::string_view(comm, strnlen(comm, sizeof(context->comm))));
            }
            records = records.subspan(record.size());
        }
    }

    std::string of(std::uint64_t pid) const {
        const auto found = names_.find(pid);
        return found == names_.end() ? "?" : found->second;
    }

  private:
    std::map<std::uint64_t, std::string> names_;
};

int rows_of_terminal() {
    winsize size{};
    constexpr int kHeaderRows = 4;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row <= kHeaderRows) {
        return kRowsWithoutTerminal;
    }
    return size.ws_row - kHeaderRows;
}

std::string rate(std::uint64_t number, double seconds) {
    return number == 0 ? "–"
                       : base::bytes_text(
                             static_cast<std::uint64_t>(static_cast<double>(number) / seconds)) +
                             "/s";
}

void print_text(const std::vector<TotalRow>& rows, const Names& names, double seconds, bool clear) {
    std::string page = clear ? "\x1b[H\x1b[2J" : "";
    page += fmt::format("{:>7} {:<16} {:>9} {:>6} {:>10} {:>10} {:>7} {:>7}\n",
                        "pid",
                        "process",
                        "calls/s",
                        "errors",
                        "read",
                        "written",
                        "p99",
                        "max");
    int left = clear ? rows_of_terminal() : kRowsWithoutTerminal;
    for (const TotalRow& row : rows) {
        if (left-- == 0) {
            break;
        }
        page += fmt::format("{:>7} {} {:>9} {:>6} {:>10} {:>10} {:>7} {:>7}\n",
                            row.pid,
                            base::left_aligned(names.of(row.pid), 16),
                            base::with_separators(static_cast<std::uint64_t>(
                                static_cast<double>(row.total.calls) / seconds)),
                            row.total.errors == 0 ? "" : base::with_separators(row.total.errors),
                            rate(row.read_bytes, seconds),
                            rate(row.written_bytes, seconds),
                            base::duration_text(row.total.percentile_ns(0.99)),
                            base::duration_text(row.total.duration_max_ns));
    }
    fmt::print("{}", page);
    std::fflush(stdout);
}

void print_json(const std::vector<TotalRow>& rows, const Names& names, double seconds) {
    for (const TotalRow& row : rows) {
        base::Json line = base::Json::object();
        line.set("pid", row.pid);
        line.set("comm", names.of(row.pid));
        line.set("seconds", seconds);
        line.set("calls", row.total.calls);
        line.set("errors", row.total.errors);
        line.set("read_bytes", row.read_bytes);
        line.set("written_bytes", row.written_bytes);
        line.set("p99_ns", row.total.percentile_ns(0.99));
        line.set("max_ns", row.total.duration_max_ns);
        fmt::print("{}\n", line.text());
    }
    std::fflush(stdout);
}

Result<std::optional<int>> watch(const TopArguments& arguments) {
    TRY(Targets targets, arguments.targets.targets());
    TRY(const std::chrono::nanoseconds interval, parse_duration(arguments.interval));
    TRY(Session session, Session::start_counting(std::move(targets)));
    Names names;
    std::vector<capture::Total> before;
    std::int64_t printed_ns = session.started_ns();
    const bool clear = !arguments.json && isatty(STDOUT_FILENO) == 1;
    bool last = false;
    while (!last) {
        session.wait(
            static_cast<int>(std::clamp<std::int64_t>(interval.count() / 1'000'000, 20, 100)));
        session.capture().drain([&](std::uint32_t,
                                    schema::Stream,
                                    std::span<const std::byte> records) { names.add(records); });
        last = session.ended();
        const std::int64_t now = base::boot_time_ns();
        if (now - printed_ns < interval.count() && !last) {
            continue;
        }
        TRY(std::vector<capture::Total> totals, session.capture().totals());
        const std::vector<TotalRow> rows = group_totals(totals, before, GroupBy::kProcess);
        const double seconds = static_cast<double>(now - printed_ns) / 1e9;
        arguments.json ? print_json(rows, names, seconds) : print_text(rows, names, seconds, clear);
        before = std::move(totals);
        printed_ns = now;
    }
    TRY(session.end());
    return session.command_status();
}

int run_top(const TopArguments& arguments) {
    const Result<std::optional<int>> status = watch(arguments);
    if (!status.ok()) {
        base::Log::to_stderr().fail(status.error());
        return 1;
    }
    return status.value() ? pass_on(*status.value()) : 0;
}

}  // namespace

void add_top(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<TopArguments>();
    arguments->targets.all = false;
    CLI::App* verb = app.add_subcommand("top", "Show who does I/O now, again and again");
    add_target_options(*verb, arguments->targets);
    verb->add_option("-d,--interval", arguments->interval, "Time between two tables")
        ->capture_default_str()
        ->type_name("TIME");
    verb->add_flag("--json", arguments->json, "One JSON object per process and interval");
    verb->footer(
        "Without a target the whole system is watched. Ctrl-C ends.\n\n"
        "Examples:\n  dyetrace top\n  dyetrace top -p 4711 -d 5s");
    verb->callback([arguments, &exit_status] {
        TargetOptions& targets = arguments->targets;
        targets.all = targets.all || (targets.command.empty() && targets.processes.empty());
        exit_status = run_top(*arguments);
    });
}

}  // namespace dyetrace::apps
