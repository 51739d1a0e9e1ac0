#include "transport/sessions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "base/version.h"
#include "transport/limits.h"
#include "transport/session_file.h"

namespace dyetrace::transport {
namespace {

constexpr std::int64_t kNsPerS = 1'000'000'000;
constexpr std::size_t kLineBytesMax = 256;  // of a host's words in a list of sessions

// "20261122T094512-3f9a": of the wall clock, for people; the last four digits make two of one second differ.
std::string new_id() {
    const auto now = static_cast<std::time_t>(base::wall_time_ns() / kNsPerS);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &parts);
    std::uint16_t random = 0;
    static_cast<void>(::getrandom(&random, sizeof(random), 0) == sizeof(random));
    return fmt::format("{}-{:04x}", text, random);
}

bool is_terminal(fleet::Phase phase) {
    return phase == fleet::ENDED || phase == fleet::FAILED || phase == fleet::LOST;
}

bool all_parts(const Session& session, const std::function<bool(const Part&)>& condition) {
    return std::all_of(session.parts.begin(), session.parts.end(), [&](const auto& entry) {
        return condition(entry.second);
    });
}

std::string_view name_of(const Session& session) {
    constexpr std::string_view kNames[] = {"starting", "recording", "stopping", "ended"};
    return session.failure.empty() ? kNames[static_cast<std::size_t>(session.phase)] : "failed";
}

trace::TraceInfo info_of(const Session& session) {
    trace::TraceInfo info;
    info.has_parts = true;
    info.program = "dyetrace " + std::string(base::kVersion);
    info.options.emplace_back("session", session.id);
    for (const std::string& argument : session.arguments) {
        info.options.emplace_back("record", argument);
    }
    return info;
}

fleet::HostProgress progress_of(const Part& part, bool connected, std::size_t text_bytes_max) {
    fleet::HostProgress progress;
    progress.set_host(part.host);
    progress.set_phase(part.phase);
    progress.set_text(base::beginning(part.text, text_bytes_max));
    progress.set_connected(connected);
    progress.set_bytes(part.bytes);
    return progress;
}

template <typename Names>
std::string joined(const Names& names) {
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

bool is_plain_name(std::string_view name) {
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return !name.empty() && name.size() <= kNameBytesMax && name.front() != '.' &&
           name.front() != '-' && name.find_first_not_of(kLetters) == std::string_view::npos;
}

std::string refuse_argument(std::string_view argument) {
    constexpr std::string_view kAgentsOwn[] = {"--output",
                                               "--control-fd",
                                               "--host-index",
                                               "--host-name",
                                               "--segment-records",
                                               "--on",
                                               "--collector",
                                               "--ui"};
    for (const std::string_view own : kAgentsOwn) {
        if (argument == own || argument.starts_with(std::string(own) + "=")) {
            return fmt::format("'{}' is the agent's own business", own);
        }
    }
    if (argument == "--") {
        return "an agent's recorder runs no command";
    }
    return argument.starts_with("-o") ? "'-o' is the agent's own business" : "";
}

Result<void> Sessions::load() {
    TRY(const base::Fd store, base::open_file(store_, O_RDONLY | O_DIRECTORY));
    if (::syncfs(store.get()) !=
        0) {  // once for all files of all hosts, instead of one by one when their agents come
        return Error::from_errno(errno,
                                 fmt::format("the disk of '{}' did not take what it has", store_));
    }
    TRY(const std::vector<std::string> names, base::list_folder(store_));
    for (const std::string& name : names) {
        auto read = read_session(store_ + "/" + name);
        if (!read.ok()) {
            continue;  // somebody else's folder
        }
        Session session = std::move(read).value();
        if (!session.is_over()) {
            TRY(carry_on(session));
        }
        const std::string id = session.id;
        sessions_.emplace(id, std::move(session));
    }
    return {};
}

// What was starting when its collector died has recorded nothing that counts.
Result<void> Sessions::carry_on(Session& session) {
    TRY(session.trace, trace::TraceFolder::resume(session.path));
    for (auto& [host, part] : session.parts) {
        const std::string path = session.trace->part_path(part.index);
        const bool has_arrived = ::access(path.c_str(), F_OK) == 0;
        part.has_trace |= has_arrived;  // perhaps since session.json was written
        if (has_arrived && !is_terminal(part.phase)) {
            TRY(part.folder, PartFolder::open(path));
        }
    }
    session.operator_gone_ns = session.duration_ns == 0 ? base::boot_time_ns() : 0;
    session.phase =
        session.phase == SessionPhase::kStarting ? SessionPhase::kStopping : session.phase;
    seal_(session.path);
    return {};
}

Result<void> Sessions::check(const fleet::RecordRequest& request) const {
    const auto wrong = [](std::string text) {
        return Error(ErrorCode::kInvalidArgument, std::move(text));
    };
    std::size_t bytes = 0;
    for (const std::string& argument : request.arguments()) {
        bytes += argument.size() + 1;
        if (std::string why = refuse_argument(argument); !why.empty()) {
            return wrong(std::move(why));
        }
    }
    if (bytes > kArgumentsBytesMax || request.arguments_size() > static_cast<int>(kArgumentsMax)) {
        return wrong("the options are too long for a command line");
    }
    for (const std::string& host : request.hosts()) {
        if (!connected_.contains(host)) {
            return Error(
                ErrorCode::kNotFound,
                fmt::format(
                    "no agent of host '{}' is connected; connected: {}", host, joined(connected_)));
        }
    }
    if (connected_.empty()) {
        return Error(ErrorCode::kNotFound, "no agent is connected");
    }
    const auto running = std::count_if(sessions_.begin(), sessions_.end(), [](const auto& entry) {
        return !entry.second.is_over();
    });
    if (static_cast<std::size_t>(running) >= kSessionsMax) {
        return Error(ErrorCode::kLimitReached,
                     fmt::format("{} sessions run already: stop one (dyetrace sessions)", running));
    }
    if (!request.name().empty() && !is_plain_name(request.name())) {
        return wrong(fmt::format(
            "'{}' is no name for a trace on the collector: letters, digits, '.', '_', '-'",
            request.name()));
    }
    return {};
}

Result<std::string> Sessions::begin(const fleet::RecordRequest& request) {
    TRY(check(request));
    Session session;
    do {
        session.id = new_id();
    } while (sessions_.contains(session.id));
    session.path = store_ + "/" + (request.name().empty() ? session.id : request.name());
    session.all_hosts = request.hosts().empty();
    session.arguments.assign(request.arguments().begin(), request.arguments().end());
    session.duration_ns = request.duration_ns();
    TRY(session.trace, trace::TraceFolder::create(session.path, info_of(session)));
    if (session.all_hosts) {
        for (const std::string& host : connected_) {
            add_part(session, host);
        }
    }
    for (const std::string& host : request.hosts()) {
        add_part(session, host);
    }
    session.phase_since_ns = base::boot_time_ns();
    TRY(write_session(session));
    const std::string id = session.id;
    Session& kept = sessions_.emplace(id, std::move(session)).first->second;
    for (const auto& [host, part] : kept.parts) {
        prepare(kept, part);
    }
    return id;
}

Part& Sessions::add_part(Session& session, const std::string& host) {
    Part part;
    part.host = host;
    part.index = static_cast<std::uint16_t>(session.parts.size());
    return session.parts.emplace(host, std::move(part)).first->second;
}

void Sessions::prepare(Session& session, const Part& part) {
    fleet::ToAgent message;
    fleet::Prepare& prepare = *message.mutable_prepare();
    prepare.set_session(session.id);
    prepare.set_host_index(part.index);
    for (const std::string& argument : session.arguments) {
        prepare.add_arguments(argument);
    }
    if (session.duration_ns > 0) {
        const std::int64_t gone =
            session.recording_since_ns == 0 ? 0 : base::boot_time_ns() - session.recording_since_ns;
        const auto left = static_cast<std::int64_t>(session.duration_ns) - gone;
        prepare.add_arguments("--duration");
        prepare.add_arguments(fmt::format("{}ns", std::max<std::int64_t>(left, 1)));
    }
    send_(part.host, message);
}

Session* Sessions::find(const std::string& id) {
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? nullptr : &found->second;
}

Part* Sessions::part_of(const std::string& session, const std::string& host) {
    Session* const found = find(session);
    if (found == nullptr) {
        return nullptr;
    }
    const auto part = found->parts.find(host);
    return part == found->parts.end() ? nullptr : &part->second;
}

Result<void> Sessions::stop(const std::string& id) {
    Session* const session = find(id);
    if (session == nullptr) {
        return Error(ErrorCode::kNotFound, fmt::format("there is no session '{}'", id));
    }
    stop(*session);
    return {};
}

void Sessions::stop(Session& session) {
    if (session.phase != SessionPhase::kStarting && session.phase != SessionPhase::kRecording) {
        return;
    }
    enter(session, SessionPhase::kStopping);
    fleet::ToAgent message;
    message.set_stop(session.id);
    for (const auto& [host, part] : session.parts) {
        if (!is_terminal(part.phase)) {
            send_(host, message);
        }
    }
    end_when_done(session);
}

void Sessions::enter(Session& session, SessionPhase phase) {
    session.phase = phase;
    session.phase_since_ns = base::boot_time_ns();
    save(session);
}

// What cannot be written down now is said by the agents when this collector comes back.
void Sessions::save(Session& session) {
    if (const Result<void> saved = write_session(session); !saved.ok()) {
        log_.warn(saved.error().text());
    }
    session.unsaved = false;
    for (const auto& [host, message] : std::exchange(session.once_saved, {})) {
        send_(host, message);
    }
}

// Something of it has changed that a collector that comes back should know.
void Sessions::note(Session& session) {
    session.unsaved = true;
    if (!std::exchange(session.saved_since_tick, true)) {
        save(session);
    }
}

void Sessions::fail(Session& session, const std::string& why) {
    session.failure = why;
    log_.warn(fmt::format("session {} did not begin: {}", session.id, why));
    stop(session);
}

void Sessions::start_when_ready(Session& session, std::int64_t now_ns) {
    for (const auto& [host, part] : session.parts) {
        if (part.phase == fleet::FAILED || part.phase == fleet::LOST) {
            return fail(session, fmt::format("{}: {}", host, part.text));
        }
        if (!is_connected(host)) {
            return fail(session, fmt::format("{}: the agent went away", host));
        }
        if (now_ns - session.phase_since_ns > kReadyNsMax) {
            return fail(session,
                        fmt::format("{} was not ready after {} s", host, kReadyNsMax / kNsPerS));
        }
    }
    if (all_parts(session, [](const Part& part) { return part.phase >= fleet::RECORDING; })) {
        session.recording_since_ns = now_ns;
        seal_(session.path);
        enter(session, SessionPhase::kRecording);
        for (const std::string& host : connected_) {
            let_join(session, host);
        }
        return;
    }
    if (!all_parts(session, [](const Part& part) { return part.phase >= fleet::READY; })) {
        return;
    }
    fleet::ToAgent message;
    message.set_go(session.id);
    for (const auto& [host, part] : session.parts) {
        if (part.phase == fleet::READY) {
            send_(host, message);
        }
    }
}

// Who connected while it was starting, or connects later.
void Sessions::let_join(Session& session, const std::string& host) {
    if (session.all_hosts && session.phase == SessionPhase::kRecording &&
        !session.parts.contains(host) && session.parts.size() < kAgentsMax) {
        prepare(session, add_part(session, host));
        note(session);
    }
}

void Sessions::end_when_done(Session& session) {
    if (session.is_over() || session.phase == SessionPhase::kStarting || session.unsaved ||
        !all_parts(session, [](const Part& part) { return is_terminal(part.phase); })) {
        return;
    }
    end(session);
}

// A session that nobody recorded anything in leaves no folder.
void Sessions::end(Session& session) {
    const bool is_empty = all_parts(session, [](const Part& part) { return !part.has_trace; });
    if (is_empty) {
        ::unlink((session.path + "/session.json").c_str());
        session.phase = SessionPhase::kEnded;
        session.trace->discard();
    } else {
        enter(session, SessionPhase::kEnded);
        if (const Result<void> finished = session.trace->finish(); !finished.ok()) {
            log_.warn(finished.error().text());
        }
        seal_(session.path);
    }
    session.trace.reset();
    log_.say(fmt::format(
        "session {} ended: {}", session.id, is_empty ? "nothing was recorded" : session.path));
}

// Ids begin with the time.
void Sessions::forget_old_sessions() {
    for (auto session = sessions_.begin();
         session != sessions_.end() && sessions_.size() > kSessionsKnownMax;) {
        const bool is_old = session->second.is_over() && session->second.watchers == 0;
        session = is_old ? sessions_.erase(session) : std::next(session);
    }
}

void Sessions::tick(std::int64_t now_ns) {
    for (auto& [id, session] : sessions_) {
        session.saved_since_tick = false;
        if (session.unsaved) {
            save(session);
        }
        if (session.phase == SessionPhase::kStarting) {
            start_when_ready(session, now_ns);
        }
        if (session.operator_gone_ns > 0 &&
            now_ns - session.operator_gone_ns > kOperatorGoneNsMax) {
            session.operator_gone_ns = 0;
            stop(session);
        }
        end_when_done(session);
    }
    forget_old_sessions();
}

// Hosts of the session that are one kernel, in words.
std::vector<std::string> Sessions::shared_kernels(const Session& session) const {
    std::map<std::string, std::vector<std::string>> hosts;  // by boot id
    for (const auto& [host, part] : session.parts) {
        if (const auto id = boot_ids_.find(host); id != boot_ids_.end() && !id->second.empty()) {
            hosts[id->second].push_back(host);
        }
    }
    std::vector<std::string> notes;
    for (const auto& [id, names] : hosts) {
        if (names.size() > 1) {
            notes.push_back(
                base::beginning(fmt::format("{} and {} are one kernel",
                                            fmt::join(names.begin(), names.end() - 1, ", "),
                                            names.back()),
                                kLineBytesMax) +
                ": what more than one of them records is there more than once, and "
                "counts once in flows and edges (table twins)");
        }
    }
    return notes;
}

fleet::RecordProgress Sessions::progress(const Session& session) const {
    fleet::RecordProgress progress;
    progress.set_session(session.id);
    progress.set_trace(session.path);
    progress.set_recording(session.phase == SessionPhase::kRecording);
    progress.set_ended(session.is_over());
    progress.set_failure(session.failure);
    const std::size_t text_bytes_max = std::min(
        kStatusTextBytesMax, kTextsBytesMax / std::max<std::size_t>(1, session.parts.size()));
    for (const auto& [host, part] : session.parts) {
        *progress.add_hosts() = progress_of(part, is_connected(host), text_bytes_max);
    }
    for (std::string& note : shared_kernels(session)) {
        progress.add_notes(std::move(note));
    }
    return progress;
}

// The youngest sessions show their hosts first.
fleet::SessionsReply Sessions::all() const {
    fleet::SessionsReply reply;
    std::size_t bytes = 0;
    for (auto known = sessions_.rbegin(); known != sessions_.rend(); ++known) {
        const Session& session = known->second;
        fleet::SessionState& state = *reply.add_sessions();
        state.set_session(session.id);
        state.set_trace(session.path);
        state.set_state(std::string(name_of(session)));
        for (const auto& [host, part] : session.parts) {
            fleet::HostProgress progress = progress_of(part, is_connected(host), kLineBytesMax);
            bytes += progress.ByteSizeLong();
            if (bytes > kHostsListedBytesMax) {
                state.set_hosts_left_out(state.hosts_left_out() + 1);
            } else {
                *state.add_hosts() = std::move(progress);
            }
        }
    }
    std::reverse(reply.mutable_sessions()->begin(), reply.mutable_sessions()->end());
    for (const std::string& host : connected_) {
        reply.add_connected(host);
    }
    return reply;
}

}  // namespace dyetrace::transport
