#include "capture/capture.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "capture/blind_spots.h"
#include "capture/content.h"
#include "capture/directory_cache.h"
#include "capture/event_rings.h"
#include "capture/grace_period.h"
#include "capture/iterator.h"
#include "capture/kernel_dyes.h"
#include "capture/kernel_filter.h"
#include "capture/kernel_groups.h"
#include "capture/kernel_support.h"
#include "capture/libbpf_log.h"
#include "capture/marked_tasks.h"
#include "capture/payload_rings.h"
#include "capture/program_table.h"
#include "capture/programs.h"
#include "capture/retransmissions.h"
#include "capture/selection.h"
#include "capture/shared_memory.h"
#include "capture/thread_numbers.h"
#include "capture/totals.h"
#include "capture/unseen.h"
#include "capture/wakeups.h"
#include "kernel/abi.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {
namespace {

using base::Error;
using base::ErrorCode;

// From the end of a call, as its event says, to the event's place in the ring: the programs run with preemption off.
constexpr std::uint64_t kProgramNsMax = 1'000'000;
constexpr const char* kEpoll = "epoll";  // a source that has a line where it is not complete

}  // namespace

struct Capture::State {
    Programs programs;
    dyetrace_bpf* skeleton = nullptr;  // theirs
    bool has_loops = false;            // KernelSupport
    std::uint32_t cpus = 0;
    EventRings rings;
    Wakeups wakeups;
    PayloadRings payload;
    Retransmissions retransmissions;
    ThreadNumbers numbers;
    std::vector<Source> sources;
    std::vector<schema::SharedMapping> shared_memory;
    MarkedTasks marks;
    std::uint64_t damaged_bytes = 0;
    std::optional<KernelFilter> filter;
    std::optional<KernelGroups> groups;  // with `filter`
    std::optional<Selection> selection;  // with `filter`
    std::optional<KernelDyes> dyes;
    bool stopped = false;
    std::uint64_t not_run = 0;  // calls that were deferred and never written, or left out
    std::uint64_t complete_ns = 0;

    void find_members(IteratorScope scope);
    void find_shared_memory(IteratorScope scope);
    void hand_out(std::uint32_t cpu,
                  std::span<const std::byte> events,
                  const Sink& sink,
                  const PayloadSink& payload_sink);
    Result<void> attach_program(bpf_program* program, bpf_link** link, const char* name);
    void attach_optional(bpf_program* program, bpf_link** link, const char* name, const char* lack);
};

Capture::Capture(std::unique_ptr<State> state) : state_(std::move(state)) {}
Capture::Capture(Capture&&) noexcept = default;
Capture& Capture::operator=(Capture&&) noexcept = default;
Capture::~Capture() = default;

Result<Capture> Capture::load(const CaptureOptions& options) {
    LibbpfLog::listen();
    auto state = std::make_unique<State>();
    KernelSupport support = KernelSupport::find();
    support.forget(options.lack);
    TRY(state->programs, Programs::open(support));
    state->skeleton = state->programs.skeleton();
    state->has_loops = support.loop;
    dyetrace_bpf& skeleton = *state->skeleton;
    state->marks = MarkedTasks(skeleton);
    state->cpus = static_cast<std::uint32_t>(libbpf_num_possible_cpus());
    skeleton.rodata->cpu_count = state->cpus;
    skeleton.rodata->watch_all = options.watch_all;
    skeleton.rodata->follow_children = options.follow_children;
    skeleton.rodata->preview_bytes = options.preview_bytes;
    skeleton.rodata->filter_loaded = !options.predicate.selects_all() || options.grouping;
    skeleton.rodata->count_only = options.count_only;
    skeleton.rodata->keep_arguments = options.keep_arguments;
    bpf_program__set_autoload(skeleton.progs.drop_task, skeleton.rodata->filter_loaded);
    bpf_program__set_autoload(skeleton.progs.write_selected, skeleton.rodata->filter_loaded);
    bpf_program__set_autoload(skeleton.progs.counted, options.grouping.has_value());
    support.choose(skeleton);
    TRY(choose_content(skeleton, options, support, state->cpus));
    choose_dyes(skeleton, options.look_for_dyes, options.only_dyed);
    state->payload.size_maps(skeleton, options, state->cpus);
#if defined(__x86_64__)
    skeleton.rodata->strong_order = true;
#endif
    state->numbers.prepare(skeleton, options.number_threads);
    state->retransmissions.prepare(skeleton, options, support, state->cpus);
    state->rings.size_maps(skeleton, options, support, state->cpus);
    bpf_map__set_max_entries(skeleton.maps.recent_names, state->cpus * RECENT_NAMES);
    if (options.only_follow) {
        state->programs.leave_out_calls();
    }
    TRY(state->programs.load());
    if (options.only_follow) {
        TRY(state->rings.map(skeleton));
        TRY(state->wakeups.open(skeleton));
        TRY(state->retransmissions.map(skeleton, state->rings.controls(), state->cpus));
        TRY(state->payload.map(skeleton));
        return Capture(std::move(state));
    }
    TRY(put_program(skeleton.maps.entry_programs, PROGRAM_PREPARE, skeleton.progs.prepare));
    TRY(put_program(skeleton.maps.exit_programs, PROGRAM_FOLLOW, skeleton.progs.follow));
    TRY(state->sources, prepare_content(skeleton, options));
    // the borders of calls are looked over in one way for dyes and anchors
    if (options.look_for_dyes || options.content >= schema::ContentLevel::kAnchors) {
        TRY(state->dyes, KernelDyes::install(skeleton, options.only_dyed));
        if (options.content >= schema::ContentLevel::kAnchors) {
            state->dyes->look_for_anchors(anchor_rule(options));
        }
        TRY(state->dyes->look_for(options.dyes));
    }
    TRY(state->rings.map(skeleton));
    TRY(state->wakeups.open(skeleton));
    TRY(state->retransmissions.map(skeleton, state->rings.controls(), state->cpus));
    TRY(state->payload.map(skeleton));
    if (skeleton.rodata->filter_loaded) {
        TRY(state->filter, KernelFilter::install(skeleton, options.predicate, options.host));
        state->selection.emplace(options.predicate, options.host, state->cpus);
    }
    if (options.grouping) {
        TRY(state->groups, KernelGroups::install(skeleton, *state->filter, *options.grouping));
    }
    return Capture(std::move(state));
}

Result<void> Capture::State::attach_program(bpf_program* program,
                                            bpf_link** link,
                                            const char* name) {
    *link = bpf_program__attach(program);
    if (*link != nullptr) {
        sources.push_back({name, schema::CoverageState::kOn, ""});
        return {};
    }
    return LibbpfLog::attach_error(errno, program, name);
}

// Without these, positions are read at exit instead.
void Capture::State::attach_optional(bpf_program* program,
                                     bpf_link** link,
                                     const char* name,
                                     const char* lack) {
    if (!bpf_program__autoload(program)) {
        sources.push_back({name,
                           schema::CoverageState::kOff,
                           fmt::format("this kernel does not have it; {}", lack)});
        return;
    }
    const auto attached = attach_program(program, link, name);
    if (!attached.ok()) {
        sources.push_back({name,
                           schema::CoverageState::kRefused,
                           fmt::format("{}; {}", attached.error().text(), lack)});
    }
}

Result<void> Capture::attach() {
    dyetrace_bpf& skeleton = *state_->skeleton;
    const auto& programs = skeleton.progs;
    auto& links = skeleton.links;
    TRY(state_->attach_program(programs.task_fork, &links.task_fork, "sched_process_fork"));
    TRY(state_->attach_program(programs.task_exec, &links.task_exec, "sched_process_exec"));
    TRY(state_->attach_program(programs.task_exit, &links.task_exit, "sched_process_exit"));
    if (!bpf_program__autoload(programs.sys_exit)) {
        return state_->marks.exclude_again();
    }
    TRY(state_->attach_program(programs.task_switch, &links.task_switch, "sched_switch"));
    TRY(state_->attach_program(programs.signal_deliver, &links.signal_deliver, "signal_deliver"));
    TRY(state_->numbers.attach(skeleton));
    state_->attach_optional(programs.stream_sent,
                            &links.stream_sent,
                            "tcp_sendmsg_locked",
                            "TCP positions of threads that share a socket may be wrong");
    state_->attach_optional(programs.stream_read,
                            &links.stream_read,
                            "tcp_rcv_space_adjust",
                            "TCP positions of threads that share a socket may be wrong");
    bool hides_process = false;
    if (skeleton.rodata->watch_all || skeleton.rodata->watch_retransmissions) {
        hides_process = state_->marks.hides_first_process();
    }
    if (auto source = state_->retransmissions.attach(skeleton, hides_process)) {
        state_->sources.push_back(*std::move(source));
    }
    state_->sources.push_back(find_directory_cache(skeleton));
    for (const BlindSpot& spot : blind_spots()) {
        state_->sources.push_back({std::string(spot.name), spot.state, std::string(spot.reason)});
    }
    if (!state_->has_loops) {
        state_->sources.push_back({"mappings",
                                   schema::CoverageState::kOff,
                                   "which file is mapped where msync, mprotect and munmap act is "
                                   "not seen: this needs bpf_find_vma, of Linux 5.17"});
    }
    if (!skeleton.rodata->read_other_tasks) {
        state_->sources.push_back(
            {"unfinished calls",
             schema::CoverageState::kPartial,
             "this kernel lets no iterator sleep; a call that is under way at "
             "the end has no path and no address"});
    }
    if (skeleton.rodata->watch_all) {
        state_->sources.push_back({"all processes", schema::CoverageState::kOn, ""});
    }
    if (skeleton.rodata->watch_all && hides_process) {
        state_->sources.push_back(
            {"process 1", schema::CoverageState::kOff, "this kernel keeps it from BPF programs"});
    }
    TRY(state_->marks.exclude_again());
    TRY(state_->attach_program(programs.sys_exit, &links.sys_exit, "sys_exit"));
    TRY(state_->attach_program(programs.sys_enter, &links.sys_enter, "sys_enter"));
    if (skeleton.rodata->watch_all) {
        state_->find_members({});
        state_->find_shared_memory({});
        if (has_segments()) {
            mark_segments(skeleton);
        }
    }
    return {};
}

// What is in epoll sets already. Afterwards, not before: what is added meanwhile is seen by the call or here.
void Capture::State::find_members(IteratorScope scope) {
    if (skeleton->rodata->count_only) {
        return;
    }
    std::string lack;
    if (!bpf_program__autoload(skeleton->progs.find_members)) {
        lack = "this kernel does not tell which sets a file is in";
    } else if (const auto walked = run_iterator(skeleton->progs.find_members, scope);
               !walked.ok()) {
        lack = walked.error().text();
    } else if (skeleton->bss->members_left) {
        lack = fmt::format("only {} are remembered", skeleton->bss->members_kept);
    }
    if (!lack.empty()) {
        std::erase_if(sources, [](const Source& source) { return source.name == kEpoll; });
        sources.push_back({kEpoll,
                           schema::CoverageState::kPartial,
                           fmt::format("what was added to a set before the recording, with another "
                                       "word than its descriptor (a pointer), is not always named "
                                       "when it becomes ready: {}",
                                       lack)});
    }
}

// Only where content is looked at: it joins what one process took in to what another one wrote.
void Capture::State::find_shared_memory(IteratorScope scope) {
    if (!bpf_program__autoload(skeleton->progs.find_shared_memory)) {
        return;
    }
    if (const auto found =
            capture::find_shared_memory(skeleton->progs.find_shared_memory, scope, shared_memory);
        !found.ok()) {
        sources.push_back({"shared memory", schema::CoverageState::kOff, found.error().text()});
    }
}

Result<void> Capture::watch(pid_t process) {
    const bool one_thread = !state_->skeleton->rodata->follow_children;
    TRY(state_->marks.mark(process, TASK_WATCHED, one_thread));
    if (!bpf_program__autoload(state_->skeleton->progs.sys_exit)) {
        return {};
    }
    state_->find_members({.process = process, .one_thread = one_thread});
    state_->find_shared_memory({.process = process});
    if (has_segments(process)) {
        mark_segments(*state_->skeleton);
    }
    return {};
}
Result<std::uint32_t> Capture::watched() const {
    return state_->marks.count_watched();
}
Result<void> Capture::watch_held_back(pid_t process) {
    return state_->marks.mark(process, TASK_WATCHED | TASK_CHILD_RETURN);
}
Result<void> Capture::exclude(pid_t process) {
    return state_->marks.exclude(process);
}

Result<void> Capture::stop() {
    dyetrace_bpf& skeleton = *state_->skeleton;
    skeleton.bss->ending = true;
    // the last to go: what a process that is excluded begins until then is excluded
    const std::unique_ptr<bpf_link, decltype(&bpf_link__destroy)> forks(
        std::exchange(skeleton.links.task_fork, nullptr), &bpf_link__destroy);
    dyetrace_bpf__detach(&skeleton);
    wait_for_running_programs();
    if (auto source = state_->retransmissions.finish(skeleton)) {
        state_->sources.push_back(*std::move(source));
    }
    state_->not_run = finish_deferred_calls(skeleton) + times_left_out(skeleton.progs.sys_exit);
    state_->stopped = true;
    if (!bpf_program__autoload(skeleton.progs.sys_exit)) {
        return {};
    }
    TRY(run_iterator(skeleton.progs.finish_calls));
    add_unseen(skeleton, state_->sources);
    if (const std::uint64_t unkept = skeleton.bss->unkept_threads; unkept > 0) {
        state_->sources.push_back(
            {"threads",
             schema::CoverageState::kPartial,
             fmt::format("{} times the kernel refused to keep in mind what a thread does; "
                         "calls of it are missing",
                         unkept)});
    }
    return {};
}

// Those that are selected.
void Capture::State::hand_out(std::uint32_t cpu,
                              std::span<const std::byte> events,
                              const Sink& sink,
                              const PayloadSink& payload_sink) {
    if (!selection) {
        sink(cpu, schema::Stream::kEvents, events);
        return;
    }
    const std::uint64_t decided =
        selection->select(cpu, events, [&](std::span<const std::byte> kept) {
            sink(cpu, schema::Stream::kEvents, kept);
        });
    if (payload_sink.decided) {
        payload_sink.decided(cpu, decided);
    }
}

std::uint64_t Capture::drain(const Sink& sink, const PayloadSink& payload) {
    State& state = *state_;
    const auto begun_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    // a call that its own task writes later ended before that
    const bool all_written = std::atomic_ref(state.skeleton->bss->calls_deferred).load() == 0;
    state.retransmissions.look();
    state.rings.look();
    const auto hand_out = [&](std::uint32_t cpu, std::span<const std::byte> events) {
        state.hand_out(cpu, events, sink, payload);
    };
    const auto take_facts = [&](std::uint32_t cpu, std::span<const std::byte> facts) {
        if (state.dyes) {
            state.dyes->learn(facts);
        }
        if (state.selection) {
            state.selection->learn(facts);
        }
        sink(cpu, schema::Stream::kFacts, facts);
    };
    const auto take_events = [&](std::uint32_t cpu, std::span<const std::byte> events) {
        if (state.dyes) {
            state.dyes->pass_on(cpu, events, hand_out);
        } else {
            hand_out(cpu, events);
        }
    };
    std::uint64_t bytes = 0;
    if (payload.pieces) {
        bytes += state.payload.drain(payload, state.damaged_bytes);
    }
    bytes += state.rings.drain_facts(take_facts, state.damaged_bytes);
    bytes += state.rings.drain_events(take_events, state.damaged_bytes);
    bytes += state.retransmissions.drain(state.damaged_bytes);
    if (state.dyes) {
        state.dyes->join(state.stopped ? UINT64_MAX : begun_ns, state.rings.lost(), hand_out);
    }
    if (all_written) {
        state.complete_ns = begun_ns - std::min(begun_ns, kProgramNsMax);
    }
    return bytes;
}

std::uint64_t Capture::complete_ns() const {
    return state_->complete_ns;
}
KernelDyes* Capture::dyes() {
    return state_->dyes ? &*state_->dyes : nullptr;
}
WatchedTasks Capture::watched_tasks() const {
    return {.map_fd = bpf_map__fd(state_->skeleton->maps.tasks),
            .by_address = !state_->has_loops,
            .all = state_->skeleton->rodata->watch_all};
}

KernelGroups* Capture::groups() {
    return state_->groups ? &*state_->groups : nullptr;
}
const std::vector<schema::Retransmission>& Capture::retransmissions() const {
    return state_->retransmissions.drained();
}
std::uint32_t Capture::cpu_count() const {
    return state_->cpus;
}
std::uint64_t Capture::damaged_bytes() const {
    return state_->damaged_bytes;
}
const std::vector<Source>& Capture::sources() const {
    return state_->sources;
}
const std::vector<std::byte>& Capture::thread_numbers() const {
    return state_->numbers.found();
}
const std::vector<schema::SharedMapping>& Capture::shared_memory() const {
    return state_->shared_memory;
}

Accounting Capture::accounting(std::uint32_t cpu) const {
    const State& state = *state_;
    Accounting sum = state.rings.accounting(cpu);
    sum += state.retransmissions.accounting(cpu);
    if (cpu == 0) {  // those of all CPUs
        sum += {.generated = state.not_run, .lost = state.not_run, .not_run = state.not_run};
    }
    if (state.dyes) {
        sum.leave_out(state.dyes->left_out(cpu));
    }
    if (state.selection) {
        sum.leave_out(state.selection->left_out(cpu));
    }
    return sum;
}

Accounting Capture::accounting() const {
    Accounting sum;
    for (std::uint32_t cpu = 0; cpu < state_->cpus; ++cpu) {
        sum += accounting(cpu);
    }
    return sum;
}
PayloadAccounting Capture::payload_accounting() const {
    return state_->payload.accounting();
}

bool Capture::may_sleep() {
    const bool events = state_->rings.ask_to_be_woken();
    return state_->payload.ask_to_be_woken() && events;
}
int Capture::wakeup_fd() const {
    return state_->wakeups.fd();
}
void Capture::woken() {
    state_->wakeups.heard();
}
double Capture::fill() const {
    return std::max(state_->rings.fill(), state_->payload.fill());
}
Result<std::vector<Total>> Capture::totals() const {
    return read_totals(bpf_map__fd(state_->skeleton->maps.totals), state_->cpus);
}

}  // namespace dyetrace::capture
