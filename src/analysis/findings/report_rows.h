// What `dyetrace report` knows of a trace: plain rows, a struct per statement of src/query/sql/report.sql.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dyetrace::analysis {

struct Overview {
    std::uint64_t calls = 0;
    std::uint64_t failed = 0;
    std::uint64_t unfinished = 0;
    std::uint64_t processes = 0;
    std::uint64_t threads = 0;
    std::uint64_t hosts = 0;
    std::uint64_t span_ns = 0;  // from the first start to the last end
};

// Times of a set of calls.
struct Times {
    std::uint64_t total_ns = 0;
    std::uint64_t p50_ns = 0;
    std::uint64_t p99_ns = 0;
    std::uint64_t max_ns = 0;
};

struct ActivityRow {
    std::string process;  // "sqlite3[4711]"
    std::string verb;     // read, wrote, synced, copied, opened, …
    std::string target;   // path, "10.0.0.7:443", "clients of :5432"
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    Times times;
};

struct CallRow {
    std::string name;
    std::uint64_t calls = 0;
    std::uint64_t errors = 0;
    std::uint64_t bytes = 0;
    Times times;
};

// A file or the other end of a socket.
struct TargetRow {
    std::string target;
    std::string process;  // who, or the one with most calls of several
    std::uint64_t processes = 0;
    std::uint64_t calls = 0;
    std::uint64_t read_bytes = 0;
    std::uint64_t written_bytes = 0;
    std::uint64_t total_ns = 0;
};

struct Failure {
    std::string process;
    std::string name;   // of the call
    std::string error;  // ENOENT
    std::uint64_t failed = 0;
    std::uint64_t calls = 0;  // of that name by that process
    std::uint64_t total_ns = 0;
    std::uint64_t process_ns =
        0;  // from the process's first start to its last end, without what it waited
};

struct RepeatedOpen {
    std::string process;
    std::string path;
    std::uint64_t opens = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t process_ns = 0;
};

struct SmallTransfers {
    std::string process;
    std::string verb;  // read or wrote
    std::string target;
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t process_ns = 0;
};

struct Syncs {
    std::string process;
    std::string target;
    std::uint64_t calls = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t max_ns = 0;
    std::uint64_t process_ns = 0;  // from its first start to its last end
    bool deleted = false;          // its name was removed by that process later
};

struct ThreadTime {
    std::string thread;  // "postgres[812]"
    std::uint64_t span_ns = 0;
    std::uint64_t on_cpu_ns = 0;  // inside calls
    std::uint64_t file_ns = 0;    // blocked in calls of a class: off the CPU
    std::uint64_t network_ns = 0;
    std::uint64_t pipe_ns = 0;
    std::uint64_t wait_ns = 0;
    std::uint64_t other_ns = 0;

    std::uint64_t blocked_ns() const { return file_ns + network_ns + pipe_ns + wait_ns + other_ns; }
};

// A thread that waited for files for half of its time.
struct BlockedThread {
    std::string thread;
    std::uint64_t span_ns = 0;
    std::uint64_t file_ns = 0;
    std::string comm = {};  // many that run one program have it, whatever its arguments
};

// A process that a signal ended which nobody sends to end one in order.
struct KilledProcess {
    std::string process;
    std::uint64_t signal = 0;
    std::string address;  // that it faulted at; empty: no fault, or not known
};

struct GapRow {
    std::string host;
    std::string reason;
    std::uint64_t gaps = 0;
    std::uint64_t lost = 0;      // where it is known
    std::uint64_t unknown = 0;   // gaps of which it is not
    std::uint64_t total_ns = 0;  // time that they cover
};

struct CoverageRow {
    std::string host;
    std::string source;
    std::string state;
    std::string reason;
};

// TCP sent bytes again.
struct SentAgain {
    std::string process;
    std::string target;
    std::uint64_t segments = 0;
    std::uint64_t bytes = 0;
    std::uint64_t timers = 0;      // of the segments, those that a timer called for
    std::uint64_t sent_bytes = 0;  // by all calls on these sockets
};

// A process that gave operations to an io_uring, where no event tells what they moved.
struct UnseenRing {
    std::string process;
    std::uint64_t operations = 0;
    bool is_polled = false;  // the kernel takes others without a call, or may if there are none
};

struct Report {
    std::string trace;  // its path
    bool recording = false;
    std::uint64_t stored_bytes = 0;  // on disk; 0: not known
    Overview overview;
    std::vector<ActivityRow> activities;
    std::vector<CallRow> calls;
    std::vector<TargetRow> files;
    std::vector<TargetRow> sockets;
    std::vector<Failure> failures;
    std::vector<RepeatedOpen> opens;
    std::vector<SmallTransfers> small;
    std::vector<Syncs> syncs;
    std::vector<ThreadTime> threads;  // those that waited longest
    std::vector<BlockedThread> blocked;
    std::vector<SentAgain> sent_again;
    std::vector<UnseenRing> unseen_rings;
    std::vector<KilledProcess> killed_processes;
    std::vector<GapRow> gaps;
    std::vector<CoverageRow> not_covered;
};

}  // namespace dyetrace::analysis
