// Listens to the kernel: loads the programs, attaches what this kernel allows, hands out what they write.
//
//   TRY(Capture capture, Capture::load(options));     programs are in the kernel, nothing is attached
//   TRY(capture.exclude(getpid()));                    the recorder's own I/O is not recorded
//   TRY(capture.attach());
//   TRY(capture.watch(child));                         with all its threads and its later children
//   while (...) capture.drain(sink);                   facts of all CPUs, then events of all CPUs
//   TRY(capture.stop());                               detaches; what is still under way becomes unfinished events
//   capture.drain(sink);
//
// An event refers to facts (who, which object) that were written before it. drain() looks at where the event rings end
// before it reads the facts, so that no event reaches the sink before its facts.
//
// Limits: one thread. Memory: rings of all CPUs, and the maps of src/kernel.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/accounting.h"
#include "capture/dye_table.h"
#include "content/anchor.h"
#include "content/fingerprint.h"
#include "filter/grouping.h"
#include "filter/predicate.h"
#include "kernel/abi.h"
#include "schema/record_info.h"

namespace dyetrace::capture {

inline constexpr std::uint64_t kEventRingBytesDefault =
    16u << 20;  // per CPU: a third of a second at 250,000 events/s
inline constexpr std::uint64_t kEventRingBytesMin = 64u << 10;  // four of the largest records
inline constexpr std::uint64_t kEventRingBytesMax =
    512u << 20;  // the verifier allows no offset above 1 << 29
inline constexpr std::uint64_t kPayloadRingBytesDefault =
    64u << 20;  // per CPU: what a core writes to memory files in some 20 ms
inline constexpr std::uint64_t kPayloadRingBytesMin = 1u << 20;  // fifteen of the largest pieces
inline constexpr std::uint64_t kFactRingBytes = 4u << 20;        // per CPU: 40,000 announcements

inline constexpr std::uint32_t kPreviewBytesMax = PREVIEW_BYTES_MAX;

// What tests take for missing, and with it all that came later: of task work, of bpf_rdonly_cast, of bpf_loop.
enum class Lack { kNothing, kTaskWork, kCasts, kLoops };

class KernelDyes;
class KernelGroups;

struct CaptureOptions {
    bool watch_all = false;  // every task, else those given to watch()
    bool follow_children =
        true;  // and all threads; else a watched process is one thread, by its tid
    std::uint32_t preview_bytes =
        0;  // up to kPreviewBytesMax: show so much of each buffer, and structures; 0: neither
    filter::Predicate predicate = {};  // only what it selects is handed out, see selection.h
    std::string host = {};             // as the predicate's column of that name says it
    // Events are counted in place of being handed out, where the kernel can; its condition is the predicate. See groups().
    std::optional<filter::Grouping> grouping = {};
    schema::ContentLevel content = schema::ContentLevel::kNone;
    std::optional<content::ContentKey> content_key = {};
    std::uint32_t anchor_distance = ANCHOR_DISTANCE_DEFAULT;  // bytes; with content anchors
    bool look_for_dyes = false;                               // at any level of content
    std::vector<DyePattern> dyes = {};                        // the first ones, see dyes()
    bool only_dyed = false;                                   // events without a dye are filtered
    std::uint64_t payload_bytes_max = UINT64_MAX;  // of a call; with ContentLevel::kBytes
    bool keep_arguments = true;                    // of programs: the command line
    bool watch_retransmissions = false;            // see retransmissions()
    bool number_threads = false;                   // see thread_numbers()
    bool only_follow = false;  // who is watched, and nothing of what they do; see watched_tasks()
    bool count_only = false;   // add up in the kernel, see totals(), instead of writing events
    Lack lack = Lack::kNothing;
    std::uint64_t event_ring_bytes =
        kEventRingBytesDefault;  // per CPU; rounded up to a power of two
    std::uint64_t fact_ring_bytes = kFactRingBytes;
    std::uint64_t payload_ring_bytes =
        kPayloadRingBytesDefault;  // per CPU; rounded up to a power of two
};

// What was counted for one process, call and class; with count_only.
struct Total {
    std::uint32_t pid = 0;
    std::uint16_t syscall = 0;
    schema::Abi abi = schema::Abi::kX8664;
    schema::Class event_class = schema::Class::kOther;
    std::uint64_t calls = 0;
    std::uint64_t errors = 0;  // without those that say that it would have to wait
    std::uint64_t would_wait = 0;
    std::uint64_t bytes = 0;
    std::uint64_t duration_ns = 0;
    std::uint64_t off_cpu_ns = 0;
    std::uint64_t duration_max_ns = 0;
    std::vector<std::uint64_t> histogram;

    // Upper end of the bucket that holds this share (0 to 1) of the calls: at most a quarter too high.
    std::uint64_t percentile_ns(double share) const;
};

// A source of events and whether it could be attached.
struct Source {
    std::string name;
    schema::CoverageState state = schema::CoverageState::kOn;
    std::string reason;
};

// Where programs of others look up who is watched: storage of tasks, each with a task_state (kernel/abi.h).
struct WatchedTasks {
    int map_fd = -1;
    bool by_address = false;  // a hash of the task's address instead
    bool all = false;         // all that are not excluded
};

using Sink = std::function<void(
    std::uint32_t cpu, schema::Stream stream, std::span<const std::byte> records)>;

struct PayloadSink {
    // Whole pieces of payload (kernel/abi.h).
    std::function<void(std::uint32_t cpu, std::span<const std::byte> pieces)> pieces;
    // The predicate has decided about all events of this CPU with smaller sequence numbers: the payload of those that were not
    // handed out by now is nobody's. Called only if there is a predicate.
    std::function<void(std::uint32_t cpu, std::uint64_t sequence)> decided;
};

class Capture {
  public:
    // kPermissionDenied or kUnsupported with what to do about it.
    static Result<Capture> load(const CaptureOptions& options);

    Capture(Capture&&) noexcept;
    Capture& operator=(Capture&&) noexcept;
    ~Capture();

    Result<void> attach();
    // A number in this process's pid namespace. kUnsupported: it is there, but this kernel keeps it from BPF programs.
    Result<void> watch(pid_t process);
    // Threads that live of those, and of their children. Looks at every task of the system.
    Result<std::uint32_t> watched() const;
    // A process that waits in a call of ours before its execve: the rest of that call is not recorded.
    Result<void> watch_held_back(pid_t process);
    // Before attach(): then not a single call of it is recorded, whatever threads it makes.
    Result<void> exclude(pid_t process);
    Result<void> stop();

    // Returns the bytes handed out; 0 when there was nothing.
    // With ContentLevel::kBytes `payload` gets the payload of all events that come in the same drain, and maybe of later
    // ones, before them.
    std::uint64_t drain(const Sink& sink, const PayloadSink& payload = {});
    // Every event that ended before has been handed out by the last drain(), or is lost and counted.
    std::uint64_t complete_ns() const;
    // nullptr unless it looks for dyes or anchors. Its look_for(), if for dyes, is for everybody, and after a drain() what it found.
    KernelDyes* dyes();
    // nullptr without a grouping. Its take() has what the kernel has counted; drain() hands out the events that it could not count.
    KernelGroups* groups();
    // What TCP sent again, as the last drain() found it; no part of what its sink gets.
    const std::vector<schema::Retransmission>& retransmissions() const;

    // Valid as long as this is.
    WatchedTasks watched_tasks() const;

    std::uint32_t cpu_count() const;
    Accounting accounting(std::uint32_t cpu) const;
    Accounting accounting() const;  // of all CPUs
    PayloadAccounting payload_accounting() const;
    // Before its thread sleeps until wakeup_fd() is readable, or for a time: false if a ring is so full that there is no time to sleep.
    bool may_sleep();
    // Readable when a ring filled up past a share of its size since may_sleep(); until woken(). Any thread may poll it.
    int wakeup_fd() const;
    void woken();
    // Fullest ring of events or payload, from 0 to 1: how soon to look again.
    double fill() const;
    // Bytes in rings that were no record; always 0 unless memory was damaged.
    std::uint64_t damaged_bytes() const;
    // After stop() there are more: what the programs could not see, which shows only then.
    const std::vector<Source>& sources() const;
    // What processes that were there already share; none unless content is looked at.
    const std::vector<schema::SharedMapping>& shared_memory() const;
    // A schema::ThreadNumber for each number of each thread of the system that was there when it was attached; what comes later
    // comes with the facts. None unless number_threads is set.
    const std::vector<std::byte>& thread_numbers() const;
    // All totals since load(), summed over CPUs, by (pid, abi, syscall, class).
    Result<std::vector<Total>> totals() const;

  private:
    struct State;
    explicit Capture(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace dyetrace::capture
