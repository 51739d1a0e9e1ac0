#include "recorder/recording.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/clock.h"
#include "base/file.h"
#include "base/version.h"
#include "recorder/background.h"
#include "recorder/command_lines.h"
#include "recorder/command_redactor.h"
#include "recorder/companions.h"
#include "recorder/confine_recorder.h"
#include "recorder/dye_server.h"
#include "recorder/fact_writer.h"
#include "recorder/gap_writer.h"
#include "recorder/listener.h"
#include "recorder/namespace_names.h"
#include "recorder/own_usage.h"
#include "recorder/payload_keeper.h"

namespace dyetrace::recorder {
namespace {

constexpr int kDrainBusyMs = 1;     // short looks find records in the cache and disturb nobody long
constexpr int kDrainIdleMs = 100;   // an idle recorder looks ten times a second
constexpr double kHurryFill = 0.1;  // of the fullest ring: more makes the drain hurry
constexpr double kRelaxFill = 0.01;
constexpr std::int64_t kHurryNs = 200'000'000;  // since a drain: readers are at most 2 s behind
constexpr std::int64_t kFlushNs = trace::kFlushIntervalMs * std::int64_t{1'000'000};
constexpr std::int64_t kFlushLateNs = 10'000'000;  // then the flush hurries, too
constexpr std::int64_t kTickNs = 1'000'000'000;

}  // namespace

struct Recording::State {
    RecordingOptions options;
    trace::TraceFolder folder;
    Listener listener;
    std::optional<trace::SegmentWriter> writer = std::nullopt;
    std::optional<FactWriter> facts = std::nullopt;
    std::optional<GapWriter> gaps = std::nullopt;
    std::optional<DyeServer> dyes = std::nullopt;
    std::optional<NamespaceNames> namespaces = std::nullopt;  // with --node-by=netns
    CommandRedactor commands{options.secrets};
    CommandLines command_lines{options.capture.keep_arguments};
    std::unique_ptr<PayloadKeeper> payload = nullptr;    // with --content=bytes
    std::optional<ProbeRecorder> probes = std::nullopt;  // with --probe
    std::optional<trace::PayloadTotals> payload_totals = std::nullopt;
    std::int64_t ticked_ns = 0;
    // read by the thread of Background, too
    std::atomic<std::int64_t> drained_ns = 0, flushed_ns = 0;
    std::vector<capture::Accounting> last_accounting = {};  // by CPU, at the end: one count for all
    std::size_t sources_written = 0;
    std::optional<Error> failure = std::nullopt;
    std::vector<std::byte> trailer_facts = {};  // facts after the writer failed

    Result<void> begin();
    void abandon();
    void loop();
    bool must_hurry(bool hurrying) const;
    std::uint64_t drain();
    std::uint64_t write_probes();
    void take(std::uint32_t cpu, schema::Stream stream, std::span<const std::byte> records);
    Result<void> append(std::uint32_t cpu,
                        schema::Stream stream,
                        std::span<const std::byte> records);
    Result<void> append_fact(std::span<const std::byte> record);
    Result<void> write_sources();
    std::uint32_t own_cpu() const { return listener.capture().cpu_count(); }
    std::uint32_t accounted_cpus() const;
    capture::Accounting accounting_now(std::uint32_t cpu) const;
    capture::Accounting accounting(std::uint32_t cpu) const;
    capture::Accounting accounting() const;
    void write_losses();
    void write_names(bool now);
    void flush();
    int ms_until_flush() const;
    void tick();
    Result<void> finish();
    void finish_payload();
    Result<void> write_trailer();
    Summary summary() const;
    void note(const Result<void>& result);
};

Recording::Recording(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

Result<Recording> Recording::start(RecordingOptions options) {
    TRY(trace::TraceFolder::expect_free(options.trace_path));
    TRY(trace::Host host, trace::this_host());
    host.name = options.host_name.empty() ? host.name : options.host_name;
    if (options.test_clock) {  // it stands for another machine
        host.boot_id += " with the clock of " + host.name;
    }
    const std::uint32_t own_namespace = host.network_namespace;
    host.node_by = options.node_by;
    host.index = options.host_index;
    DyeSet dyes;
    for (const capture::Dye& dye : options.dyes) {
        TRY(dyes.add(dye));
    }
    capture::CaptureOptions listen = options.capture;
    listen.host = host.name;
    listen.dyes = dyes.patterns();
    listen.watch_retransmissions = !listen.only_dyed;  // whose bytes they are is not known
    if (!options.probes.probes.empty()) {
        TRY(listen.predicate, ProbeRecorder::without_its_calls(listen.predicate));
    }
    PayloadKeeper::prepare(listen, options.secrets);
    TRY(Listener listener, Listener::start(options.targets, listen));
    std::optional<ProbeRecorder> probes;
    if (!options.probes.probes.empty()) {
        TRY(probes, ProbeRecorder::load(options.probes, listener.capture().watched_tasks()));
    }
    trace::TraceInfo info;
    info.program = "dyetrace " + std::string(base::kVersion);
    info.options = options.as_given;
    info.hosts.push_back(std::move(host));
    ::umask(options.group ? 0027 : 0077);  // the command was started before: it has its own
    TRY(trace::TraceFolder folder,
        trace::TraceFolder::create(options.trace_path, std::move(info), options.group));
    // the writer refers to the folder, which has to be in its final place first
    std::unique_ptr<State> state(
        new State{std::move(options), std::move(folder), std::move(listener)});
    trace::SegmentWriterOptions write;
    write.limits.records_max = state->options.segment_records;
    auto writer =
        trace::SegmentWriter::create(state->folder, state->options.host_index, std::move(write));
    if (!writer.ok()) {
        state->folder.discard();
        return std::move(writer).error();
    }
    state->writer.emplace(std::move(writer).value());
    const std::uint32_t cpus = state->listener.capture().cpu_count();
    if (state->options.capture.content == schema::ContentLevel::kBytes) {
        auto payload = PayloadKeeper::create(state->options, cpus);
        if (!payload.ok()) {
            state->folder.discard();
            return std::move(payload).error();
        }
        state->payload = std::move(payload).value();
    }
    state->facts.emplace([state = state.get()](std::span<const std::byte> record) {
        return state->append_fact(record);
    });
    if (state->options.capture.look_for_dyes) {
        state->dyes.emplace(std::move(dyes), *state->listener.capture().dyes(), *state->facts);
    }
    state->gaps.emplace(*state->facts, cpus + 1);
    state->probes = std::move(probes);
    if (state->options.node_by == "netns") {
        state->namespaces.emplace(own_namespace);
    }
    return Recording(std::move(state));
}

// The first failure of the trace ends the recording; the command goes on.
void Recording::State::note(const Result<void>& result) {
    if (!result.ok() && !failure) {
        failure = result.error();
        listener.stop();
    }
}

Result<void> Recording::State::begin() {
    TRY(options.control.await_go(listener));
    drained_ns = base::boot_time_ns();
    flushed_ns = drained_ns.load();
    TRY(listener.attach());
    TRY(write_sources());
    if (probes) {
        TRY(probes->attach(*facts, [this](std::span<const std::byte> event) {
            return append(own_cpu(), schema::Stream::kEvents, event);
        }));
    }
    for (const schema::SharedMapping& mapping : listener.capture().shared_memory()) {
        TRY(facts->write_shared_mapping(mapping));
    }
    if (dyes) {
        TRY(dyes->open(options.trace_path));
    }
    tick();
    options.control.say_listening();
    return listener.release();
}

// Nothing was recorded: a second try finds no folder in its way.
void Recording::State::abandon() {
    (void)listener.end();
    dyes.reset();
    writer.reset();
    folder.discard();
}

std::uint64_t Recording::State::drain() {
    const std::int64_t now = base::boot_time_ns();
    write_losses();
    if (probes) {
        probes->collect();
    }
    std::uint64_t bytes = listener.capture().drain(
        [this](std::uint32_t cpu, schema::Stream stream, std::span<const std::byte> records) {
            take(cpu, stream, records);
        },
        payload ? payload->sink() : capture::PayloadSink());
    if (dyes) {
        note(dyes->write_crossings());
    }
    if (const capture::KernelDyes* looked = listener.capture().dyes(); looked != nullptr) {
        for (const schema::Anchor& anchor : looked->anchor_crossings()) {
            note(facts->write_anchor(anchor));
        }
    }
    for (const schema::Retransmission& sent : listener.capture().retransmissions()) {
        note(facts->write_retransmission(sent));
    }
    if (payload) {
        note(payload->write_until(static_cast<std::uint64_t>(now)));
    }
    bytes += write_probes();
    writer->complete_until(
        std::min(listener.capture().complete_ns(), probes ? probes->complete_ns() : UINT64_MAX));
    drained_ns = now;
    write_names(false);
    return bytes;
}

// Those that were collected: the capture has said by now who they are.
std::uint64_t Recording::State::write_probes() {
    if (!probes) {
        return 0;
    }
    auto written = probes->write(*facts, [this](std::string text) {
        return commands.is_idle() ? text : commands.hidden({std::move(text)})[0];
    });
    if (!written.ok()) {
        note(written.error());
    }
    return written.ok() ? written.value() : 0;
}

void Recording::State::take(std::uint32_t cpu,
                            schema::Stream stream,
                            std::span<const std::byte> records) {
    if (stream == schema::Stream::kFacts) {
        if (payload) {
            payload->join().take_facts(records);
        }
        if (namespaces) {
            namespaces->learn(records);
        }
        command_lines.learn(records);
        records = commands.apply(records);
    } else if (payload) {
        payload->join().take_events(cpu, records);
    }
    note(append(cpu, stream, records));
}

Result<void> Recording::State::append_fact(std::span<const std::byte> record) {
    if (writer->failed()) {
        trailer_facts.insert(trailer_facts.end(), record.begin(), record.end());
        return {};
    }
    return append(own_cpu(), schema::Stream::kFacts, commands.apply(record));
}

Result<void> Recording::State::append(std::uint32_t cpu,
                                      schema::Stream stream,
                                      std::span<const std::byte> records) {
    return writer->append(
        cpu, stream, options.test_clock ? options.test_clock->apply(records) : records);
}

// Those that are not in the trace yet: some are known at the end only.
Result<void> Recording::State::write_sources() {
    const std::vector<capture::Source>& sources = listener.capture().sources();
    for (; sources_written < sources.size(); ++sources_written) {
        TRY(facts->write_coverage(sources[sources_written]));
    }
    return {};
}

// The recorder's own number comes after those of CPUs: of events that it makes itself.
std::uint32_t Recording::State::accounted_cpus() const {
    return own_cpu() + (probes ? 1 : 0);
}

capture::Accounting Recording::State::accounting_now(std::uint32_t cpu) const {
    return cpu == own_cpu() ? probes->accounting() : listener.capture().accounting(cpu);
}

// It includes what the disk did not take of what was handed out; all of it is known when the rings are drained for the last time.
// Retransmissions are facts, which the trailer may hold.
capture::Accounting Recording::State::accounting(std::uint32_t cpu) const {
    capture::Accounting sum = last_accounting.empty() ? accounting_now(cpu) : last_accounting[cpu];
    if (writer->failed()) {
        sum.fail_to_write(sum.delivered - sum.retransmissions - writer->events_of(cpu));
    }
    return sum;
}

capture::Accounting Recording::State::accounting() const {
    capture::Accounting sum;
    for (std::uint32_t cpu = 0; cpu < accounted_cpus(); ++cpu) {
        sum += accounting(cpu);
    }
    return sum;
}

// What was lost since the rings were last emptied is a gap that began no earlier than that.
void Recording::State::write_losses() {
    for (std::uint32_t cpu = 0; cpu < accounted_cpus(); ++cpu) {
        note(gaps->write_losses(
            cpu, accounting_now(cpu), static_cast<std::uint64_t>(drained_ns.load())));
    }
}

void Recording::State::write_names(bool now) {
    if (namespaces && !failure) {
        note(namespaces->look(now, [this](std::uint32_t inode, std::string_view name) {
            return facts->write_namespace_name(inode, name);
        }));
    }
}

// Once the disk takes no more, the trailer says it all, once: its room is small.
void Recording::State::tick() {
    ticked_ns = base::boot_time_ns();
    if (writer->failed()) {
        return;
    }
    write_names(true);
    note(command_lines.look(false, *facts));
    note(facts->write_clocks());
    for (std::uint32_t cpu = 0; cpu < accounted_cpus(); ++cpu) {
        note(facts->write_accounting(cpu, accounting(cpu)));
    }
}

void Recording::State::flush() {
    note(writer->flush());
    flushed_ns = drained_ns.load();
    if (payload) {
        note(payload->flush());
    }
}

int Recording::State::ms_until_flush() const {
    const std::int64_t left_ns = kFlushNs - (base::boot_time_ns() - flushed_ns);
    return static_cast<int>(std::max<std::int64_t>(left_ns, 0) / 1'000'000 + 1);
}

bool Recording::State::must_hurry(bool hurrying) const {
    return listener.capture().fill() > (hurrying ? kRelaxFill : kHurryFill) ||
           base::boot_time_ns() - drained_ns > kHurryNs ||
           base::boot_time_ns() - flushed_ns > kFlushNs + kFlushLateNs;
}

void Recording::State::loop() {
    const Background background([this](bool hurrying) { return must_hurry(hurrying); },
                                listener.capture().wakeup_fd());
    int wait_ms = kDrainBusyMs;
    while (!listener.ended()) {
        listener.wait(std::min(wait_ms, ms_until_flush()));
        const std::uint64_t bytes = drain();
        wait_ms = bytes > 0 ? kDrainBusyMs : std::min(wait_ms * 2, kDrainIdleMs);
        if (dyes) {
            dyes->serve();
        }
        if (base::boot_time_ns() - flushed_ns >= kFlushNs) {
            flush();
        }
        if (base::boot_time_ns() - ticked_ns >= kTickNs) {
            tick();
        }
    }
}

void Recording::State::finish_payload() {
    if (!payload) {
        return;
    }
    auto totals = payload->finish(listener.capture());
    if (totals.ok()) {
        payload_totals = totals.value();
    } else {
        note(std::move(totals).error());
    }
}

Result<void> Recording::State::finish() {
    const bool is_early = failure.has_value();
    if (dyes) {
        dyes->close();
    }
    if (probes) {
        probes->detach();
    }
    note(listener.end());
    drain();
    note(gaps->write_not_run(listener.capture().accounting(),
                             static_cast<std::uint64_t>(listener.started_ns())));
    for (std::uint32_t cpu = 0; cpu < accounted_cpus(); ++cpu) {
        last_accounting.push_back(accounting_now(cpu));
    }
    if (dyes) {
        note(dyes->write_lack());
    }
    note(write_sources());
    if (is_early && !writer->failed()) {
        note(gaps->write_early_end(
            *failure, accounting(), static_cast<std::uint64_t>(drained_ns.load())));
    }
    finish_payload();
    if (!writer->failed()) {
        note(command_lines.look(true, *facts));
        tick();
        note(writer->close());
    }
    if (writer->failed()) {
        TRY(write_trailer());
    }
    TRY(folder.finish());
    return failure ? Result<void>(*failure) : Result<void>();
}

Result<void> Recording::State::write_trailer() {
    TRY(gaps->write_early_end(*writer->failure(), accounting(), writer->kept_until_ns()));
    for (std::uint32_t cpu = 0; cpu < accounted_cpus(); ++cpu) {
        TRY(facts->write_accounting(cpu, accounting(cpu)));
    }
    return writer->write_trailer(static_cast<std::uint16_t>(own_cpu()), trailer_facts);
}

Summary Recording::State::summary() const {
    Summary result;
    const capture::Accounting counted = accounting();
    result.generated = counted.generated;
    result.lost = counted.lost_by_rings();
    result.unwritten = counted.unwritten;
    result.not_run = counted.not_run;
    result.filtered = counted.filtered;
    result.facts_lost = counted.facts_lost;
    result.events = writer->totals().events - writer->totals().followers;
    result.elapsed_ns = static_cast<std::uint64_t>(base::boot_time_ns() - listener.started_ns());
    result.own_cpu_ns = recorder::own_cpu_ns();
    result.own_memory_bytes = recorder::own_memory_bytes();
    result.dye_hits = dyes ? dyes->hits_text() : "";
    result.payload = payload_totals;
    if (probes) {
        result.probed = accounting(own_cpu()).delivered;
        result.probes_lost = accounting(own_cpu()).lost_by_rings();
        result.probes_missed = probes->missing();
    }
    result.not_seen = listener.unseen();
    return result;
}

Result<Summary> Recording::run(const base::Log& log, Companions& companions) {
    State& state = *state_;
    if (Result<void> begun = state.begin(); !begun.ok()) {
        state.abandon();
        return begun.error();
    }
    if (state.options.seal) {
        companions.start_sealer();
    }
    if (state.options.show_page) {
        companions.start_page();
    }
    confine_recorder(log, state.options.trace_path, state.options.probes.stacks.of_user);
    state.loop();
    const Result<void> finished = state.finish();
    Summary summary = state.summary();
    if (!finished.ok()) {
        state.folder.leave();
        log.fail(finished.error().with_context(fmt::format(
            "the recording stopped early{}; events from {} on are missing",
            state.options.targets.command.empty() ? "" : ", the command goes on",
            base::time_of_day(static_cast<std::int64_t>(state.writer->kept_until_ns())))));
        summary.failed = true;
    }
    summary.stored_bytes = base::bytes_in_folder(state.options.trace_path);
    return summary;
}

std::optional<int> Recording::await_command() {
    return state_->listener.command_status();
}

}  // namespace dyetrace::recorder
