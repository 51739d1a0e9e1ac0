#include "transport/collector.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/thread_annotations.h"
#include "trace/segment_format.h"
#include "transport/credentials.h"
#include "transport/fleet.grpc.pb.h"
#include "transport/limits.h"
#include "transport/sealing.h"
#include "transport/sessions.h"

namespace dyetrace::transport {
namespace {

// What waits to be said to an agent that does not listen; acknowledgements of a minute.
constexpr std::size_t kOutgoingMax = 4096;

}  // namespace

class AgentStream;
class OperatorStream;

struct Collector::State final : fleet::Fleet::CallbackService {
    State(CollectorOptions given, const base::Log& messages)
        : options(std::move(given)),
          log(messages),
          sealing(options.program),
          sessions(
              options.store,
              [this](const std::string& host, const fleet::ToAgent& message)
                  REQUIRES(mutex) { send(host, message); },
              [this](const std::string& path) REQUIRES(mutex) { sealing.follow(path); },
              log) {}

    grpc::ServerBidiReactor<fleet::FromAgent, fleet::ToAgent>* Serve(
        grpc::CallbackServerContext* context) override;
    grpc::ServerWriteReactor<fleet::RecordProgress>* Record(
        grpc::CallbackServerContext* context, const fleet::RecordRequest* request) override;
    grpc::ServerUnaryReactor* Stop(grpc::CallbackServerContext* context,
                                   const fleet::StopRequest* request,
                                   fleet::StopReply* reply) override;
    grpc::ServerUnaryReactor* Sessions(grpc::CallbackServerContext* context,
                                       const fleet::SessionsRequest* request,
                                       fleet::SessionsReply* reply) override;

    Caller caller(grpc::CallbackServerContext* context) const {
        const auto known = context->auth_context();
        return caller_of(known.get(), options.security);
    }
    grpc::Status take(AgentStream& stream, const fleet::FromAgent& message);
    grpc::Status greet(AgentStream& stream, const fleet::Hello& hello) REQUIRES(mutex);
    void gone(AgentStream& stream);
    void send(const std::string& host, const fleet::ToAgent& message) REQUIRES(mutex);
    Result<std::string> session_for(const Caller& who, const fleet::RecordRequest& request)
        REQUIRES(mutex);
    std::vector<UnsyncedFile> look_around();

    CollectorOptions options;
    const base::Log& log;
    base::Fd store_lock;
    base::Mutex mutex;
    Sealing sealing GUARDED_BY(mutex);
    transport::Sessions sessions GUARDED_BY(mutex);
    std::map<std::string, AgentStream*> agents GUARDED_BY(mutex);  // by host
    std::set<OperatorStream*> operators GUARDED_BY(mutex);
    std::size_t streams GUARDED_BY(mutex) = 0;
    int port = 0;
    std::unique_ptr<grpc::Server> server;
};

// The connection of one agent. Deletes itself when gRPC is done with it.
class AgentStream final : public grpc::ServerBidiReactor<fleet::FromAgent, fleet::ToAgent> {
  public:
    AgentStream(Collector::State& state, Caller caller, std::string peer)
        : state_(state), caller_(std::move(caller)), peer_(std::move(peer)) {
        StartRead(&incoming_);
    }

    const Caller& caller() const { return caller_; }
    const std::string& peer() const { return peer_; }
    const std::string& host() const { return host_; }
    const std::string& instance() const { return instance_; }
    void is(const fleet::Hello& hello) {
        host_ = hello.host();
        instance_ = hello.instance();
    }

    void send(const fleet::ToAgent& message) {
        const base::MutexLock lock(mutex_);
        if (outgoing_.size() >= kOutgoingMax) {
            return close(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "it does not listen"));
        }
        outgoing_.push_back(message);
        if (outgoing_.size() == 1 && !closing_) {
            StartWrite(&outgoing_.front());
        }
    }
    void end(const grpc::Status& status) {
        const base::MutexLock lock(mutex_);
        close(status);
    }

    void OnReadDone(bool ok) override {
        const grpc::Status status =
            ok ? state_.take(*this, incoming_) : grpc::Status(grpc::StatusCode::CANCELLED, "");
        const base::MutexLock lock(mutex_);
        if (!status.ok()) {
            close(status);
        } else if (!closing_) {
            StartRead(&incoming_);
        }
    }
    void OnWriteDone(bool ok) override {
        const base::MutexLock lock(mutex_);
        outgoing_.pop_front();
        if (!ok && !closing_) {
            closing_ = grpc::Status(grpc::StatusCode::CANCELLED, "");
        }
        if (closing_) {
            Finish(*closing_);
        } else if (!outgoing_.empty()) {
            StartWrite(&outgoing_.front());
        }
    }
    void OnDone() override {
        state_.gone(*this);
        delete this;
    }

  private:
    // A write that is under way ends first.
    void close(const grpc::Status& status) REQUIRES(mutex_) {
        if (closing_) {
            return;
        }
        closing_ = status;
        if (outgoing_.empty()) {
            Finish(status);
        }
    }

    Collector::State& state_;
    const Caller caller_;
    const std::string peer_;
    std::string host_;  // once it said hello; under the mutex of State
    std::string instance_;
    fleet::FromAgent incoming_;
    base::Mutex mutex_;
    std::deque<fleet::ToAgent> outgoing_ GUARDED_BY(mutex_);  // the first is being written
    std::optional<grpc::Status> closing_ GUARDED_BY(mutex_);
};

// An operator that looks on while a session lives.
class OperatorStream final : public grpc::ServerWriteReactor<fleet::RecordProgress> {
  public:
    OperatorStream(Collector::State& state, std::string session)
        : state_(state), session_(std::move(session)) {}

    const std::string& session() const { return session_; }

    // Under the mutex of State.
    void show(const fleet::RecordProgress& now) {
        if (writing_ || finished_ || (shown_ && now.SerializeAsString() == said_)) {
            return;
        }
        shown_ = true;
        said_ = now.SerializeAsString();
        message_ = now;
        writing_ = true;
        StartWrite(&message_);
    }
    void refuse(const grpc::Status& status) {
        finished_ = true;
        Finish(status);
    }

    void OnWriteDone(bool ok) override {
        const base::MutexLock lock(state_.mutex);
        writing_ = false;
        if ((!ok || message_.ended()) && !finished_) {
            finished_ = true;
            Finish(grpc::Status::OK);
        }
    }
    void OnCancel() override {
        const base::MutexLock lock(state_.mutex);
        if (!finished_) {
            finished_ = true;
            Finish(grpc::Status(grpc::StatusCode::CANCELLED, ""));
        }
    }
    void OnDone() override {
        {
            const base::MutexLock lock(state_.mutex);
            state_.operators.erase(this);
            Session* const session = state_.sessions.find(session_);
            if (session != nullptr && --session->watchers == 0 && session->duration_ns == 0) {
                session->operator_gone_ns = base::boot_time_ns();
            }
        }
        delete this;
    }

  private:
    Collector::State& state_;
    const std::string session_;
    bool shown_ = false;
    bool writing_ = false;
    bool finished_ = false;
    std::string said_;
    fleet::RecordProgress message_;
};

grpc::ServerBidiReactor<fleet::FromAgent, fleet::ToAgent>* Collector::State::Serve(
    grpc::CallbackServerContext* context) {
    const base::MutexLock lock(mutex);
    auto* const stream = new AgentStream(*this, caller(context), context->peer());
    if (++streams > kAgentsMax) {
        stream->end(
            status_of(Error(ErrorCode::kLimitReached,
                            fmt::format("the collector has {} agents already", kAgentsMax))));
    }
    return stream;
}

grpc::Status Collector::State::take(AgentStream& stream, const fleet::FromAgent& message) {
    const base::MutexLock lock(mutex);
    if (message.has_hello()) {
        return greet(stream, message.hello());
    }
    const auto known = agents.find(stream.host());
    if (known == agents.end() || known->second != &stream) {
        return status_of(Error(ErrorCode::kPermissionDenied, "an agent says hello first"));
    }
    if (message.has_chunk()) {
        sessions.take(stream.host(), message.chunk());
    } else if (message.has_status()) {
        sessions.take(stream.host(), message.status());
    }
    return grpc::Status::OK;
}

grpc::Status Collector::State::greet(AgentStream& stream, const fleet::Hello& hello) {
    const auto refuse = [&](ErrorCode code, const std::string& why) {
        log.warn(fmt::format("refused {}: {}", stream.peer(), why));
        return status_of(Error(code, why));
    };
    if (!stream.host().empty()) {
        return refuse(ErrorCode::kInvalidArgument, "an agent says hello once");
    }
    if (const std::string why = refuse_hello(hello); !why.empty()) {
        return refuse(ErrorCode::kUnsupported, why);
    }
    if (!stream.caller().may_write_as(hello.host())) {
        return refuse(
            ErrorCode::kPermissionDenied,
            fmt::format("its certificate does not let it write as host '{}'", hello.host()));
    }
    if (const auto other = agents.find(hello.host()); other != agents.end()) {
        if (other->second->instance() != hello.instance()) {
            fleet::ToAgent note;
            note.set_note(fmt::format(
                "another agent claims host '{}': {}; it was refused", hello.host(), stream.peer()));
            other->second->send(note);
            return refuse(ErrorCode::kAlreadyExists,
                          fmt::format("an agent of host '{}' is connected already, from {}",
                                      hello.host(),
                                      other->second->peer()));
        }
        other->second->end(status_of(Error(ErrorCode::kAlreadyExists, "it came back")));
        agents.erase(other);
        sessions.disconnect(hello.host());
    }
    stream.is(hello);
    agents[hello.host()] = &stream;
    log.say(fmt::format("agent of {} connected from {}", hello.host(), stream.peer()));
    sessions.connect(hello.host(), hello);
    return grpc::Status::OK;
}

void Collector::State::gone(AgentStream& stream) {
    const base::MutexLock lock(mutex);
    --streams;
    const auto known = agents.find(stream.host());
    if (known != agents.end() && known->second == &stream) {
        agents.erase(known);
        sessions.disconnect(stream.host());
        log.say(fmt::format("agent of {} disconnected", stream.host()));
    }
}

void Collector::State::send(const std::string& host, const fleet::ToAgent& message) {
    if (const auto known = agents.find(host); known != agents.end()) {
        known->second->send(message);
    }
}

Result<std::string> Collector::State::session_for(const Caller& who,
                                                  const fleet::RecordRequest& request) {
    if (!who.may_record) {
        return Error(ErrorCode::kPermissionDenied,
                     "this certificate does not let its owner record");
    }
    if (operators.size() >= kOperatorsMax) {
        return Error(ErrorCode::kLimitReached,
                     fmt::format("{} operators look on already", operators.size()));
    }
    if (request.session().empty()) {
        return sessions.begin(request);
    }
    if (sessions.find(request.session()) == nullptr) {
        return Error(ErrorCode::kNotFound,
                     fmt::format("there is no session '{}'", request.session()));
    }
    return request.session();
}

grpc::ServerWriteReactor<fleet::RecordProgress>* Collector::State::Record(
    grpc::CallbackServerContext* context, const fleet::RecordRequest* request) {
    const Caller who = caller(context);
    const base::MutexLock lock(mutex);
    const Result<std::string> session = session_for(who, *request);
    auto* const stream = new OperatorStream(*this, session.ok() ? session.value() : "");
    if (!session.ok()) {
        stream->refuse(status_of(session.error()));
        return stream;
    }
    operators.insert(stream);
    Session& watched = *sessions.find(session.value());
    ++watched.watchers;
    watched.operator_gone_ns = 0;
    stream->show(sessions.progress(watched));
    return stream;
}

grpc::ServerUnaryReactor* Collector::State::Stop(grpc::CallbackServerContext* context,
                                                 const fleet::StopRequest* request,
                                                 fleet::StopReply* /*reply*/) {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    if (!caller(context).may_record) {
        reactor->Finish(status_of(Error(ErrorCode::kPermissionDenied,
                                        "this certificate does not let its owner stop sessions")));
        return reactor;
    }
    const base::MutexLock lock(mutex);
    const Result<void> stopped = sessions.stop(request->session());
    reactor->Finish(stopped.ok() ? grpc::Status::OK : status_of(stopped.error()));
    return reactor;
}

grpc::ServerUnaryReactor* Collector::State::Sessions(grpc::CallbackServerContext* context,
                                                     const fleet::SessionsRequest* /*request*/,
                                                     fleet::SessionsReply* reply) {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    const Caller who = caller(context);
    if (!who.may_read && !who.may_record) {
        reactor->Finish(status_of(
            Error(ErrorCode::kPermissionDenied, "this certificate does not let its owner read")));
        return reactor;
    }
    const base::MutexLock lock(mutex);
    *reply = sessions.all();
    reactor->Finish(grpc::Status::OK);
    return reactor;
}

std::vector<UnsyncedFile> Collector::State::look_around() {
    const base::MutexLock lock(mutex);
    sessions.tick(base::boot_time_ns());
    sealing.tick();
    for (OperatorStream* const watcher : operators) {
        if (const Session* const session = sessions.find(watcher->session())) {
            watcher->show(sessions.progress(*session));
        }
    }
    return sessions.take_unsynced();
}

Collector::Collector(std::unique_ptr<State> state) : state_(std::move(state)) {}

Collector::~Collector() {
    if (state_->server) {
        state_->server->Shutdown(std::chrono::system_clock::now());  // agents come back
        state_->server->Wait();
    }
}

int Collector::port() const {
    return state_->port;
}

Result<std::unique_ptr<Collector>> Collector::start(CollectorOptions options,
                                                    const base::Log& log) {
    TRY(auto credentials, server_credentials(options.security, options.listen));
    auto state = std::make_unique<State>(std::move(options), log);
    TRY(base::make_folders(state->options.store));
    TRY(state->store_lock, base::open_file(state->options.store + "/collector", O_RDWR | O_CREAT));
    if (::flock(state->store_lock.get(), LOCK_EX | LOCK_NB) != 0) {
        return Error(
            ErrorCode::kAlreadyExists,
            fmt::format("another collector keeps its traces in '{}'", state->options.store));
    }
    {
        const base::MutexLock lock(state->mutex);
        TRY(state->sessions.load());
    }
    grpc::ServerBuilder builder;
    builder.AddListeningPort(state->options.listen, credentials, &state->port);
    builder.SetMaxReceiveMessageSize(kMessageBytesMax);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                               kKeepaliveMs / 2);
    builder.RegisterService(state.get());
    state->server = builder.BuildAndStart();
    if (!state->server || state->port == 0) {
        return Error(ErrorCode::kUnavailable,
                     fmt::format("cannot listen on '{}': is the port taken, the address one of "
                                 "this machine?",
                                 state->options.listen));
    }
    return std::unique_ptr<Collector>(new Collector(std::move(state)));
}

namespace {

Result<void> refused(const UnsyncedFile& file) {
    return Error::from_errno(
        errno,
        fmt::format("the disk did not take {} of {}, which its agent keeps; start the collector "
                    "again when the disk is in order",
                    file.file.file,
                    file.host));
}

// When all are on their way before the first is waited for, one commit of the file system's journal covers them.
Result<void> sync_bytes(const std::vector<UnsyncedFile>& files) {
    for (const UnsyncedFile& file : files) {
        ::sync_file_range(file.file.descriptor.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
    }
    for (const UnsyncedFile& file : files) {
        if (::fdatasync(file.file.descriptor.get()) != 0) {
            return refused(file);
        }
    }
    return {};
}

Result<void> sync_names(const std::vector<UnsyncedFile>& files) {
    for (const UnsyncedFile& file : files) {
        if (!file.file.folder.empty() && !base::sync_folder(file.file.folder).ok()) {
            return refused(file);
        }
    }
    return {};
}

}  // namespace

// The disk is waited for outside of the mutex: meanwhile more arrives, from however many hosts. What a disk has refused once it may
// claim to have the next time.
Result<void> Collector::tick() {
    std::vector<UnsyncedFile> files = state_->look_around();
    TRY(sync_bytes(files));
    {
        const base::MutexLock lock(state_->mutex);
        state_->sessions.put_in_place(files);
    }
    TRY(sync_names(files));
    const base::MutexLock lock(state_->mutex);
    for (const UnsyncedFile& file : files) {
        state_->sessions.acknowledge(file);
    }
    return {};
}

}  // namespace dyetrace::transport
