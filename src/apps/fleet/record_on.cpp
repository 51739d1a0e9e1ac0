// dyetrace record --on: one recording on many hosts, from one place.

#include <fmt/format.h>
#include <poll.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "apps/cli/target_options.h"
#include "apps/cli/verbs.h"
#include "apps/fleet/fleet_options.h"
#include "apps/fleet/host_progress.h"
#include "base/amounts.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/thread_annotations.h"
#include "recorder/child.h"
#include "transport/operator.h"

namespace dyetrace::apps {
namespace {

using fleet::HostProgress;
using fleet::RecordProgress;

constexpr int kLookMs = 50;
constexpr std::chrono::milliseconds kAskAgainAfter{500};
// A host that has ended nothing for so long is not waited for: what it has comes when it is back.
constexpr std::int64_t kSilenceTimeoutNs = 30'000'000'000;

struct RecordOnArguments {
    FleetOptions fleet;
    std::vector<std::string> hosts;
    std::string output;
    std::string duration;
    std::vector<std::string> recorder_arguments;
    std::vector<std::string> command;
};

// The session as the collector tells it, on a thread of its own; asks again when the connection is lost.
class Watch {
  public:
    Watch(std::string collector, transport::Security security, fleet::RecordRequest request)
        : collector_(std::move(collector)),
          security_(std::move(security)),
          request_(std::move(request)),
          thread_([this] { run(); }) {}
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch() {
        {
            const base::MutexLock lock(mutex_);
            leave_ = true;
        }
        thread_.join();
    }

    RecordProgress now() const {
        const base::MutexLock lock(mutex_);
        return now_;
    }
    // Why there is no session, or none any more.
    std::optional<Error> failure() const {
        const base::MutexLock lock(mutex_);
        return failure_;
    }

  private:
    void run() {
        for (;;) {
            const Result<void> watched = transport::watch_session(
                collector_, security_, request_, [this](const RecordProgress& progress) {
                    const base::MutexLock lock(mutex_);
                    now_ = progress;
                    return !leave_;
                });
            const base::MutexLock lock(mutex_);
            if (watched.ok() || leave_ || now_.session().empty() ||
                watched.error().code() != ErrorCode::kUnavailable) {
                failure_ = watched.ok() ? failure_ : watched.error();
                return;
            }
            request_.set_session(now_.session());
            changed_.wait_for(mutex_, kAskAgainAfter);
        }
    }

    const std::string collector_;
    const transport::Security security_;
    fleet::RecordRequest request_;  // of the thread
    mutable base::Mutex mutex_;
    std::condition_variable_any changed_;
    RecordProgress now_ GUARDED_BY(mutex_);
    std::optional<Error> failure_ GUARDED_BY(mutex_);
    bool leave_ GUARDED_BY(mutex_) = false;
    std::thread thread_;
};

// One recording from the operator's side.
class FleetRecording {
  public:
    FleetRecording(const RecordOnArguments& arguments, const base::Log& log)
        : arguments_(arguments), log_(log), collector_(with_port(arguments.fleet.collector)) {}

    Result<int> run();

  private:
    Result<fleet::RecordRequest> request() const;
    Result<bool> await_recording(const Watch& watch);
    void await_end_of_command(const Watch& watch);
    void stop(const std::string& session);
    bool await_end(const Watch& watch);
    bool tell(const RecordProgress& last, bool ended) const;

    const RecordOnArguments& arguments_;
    const base::Log& log_;
    const std::string collector_;
    std::optional<recorder::Child> child_;
    base::Fd signals_;
};

Result<fleet::RecordRequest> FleetRecording::request() const {
    fleet::RecordRequest request;
    request.set_name(arguments_.output);
    const bool all = std::find(arguments_.hosts.begin(), arguments_.hosts.end(), "all") !=
                     arguments_.hosts.end();
    for (const std::string& host : arguments_.hosts) {
        if (!all) {
            request.add_hosts(host);
        }
    }
    const std::vector<std::string>& arguments = arguments_.recorder_arguments;
    const bool names_processes =
        std::any_of(arguments.begin(), arguments.end(), [](const auto& argument) {
            return argument == "-a" || argument == "--all" || argument.starts_with("-p") ||
                   argument.starts_with("--pid");
        });
    if (!names_processes) {
        request.add_arguments("--all");
    }
    for (const std::string& argument : arguments) {
        request.add_arguments(argument);
    }
    if (!arguments_.duration.empty()) {
        TRY(const auto duration, base::parse_duration(arguments_.duration));
        request.set_duration_ns(static_cast<std::uint64_t>(duration.count()));
    }
    return request;
}

Result<int> FleetRecording::run() {
    TRY(auto asked, request());
    if (!arguments_.command.empty()) {
        TRY(recorder::Child child, recorder::Child::start(arguments_.command));
        child_.emplace(std::move(child));
    }
    signals_ = base::take_ending_signals();
    const Watch watch(collector_, arguments_.fleet.security(), std::move(asked));
    TRY(const bool begun, await_recording(watch));
    if (begun && child_) {
        TRY(child_->release());
    }
    if (begun) {
        await_end_of_command(watch);
    }
    stop(watch.now().session());
    const bool ended = await_end(watch);
    const bool complete = tell(watch.now(), ended);
    if (child_ && begun) {
        while (!child_->poll()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(kLookMs));
        }
        if (*child_->poll() != 0) {
            return recorder::pass_on(*child_->poll());
        }
    }
    return complete && begun ? 0 : kExitFailure;
}

// False if somebody stopped it before it began.
Result<bool> FleetRecording::await_recording(const Watch& watch) {
    for (;;) {
        const RecordProgress now = watch.now();
        if (!now.failure().empty()) {
            return Error(ErrorCode::kUnavailable, now.failure());
        }
        if (now.recording() || now.ended()) {
            return now.recording();
        }
        if (const auto failure = watch.failure()) {
            return *failure;
        }
        pollfd waiting{signals_.get(), POLLIN, 0};
        if (poll(&waiting, 1, kLookMs) > 0 && base::was_asked_to_end(signals_)) {
            return false;
        }
    }
}

void FleetRecording::await_end_of_command(const Watch& watch) {
    const RecordProgress begun = watch.now();
    log_.say(fmt::format("recording {} host{}, session {}",
                         begun.hosts_size(),
                         begun.hosts_size() == 1 ? "" : "s",
                         begun.session()));
    for (const std::string& note : begun.notes()) {
        log_.warn(note);
    }
    while (!(child_ && child_->poll()) && !watch.now().ended() && !watch.failure()) {
        const auto now = watch.now();
        const bool all_stopped =
            std::all_of(now.hosts().begin(), now.hosts().end(), [](const HostProgress& host) {
                return host.phase() >= fleet::SHIPPING;
            });
        pollfd waiting{signals_.get(), POLLIN, 0};
        if (all_stopped || (poll(&waiting, 1, kLookMs) > 0 && base::was_asked_to_end(signals_))) {
            return;
        }
    }
}

void FleetRecording::stop(const std::string& session) {
    const std::int64_t until_ns = base::monotonic_time_ns() + kSilenceTimeoutNs;
    for (;;) {
        const Result<void> stopped =
            transport::stop_session(collector_, arguments_.fleet.security(), session);
        if (stopped.ok() || stopped.error().code() != ErrorCode::kUnavailable ||
            base::monotonic_time_ns() > until_ns) {
            if (!stopped.ok()) {
                log_.warn(stopped.error().text());
            }
            return;
        }
        std::this_thread::sleep_for(kAskAgainAfter);
    }
}

// Until all hosts have shipped everything, or those that have not were silent for kSilenceTimeoutNs.
bool FleetRecording::await_end(const Watch& watch) {
    std::int64_t news_ns = base::monotonic_time_ns();
    std::string before;
    while (!watch.now().ended() && !watch.failure()) {
        const std::string now = watch.now().SerializeAsString();
        if (now != before) {
            before = now;
            news_ns = base::monotonic_time_ns();
        }
        if (base::monotonic_time_ns() - news_ns > kSilenceTimeoutNs ||
            base::was_asked_to_end(signals_)) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(kLookMs));
    }
    return watch.now().ended();
}

bool FleetRecording::tell(const RecordProgress& last, bool ended) const {
    bool complete = ended;
    for (const HostProgress& host : last.hosts()) {
        if (host.phase() == fleet::ENDED) {
            log_.say(
                fmt::format("{}: {}", host.host(), host.text().substr(0, host.text().find('\n'))));
        } else {
            complete = false;
            log_.warn(fmt::format("{} {}", host.host(), phase_text(host)));
        }
    }
    if (!ended) {
        log_.warn(fmt::format(
            "not everything has arrived: `dyetrace sessions` says how session {} goes on",
            last.session()));
    }
    log_.say(fmt::format("trace on the collector: {}", last.trace()));
    return complete;
}

int run_record_on(const RecordOnArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    transport::quieten_grpc(nullptr);
    const Result<int> done = FleetRecording(arguments, log).run();
    if (!done.ok()) {
        log.fail(done.error());
        return exit_status_of(done.error());
    }
    return done.value();
}

}  // namespace

void add_record_on(CLI::App& app, const std::vector<std::string>& command, int& exit_status) {
    auto arguments = std::make_shared<RecordOnArguments>();
    arguments->command = command;
    CLI::App* verb = app.add_subcommand("record", "Record on many hosts");
    verb->add_option("--on", arguments->hosts, "Hosts, or all")
        ->delimiter(',')
        ->required()
        ->type_name("HOSTS");
    add_fleet_options(*verb, arguments->fleet);
    verb->add_option("-o,--output", arguments->output, "Name of the trace on the collector")
        ->type_name("NAME");
    verb->add_option("--duration,--for", arguments->duration, "Stop after this time")
        ->type_name("TIME");
    verb->allow_extras();
    verb->footer(
        "All other options of `dyetrace record` are for the hosts.\n\n"
        "Examples:\n"
        "  dyetrace record --on db1,db2 --collector traces.example.org -- ./load\n"
        "  dyetrace record --on all --duration 1m --content=hash");
    verb->callback([verb, arguments, &exit_status] {
        arguments->recorder_arguments = verb->remaining();
        exit_status = run_record_on(*arguments);
    });
}

}  // namespace dyetrace::apps
