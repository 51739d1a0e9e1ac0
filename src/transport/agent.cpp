#include "transport/agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "base/version.h"
#include "trace/segment_format.h"
#include "trace/segment_writer.h"
#include "trace/trace_info.h"
#include "transport/agent_link.h"
#include "transport/credentials.h"
#include "transport/held_session.h"
#include "transport/sessions.h"
#include "transport/spool.h"

namespace dyetrace::transport {
namespace {

constexpr std::int64_t kWeighSpoolEveryNs = 250 * kNsPerMs;
constexpr std::int64_t kSayDroppedEveryNs = 5'000 * kNsPerMs;
constexpr std::int64_t kTooFullNsMax = 10'000 * kNsPerMs;
constexpr std::uint64_t kStoredRecordBytes = 24;  // segment_writer.h
// The spool is given back a segment at a time, so it has to hold several.
constexpr std::uint64_t kSegmentsOfSpool = 8;

std::uint64_t segment_records(std::uint64_t spool_bytes_max) {
    return std::clamp(spool_bytes_max / kSegmentsOfSpool / kStoredRecordBytes,
                      trace::kSegmentRecordsMin,
                      trace::SegmentLimits().records_max);
}

fleet::FromAgent message_of(fleet::Status status) {
    fleet::FromAgent message;
    *message.mutable_status() = std::move(status);
    return message;
}

}  // namespace

struct Agent::State {
    AgentOptions options;
    const base::Log& log;
    Spool spool;
    std::string boot_id;
    AgentLink link;
    OwnLimits limits;
    std::map<std::string, HeldSession> sessions = {};
    std::int64_t connect_ns = 0;  // not before
    int wait_ms = kReconnectMsMin;
    bool welcome = false;  // it said something since the connection began
    bool caught_up = false;
    std::string failure = {};  // said last
    std::int64_t weighed_ns = 0;
    std::int64_t too_full_since_ns = 0;  // 0: it is not
    std::uint64_t dropped = 0;           // events, not said yet
    std::int64_t said_dropped_ns = 0;

    void adopt_all();
    fleet::FromAgent hello() const;
    void connect(std::int64_t now_ns);
    void listen(std::int64_t now_ns);
    void take(const fleet::ToAgent& message, std::int64_t now_ns);
    void prepare(const fleet::Prepare& prepare);
    HeldSession* find(const std::string& id);
    void report();
    bool ship(std::int64_t now_ns);
    void keep_memory_limit(std::int64_t now_ns);
    std::uint64_t in_flight() const;
    void keep_spool_limit(std::int64_t now_ns);
    bool drop_oldest();
    void say_dropped(std::int64_t now_ns);
    void say_failure(const std::string& why);
};

Agent::Agent(std::unique_ptr<State> state) : state_(std::move(state)) {}
Agent::~Agent() = default;

Result<std::unique_ptr<Agent>> Agent::start(AgentOptions options, const base::Log& log) {
    if (!is_plain_name(options.host)) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is no host's name: letters, digits, '.', '_', '-'; name it "
                                 "with --host",
                                 options.host));
    }
    TRY(auto checked, channel_credentials(options.security, options.collector));
    TRY(Spool spool, Spool::open(options.spool));
    TRY(trace::Host host, trace::this_host());
    AgentLink link(options.collector, options.security);
    const OwnLimits limits(options.limits);
    std::unique_ptr<State> state(new State{std::move(options),
                                           log,
                                           std::move(spool),
                                           std::move(host.boot_id),
                                           std::move(link),
                                           limits});
    state->adopt_all();
    return std::unique_ptr<Agent>(new Agent(std::move(state)));
}

void Agent::State::adopt_all() {
    const auto ids = spool.sessions();
    for (const std::string& id : ids.ok() ? ids.value() : std::vector<std::string>()) {
        sessions.emplace(id, HeldSession::adopt(spool.session_path(id), id));
    }
}

fleet::FromAgent Agent::State::hello() const {
    fleet::FromAgent message;
    fleet::Hello& hello = *message.mutable_hello();
    hello.set_protocol(kProtocolVersion);
    hello.set_trace_format(trace::kFormatVersion);
    hello.set_program("dyetrace " + std::string(base::kVersion));
    hello.set_host(options.host);
    hello.set_boot_id(boot_id);
    hello.set_instance(spool.instance());
    for (const auto& [id, session] : sessions) {
        hello.add_sessions(id);
    }
    return message;
}

void Agent::State::say_failure(const std::string& why) {
    if (why != failure) {
        log.warn(why);
        failure = why;
    }
}

// Said once per cause: an agent may try for days.
void Agent::State::connect(std::int64_t now_ns) {
    if (auto broken = link.take_failure()) {
        for (auto& [id, session] : sessions) {
            session.disconnect();
        }
        wait_ms = std::exchange(welcome, false) ? kReconnectMsMin
                                                : std::min(2 * wait_ms, kReconnectMsMax);
        connect_ns = now_ns + wait_ms * kNsPerMs;
        say_failure(broken->text());
    }
    if (!link.is_open() && now_ns >= connect_ns) {
        if (const Result<void> opened = link.open(hello()); !opened.ok()) {
            connect_ns = now_ns + kReconnectMsMax * kNsPerMs;
            say_failure(opened.error().text());
        }
    }
}

HeldSession* Agent::State::find(const std::string& id) {
    const auto found = sessions.find(id);
    return found == sessions.end() ? nullptr : &found->second;
}

void Agent::State::listen(std::int64_t now_ns) {
    for (const fleet::ToAgent& message : link.take_received()) {
        take(message, now_ns);
    }
}

void Agent::State::prepare(const fleet::Prepare& prepare) {
    const auto refuse = [&](std::string why) {
        fleet::Status status;
        status.set_session(prepare.session());
        status.set_phase(fleet::FAILED);
        status.set_text(std::move(why));
        link.send(message_of(std::move(status)));
    };
    if (!is_plain_name(prepare.session()) || find(prepare.session()) != nullptr ||
        sessions.size() >= kSessionsMax) {
        return refuse("this agent has that session already, or too many");
    }
    RecorderOrder order;
    order.arguments = options.always;
    for (const std::string& argument : prepare.arguments()) {
        if (std::string why = refuse_argument(argument); !why.empty()) {
            return refuse(std::move(why));
        }
        order.arguments.push_back(argument);
    }
    order.program = options.program;
    order.host = options.host;
    order.host_index = prepare.host_index();
    order.segment_records = segment_records(options.spool_bytes_max);
    auto session = HeldSession::begin(spool.session_path(prepare.session()),
                                      prepare.session(),
                                      std::move(order),
                                      options.start_recorder);
    if (!session.ok()) {
        return refuse(session.error().text());
    }
    log.say(fmt::format("session {} begins", prepare.session()));
    sessions.emplace(prepare.session(), std::move(session).value());
}

void Agent::State::take(const fleet::ToAgent& message, std::int64_t now_ns) {
    const auto with = [this](const std::string& id, const auto& act) {
        if (HeldSession* const session = find(id)) {
            act(*session);
        }
    };
    switch (message.kind_case()) {
        case fleet::ToAgent::kWelcome:
            welcome = true;
            failure.clear();
            return log.say(fmt::format("connected to {}", options.collector));
        case fleet::ToAgent::kPrepare:
            return prepare(message.prepare());
        case fleet::ToAgent::kGo:
            return with(message.go(), [](HeldSession& session) { session.go(); });
        case fleet::ToAgent::kStop:
            return with(message.stop(), [](HeldSession& session) { session.stop(); });
        case fleet::ToAgent::kResume:
            return with(message.resume().session(), [&](HeldSession& session) {
                session.resume(message.resume());
                if (message.resume().stop()) {
                    session.stop();
                }
            });
        case fleet::ToAgent::kAcknowledged:
            return with(message.acknowledged().session(), [&](HeldSession& session) {
                session.acknowledge(message.acknowledged().file(), message.acknowledged().size());
            });
        case fleet::ToAgent::kAgain:
            log.warn(fmt::format(
                "{} is sent again: {}", message.again().file(), message.again().reason()));
            return with(message.again().session(),
                        [&](HeldSession& session) { session.again(message.again(), now_ns); });
        case fleet::ToAgent::kForget:
            with(message.forget(), [](HeldSession& session) { session.forget(); });
            sessions.erase(message.forget());
            return log.say(fmt::format("session {} ended", message.forget()));
        case fleet::ToAgent::kUnknown:
            with(message.unknown(), [](HeldSession& session) { session.stop(); });
            return log.warn(fmt::format(
                "the collector does not know session {}: its recording ends; what it has stays in "
                "{}",
                message.unknown(),
                spool.session_path(message.unknown())));
        case fleet::ToAgent::kNote:
            return log.warn(message.note());
        case fleet::ToAgent::KIND_NOT_SET:
            return;
    }
}

void Agent::State::report() {
    for (auto& [id, session] : sessions) {
        if (auto status = session.look()) {
            link.send(message_of(std::move(*status)));
        }
    }
}

std::uint64_t Agent::State::in_flight() const {
    std::uint64_t bytes = 0;
    for (const auto& [id, session] : sessions) {
        bytes += session.in_flight();
    }
    return bytes;
}

// Sessions ship in turns, so that none waits for another one's backlog. True: everything is there, and acknowledged.
bool Agent::State::ship(std::int64_t now_ns) {
    bool found = true;
    while (found && link.has_room() && in_flight() < kInFlightBytesMax) {
        found = false;
        for (auto& [id, session] : sessions) {
            if (!limits.may_ship(now_ns)) {
                return false;
            }
            if (auto chunk = session.next_chunk()) {
                limits.shipped(chunk->data().size());
                fleet::FromAgent message;
                *message.mutable_chunk() = std::move(*chunk);
                link.send(std::move(message));
                found = true;
            }
        }
    }
    return !found && std::all_of(sessions.begin(), sessions.end(), [](const auto& session) {
        return session.second.is_in_step();
    });
}

// The session that began last ends: the others have more to lose.
void Agent::State::keep_memory_limit(std::int64_t now_ns) {
    std::vector<pid_t> recorders;
    for (const auto& [id, session] : sessions) {
        recorders.push_back(session.recorder());
    }
    const auto bytes = limits.too_much_memory(now_ns, recorders);
    if (bytes && !sessions.empty()) {
        const auto& [id, youngest] = *sessions.rbegin();
        const std::string reason =
            fmt::format("the agent and its recorders hold {} of memory, --memory-max allows {}",
                        base::bytes_text(*bytes),
                        base::bytes_text(options.limits.memory_bytes_max));
        log.warn(fmt::format("{}: session {} ends here", reason, id));
        sessions.rbegin()->second.stop(reason);
    }
}

// The oldest of the oldest session. False if nothing may be dropped.
bool Agent::State::drop_oldest() {
    for (auto& [id, session] : sessions) {
        const auto gone = session.drop_oldest_events();
        if (!gone.ok()) {
            log.warn(gone.error().text());
        } else if (gone.value()) {
            dropped += *gone.value();
            return true;
        }
    }
    return false;
}

void Agent::State::say_dropped(std::int64_t now_ns) {
    if (dropped > 0 && now_ns - said_dropped_ns > kSayDroppedEveryNs) {
        log.warn(fmt::format("{} events dropped: the spool is full (--spool-max)",
                             base::with_separators(std::exchange(dropped, 0))));
        said_dropped_ns = now_ns;
    }
}

// What is on its way, and the segment that grows, may exceed it for a while: they cannot be dropped.
void Agent::State::keep_spool_limit(std::int64_t now_ns) {
    if (now_ns - weighed_ns < kWeighSpoolEveryNs) {
        return;
    }
    weighed_ns = now_ns;
    std::uint64_t bytes = spool.bytes();
    while (bytes > options.spool_bytes_max && drop_oldest()) {
        bytes = spool.bytes();
    }
    say_dropped(now_ns);
    if (bytes <= options.spool_bytes_max) {
        too_full_since_ns = 0;
    } else if (too_full_since_ns == 0) {
        too_full_since_ns = now_ns;
    } else if (now_ns - too_full_since_ns > kTooFullNsMax) {
        too_full_since_ns = 0;
        log.warn(
            fmt::format("the spool has {} of what may not be dropped (--spool-max {}): its "
                        "recordings end",
                        base::bytes_text(bytes),
                        base::bytes_text(options.spool_bytes_max)));
        for (auto& [id, session] : sessions) {
            session.stop();
        }
    }
}

bool Agent::is_connected() const {
    return state_->welcome && state_->link.is_open();
}

bool Agent::has_caught_up() const {
    return state_->caught_up;
}

void Agent::tick(int wait_ms) {
    State& state = *state_;
    const std::int64_t now_ns = base::monotonic_time_ns();
    state.connect(now_ns);
    state.listen(now_ns);
    state.report();
    state.caught_up = state.link.is_open() && state.ship(now_ns) && state.welcome;
    state.keep_spool_limit(now_ns);
    state.keep_memory_limit(now_ns);
    if (const auto news = state.limits.news(now_ns)) {
        state.log.warn(*news);
    }
    state.link.wait(wait_ms);
}

}  // namespace dyetrace::transport
