// dyetrace ui: a trace in the browser, from this program, on loopback.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "api/desk.h"
#include "api/http_door.h"
#include "apps/clock_maker.h"
#include "apps/page_questions.h"
#include "apps/page_token.h"
#include "apps/page_trace.h"
#include "apps/timeline_questions.h"
#include "apps/verbs.h"
#include "apps/whole_database.h"
#include "base/log.h"
#include "base/signals.h"
#include "ui/page_files.h"

namespace dyetrace::apps {
namespace {

constexpr std::size_t kDatabases = 2;  // a long question, and all others beside it
constexpr std::chrono::milliseconds kLookEvery{100};

struct UiArguments {
    std::string trace;
    std::uint16_t port = 0;
    std::string clock = "cluster";
};

Result<void> serve(const UiArguments& arguments, const base::Log& log) {
    PageTrace trace;
    const base::Fd signals = base::take_ending_signals();
    api::Desk desk([&] { return open_whole_database(arguments.trace, {.clock = arguments.clock}); },
                   kDatabases);
    // What is wrong with the trace is said here, not first in the browser.
    const std::atomic<bool> cancelled = false;
    TRY(desk.with(cancelled, [](store::Database&) { return Result<void>(); }));
    TimelineDesk timelines(desk, trace, arguments.clock);
    std::vector<api::Question> questions = page_questions(desk, trace);
    for (api::Question& question : timeline_questions(timelines)) {
        questions.push_back(std::move(question));
    }
    TRY(std::string token, page_token(arguments.port));
    const std::span<const api::PageFile> page = ui::page_files();
    TRY(const auto door,
        api::HttpDoor::open({.port = arguments.port, .token = std::move(token)},
                            std::move(questions),
                            {page.begin(), page.end()}));
    log.say(fmt::format("{} (Ctrl-C ends it)", door->url()));
    while (!base::was_asked_to_end(signals)) {
        std::this_thread::sleep_for(kLookEvery);
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
    verb->add_option("--port",
                     arguments->port,
                     "Port on 127.0.0.1, with the same address each time; 0 is any that is free")
        ->capture_default_str()
        ->type_name("PORT");
    add_clock_option(*verb, arguments->clock);
    verb->footer("Examples:\n  dyetrace ui web1.trace\n  dyetrace ui web1.trace --port 8080");
    verb->callback([arguments, &exit_status] {
        const base::Log log = base::Log::to_stderr();
        const Result<void> done = serve(*arguments, log);
        if (!done.ok()) {
            log.fail(done.error());
        }
        exit_status = done.ok() ? 0 : 1;
    });
}

}  // namespace dyetrace::apps
