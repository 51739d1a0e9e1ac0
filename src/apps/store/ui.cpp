// dyetrace ui: a trace in the browser, from this program, on loopback.

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "api/database_pool.h"
#include "api/http_server.h"
#include "api/page/page_questions.h"
#include "api/page/page_token.h"
#include "api/timeline/timeline_questions.h"
#include "apps/cli/clock_option.h"
#include "apps/cli/verbs.h"
#include "apps/store/confine_reader.h"
#include "base/log.h"
#include "base/sanitized.h"
#include "base/signals.h"
#include "query/analysis_database.h"
#include "query/clock/derived_clock_map.h"
#include "query/selected_events.h"
#include "ui/page_files.h"

namespace dyetrace::apps {
namespace {

constexpr std::size_t kDatabases = 2;  // a long question, and all others beside it
constexpr long kMemoryPart = 8;  // of the machine, for each: half of it for those of two traces
constexpr long kMegabytesMax =
    300;                           // of each: a page that is left open leaves the memory to others
constexpr long kLargerPart = 5;    // of the machine, for one answer that needs more
constexpr long kLargerMax = 2000;  // megabytes
constexpr std::chrono::milliseconds kLookEvery{100};

struct UiArguments {
    std::string trace;
    std::string other;  // to compare with; empty: none
    std::uint16_t port = 0;
    std::string clock = "cluster";
};

// All that this process holds: of each trace what its databases may, and as much again as a larger trace takes beside them (its timeline, answers).
constexpr long kDataMax = 3500;                 // megabytes for each trace
constexpr long kDataPart = 75;                  // per cent of the machine, if that is less
constexpr const char* kTemporaryLimit = "8GB";  // of each, on the disk

constexpr int kArenas = 2;              // what a thread has freed another one takes
constexpr int kTrimBytes = 128 * 1024;  // what is free at the end of an arena is given back

constexpr std::uint64_t kLooksToTrim = 10;

// malloc keeps what is free in up to eight arenas a CPU, for the threads that have used them; what is free in the middle of one only malloc_trim() gives back.
void give_memory_back() {
    mallopt(M_ARENA_MAX, kArenas);
    mallopt(M_TRIM_THRESHOLD, kTrimBytes);
}

long machine_megabytes() {
    return sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 1'000'000;
}

// A statement can make texts of gigabytes beside what DuckDB counts: they fail, not the machine.
void limit_memory(long traces) {
    const auto bytes = static_cast<rlim_t>(
        std::min(machine_megabytes() / 100 * kDataPart, traces * kDataMax) * 1'000'000);
    rlimit limit{};
    if (base::kIsSanitized) {
        return;  // whose own memory, terabytes that are never touched, counts too
    }
    if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur > bytes) {
        limit.rlim_cur = bytes;
        setrlimit(RLIMIT_DATA, &limit);  // can only make it less: whoever refuses loses nothing
    }
}

std::string usual_memory() {
    return fmt::format("{}MB", std::min(machine_megabytes() / kMemoryPart, kMegabytesMax));
}

std::string larger_memory() {
    return fmt::format("{}MB", std::min(machine_megabytes() / kLargerPart, kLargerMax));
}

// A trace and those who read it.
class Served {
  public:
    Served(std::string path, std::string clock)
        : path_(std::move(path)),
          clock_(std::move(clock)),
          pool([this] { return open(usual_memory()); },
               kDatabases,
               [this] { return open(larger_memory()); }) {}

  private:
    Result<std::unique_ptr<store::Database>> open(const std::string& memory) {
        TRY(auto database,
            query::open_analysis_database(
                path_,
                {.database = {.memory_limit = memory, .temporary_limit = kTemporaryLimit},
                 .clock = clock_}));
        trace.forget(*database);
        return database;
    }

    const std::string path_, clock_;

  public:
    query::SelectedEvents trace;
    api::DatabasePool pool;
};

// What is wrong with a trace is said here, not first in the browser.
Result<std::unique_ptr<Served>> open_served(const std::string& path, const std::string& clock) {
    auto served = std::make_unique<Served>(path, clock);
    const std::atomic<bool> cancelled = false;
    TRY(served->pool.with(cancelled, [](store::Database&) { return Result<void>(); }));
    return served;
}

Result<api::Answer> no_trace(const base::Json&, const std::atomic<bool>&) {
    return api::Answer{.body = "null"};
}

Result<void> serve(const UiArguments& arguments, const base::Log& log) {
    const base::Fd signals = base::take_ending_signals();
    limit_memory(arguments.other.empty() ? 1 : 2);
    give_memory_back();
    TRY(std::string token, api::page_token(arguments.port));
    confine_page(log, {arguments.trace, arguments.other}, arguments.port);
    TRY(const auto served, open_served(arguments.trace, arguments.clock));
    api::TimelineCache timelines(served->pool, served->trace, arguments.clock);
    std::vector<api::Question> questions =
        api::page_questions(served->pool, served->trace, arguments.clock);
    std::ranges::move(api::timeline_questions(timelines), std::back_inserter(questions));
    std::unique_ptr<Served> other;
    std::unique_ptr<api::TimelineCache> other_timelines;
    if (!arguments.other.empty()) {
        TRY(other, open_served(arguments.other, arguments.clock));
        std::ranges::move(api::page_questions(other->pool, other->trace, arguments.clock, "other_"),
                          std::back_inserter(questions));
        other_timelines =
            std::make_unique<api::TimelineCache>(other->pool, other->trace, arguments.clock);
        std::ranges::move(api::timeline_questions(*other_timelines, "other_"),
                          std::back_inserter(questions));
    } else {
        questions.push_back({"other_trace", &no_trace});
    }
    const std::span<const api::PageFile> page = ui::page_files();
    TRY(const auto server,
        api::HttpServer::open({.port = arguments.port, .token = std::move(token)},
                              std::move(questions),
                              {page.begin(), page.end()}));
    log.say(fmt::format("{} (Ctrl-C ends it)", server->url()));
    for (std::uint64_t looks = 1; !base::was_asked_to_end(signals); ++looks) {
        std::this_thread::sleep_for(kLookEvery);
        if (looks % kLooksToTrim == 0) {
            malloc_trim(0);
        }
    }
    return {};
}

}  // namespace

void add_ui(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<UiArguments>();
    CLI::App* verb = app.add_subcommand("ui", "Show a trace in the browser");
    verb->add_option("trace", arguments->trace, "Folder of the trace; it may still be recorded")
        ->type_name("TRACE")
        ->required();
    verb->add_option("other", arguments->other, "Another trace, to compare it with")
        ->type_name("OTHER");
    verb->add_option("--port",
                     arguments->port,
                     "Port on 127.0.0.1, with the same address each time; 0 is any that is free")
        ->capture_default_str()
        ->type_name("PORT");
    add_clock_option(*verb, arguments->clock);
    verb->footer(
        "Examples:\n  dyetrace ui web1.trace\n  dyetrace ui web1.trace --port 8080\n"
        "  dyetrace ui before.trace after.trace");
    verb->callback([arguments, &exit_status] {
        const base::Log log = base::Log::to_stderr();
        const Result<void> done = serve(*arguments, log);
        if (!done.ok()) {
            log.fail(done.error());
        }
        exit_status = done.ok() ? 0 : exit_status_of(done.error());
    });
}

}  // namespace dyetrace::apps
