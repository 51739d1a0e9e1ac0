// The recordings of a collector: which hosts take part in each, how far each is, what is said to whom next.
//
//   begin ──► prepare to all ──► all ready ──► go to all ──► all record ──► stop to all ──► each ships its rest ──► ended
//
// One session is one trace of many hosts: a folder below the store with session.json (for a collector that comes back), and a
// PartFolder per host. What has to be known about agents between two runs of a collector is on disk, or said by the agents when
// they connect again.
//
// Failure: a host that cannot begin ends the session before anything counts, with its words. A disk that is full makes agents
// wait with what they have.
//
// Limits: one thread at a time (the collector's mutex); numbers in limits.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "trace/trace_folder.h"
#include "transport/fleet.pb.h"
#include "transport/names.h"
#include "transport/part_folder.h"

namespace dyetrace::transport {

// One host of a session.
struct Part {
    std::string host;
    std::uint16_t index = 0;
    fleet::Phase phase = fleet::PREPARING;
    std::string text;
    std::uint64_t bytes = 0;  // that arrived since this collector began
    std::optional<PartFolder> folder;
    bool has_trace = false;                            // something of it arrived
    std::map<std::string, std::uint64_t> asked_again;  // of a file: from which byte on
};

enum class SessionPhase { kStarting, kRecording, kStopping, kEnded };

struct Session {
    std::string id;
    std::string path;                         // of the trace
    std::optional<trace::TraceFolder> trace;  // nothing: it is over
    bool all_hosts = false;
    std::vector<std::string> arguments;
    std::uint64_t duration_ns = 0;
    std::string failure;
    SessionPhase phase = SessionPhase::kStarting;
    std::int64_t phase_since_ns = 0;  // CLOCK_BOOTTIME
    std::int64_t recording_since_ns = 0;
    std::int64_t operator_gone_ns = 0;  // 0: somebody looks on, or nobody has to
    int watchers = 0;
    std::map<std::string, Part> parts;  // by host

    // session.json, whose size grows with the hosts, is written once between two ticks, whatever many of them say; what may be
    // said only when it is written down waits for that.
    bool unsaved = false;
    bool saved_since_tick = false;
    std::vector<std::pair<std::string, fleet::ToAgent>> once_saved;  // to whom

    bool is_over() const { return phase == SessionPhase::kEnded; }
};

// A file that grew, and who waits to hear that it is durable.
struct UnsyncedFile {
    std::string session;
    std::string host;
    Unsynced file;
};

class Sessions {
  public:
    using Send = std::function<void(const std::string& host, const fleet::ToAgent& message)>;
    // Whoever makes Parquet of a trace may begin, or look once more.
    using Seal = std::function<void(const std::string& path)>;

    Sessions(std::string store, Send send, Seal seal, const base::Log& log)
        : store_(std::move(store)), send_(std::move(send)), seal_(std::move(seal)), log_(log) {}

    // What a collector before this one left.
    Result<void> load();

    // Operators.
    Result<std::string> begin(const fleet::RecordRequest& request);
    Result<void> stop(const std::string& id);
    Session* find(const std::string& id);
    fleet::RecordProgress progress(const Session& session) const;
    fleet::SessionsReply all() const;

    // Agents.
    void connect(const std::string& host, const fleet::Hello& hello);
    void disconnect(const std::string& host);
    void take(const std::string& host, const fleet::Status& status);
    void take(const std::string& host, const fleet::Chunk& chunk);
    bool is_connected(const std::string& host) const { return connected_.contains(host); }

    // Time has passed.
    void tick(std::int64_t now_ns);
    // What has to be made durable: the bytes of each first, then that it has its name, then its folder; then it may be acknowledged.
    std::vector<UnsyncedFile> take_unsynced();
    // Those that did not get their name are taken out: a newer one comes.
    void put_in_place(std::vector<UnsyncedFile>& synced);
    void acknowledge(const UnsyncedFile& file);

  private:
    Result<void> carry_on(Session& session);
    Part* part_of(const std::string& session, const std::string& host);
    Result<void> check(const fleet::RecordRequest& request) const;
    Part& add_part(Session& session, const std::string& host);
    void prepare(Session& session, const Part& part);
    void resume(const std::string& host, const std::string& session);
    void start_when_ready(Session& session, std::int64_t now_ns);
    void let_join(Session& session, const std::string& host);
    void end_when_done(Session& session);
    void end(Session& session);
    void forget_old_sessions();
    void fail(Session& session, const std::string& why);
    void stop(Session& session);
    void enter(Session& session, SessionPhase phase);
    void note(Session& session);
    std::vector<std::string> shared_kernels(const Session& session) const;
    void save(Session& session);
    void dismiss(const std::string& host, const std::string& session);
    Result<void> store(Part& part, const Session& session, const fleet::Chunk& chunk);
    Result<void> store_info(Part& part, const fleet::Chunk& chunk);
    void send_again(const Part& part, const fleet::Chunk& chunk, const Error& why, bool pause);

    std::string store_;
    Send send_;
    Seal seal_;
    const base::Log& log_;
    std::map<std::string, Session> sessions_;      // by id
    std::set<std::string> connected_;              // hosts
    std::map<std::string, std::string> boot_ids_;  // of hosts, as they last said
};

// An empty text if this collector understands who says that, else why not.
std::string refuse_hello(const fleet::Hello& hello);

// An empty text if an agent's recorder may be given this word, else why not.
std::string refuse_argument(std::string_view argument);

}  // namespace dyetrace::transport
