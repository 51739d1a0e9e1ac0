#include "importer/falcon_import.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "importer/json_objects.h"

namespace dyetrace::importer {
namespace {

constexpr std::uint32_t kPidMax = (1u << 22) - 1;  // of a task's id
constexpr std::uint32_t kNamelessFirst = 4'000'000;

std::optional<std::uint32_t> number_of(std::string_view name) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    const bool is_number = error == std::errc() && end == name.data() + name.size();
    return is_number && number > 0 && number <= kPidMax ? std::optional(number) : std::nullopt;
}

}  // namespace

FalconImport::FalconImport(ImportedTrace& trace,
                           Problems& problems,
                           const LogOptions& options,
                           std::size_t held_max)
    : trace_(&trace),
      problems_(&problems),
      options_(&options),
      held_max_(held_max),
      order_([this](const FalconPassed& passed) { return pass(passed); }) {}

Result<void> FalconImport::read(TextInput& input) {
    files_.push_back(input.name());
    JsonObjects objects(input);
    std::optional<TimeUnit> unit = options_->time_unit;
    for (;;) {
        TRY(const std::optional<JsonText> object, objects.next());
        if (!object) {
            return {};
        }
        const Place place{files_.back(), object->line};
        if (object->text.empty()) {
            problems_->add_lost(object->damage, place);
            continue;
        }
        Result<FalconEvent> parsed = parse_falcon_event(object->text);
        if (!parsed.ok()) {
            problems_->add_lost(parsed.error().message(), place);
            continue;
        }
        FalconEvent event = std::move(parsed).value();
        event.line = object->line;
        event.file = static_cast<std::uint16_t>(files_.size() - 1);
        if (!unit) {
            unit = unit_of(event);
        }
        TRY(take(std::move(event), *unit));
    }
}

Result<void> FalconImport::take(FalconEvent event, TimeUnit unit) {
    const Place place{files_[event.file], event.line};
    TRY(event.host_number, host_of(event, unit));
    const auto time_ns = time_on(hosts_[event.host_number].clock, event.timestamp, unit);
    if (!time_ns) {
        problems_->add_lost("a timestamp that cannot be one of its host's clock", place);
        return {};
    }
    event.time_ns = *time_ns;
    order_.add(std::move(event));
    return order_.held() > held_max_ ? order_.pass_one() : Result<void>();
}

Result<std::uint32_t> FalconImport::host_of(const FalconEvent& event, TimeUnit unit) {
    const auto [found, is_new] =
        host_numbers_.try_emplace(event.host, static_cast<std::uint32_t>(hosts_.size()));
    if (is_new) {
        if (hosts_.size() == trace::kHostsMax) {
            return Error(ErrorCode::kLimitReached,
                         fmt::format("{}:{}: more than {} hosts; is it a log of Falcon?",
                                     files_[event.file],
                                     event.line,
                                     trace::kHostsMax));
        }
        Host& host = hosts_.emplace_back();
        host.name = event.host;
        host.clock = clock_from(time_on({}, event.timestamp, unit).value_or(0));
    }
    return found->second;
}

Result<void> FalconImport::finish() {
    has_ended_ = true;
    while (order_.held() > 0) {
        TRY(order_.pass_one());
    }
    if (!has_begun_) {
        return Error(ErrorCode::kCorrupt,
                     fmt::format("no event of Falcon or CaT in {}", fmt::join(files_, ", ")));
    }
    for (Host& host : hosts_) {
        if (host.writer != nullptr) {
            say_coverage(host);
        }
    }
    for (Host& host : hosts_) {  // what is lost has no host: the first one's accounting has it
        if (host.writer != nullptr) {
            host.writer->count_lost(problems_->lost());
            break;
        }
    }
    return {};
}

// Whether there is more than one host is known when all is read; else parts are right for any number.
Result<void> FalconImport::make_host(Host& host) {
    if (!has_begun_ && (hosts_.size() > 1 || !has_ended_)) {
        TRY(trace_->use_parts());
    }
    has_begun_ = true;
    TRY(host.writer, trace_->add_host(host.name, host.clock.wall_offset_ns));
    return {};
}

Result<FalconPlace> FalconImport::pass(const FalconPassed& passed) {
    const FalconEvent& event = passed.event;
    Host& host = hosts_[event.host_number];
    if (host.writer == nullptr) {
        TRY(make_host(host));
    }
    look_for_doubts(passed);
    ++host.counts[event.type];
    const std::uint32_t context = context_of(event, host, passed.time_ns);
    const std::uint64_t sequence = write(passed, host, context);
    write_edges(passed, host, sequence);
    TRY(host.writer->flush_if_full());
    return FalconPlace{event.host_number, sequence, passed.time_ns};
}

void FalconImport::look_for_doubts(const FalconPassed& passed) {
    const Place place{files_[passed.event.file], passed.event.line};
    if (passed.is_forced) {
        problems_->add_doubt("an event that was before another one and after it, by Falcon's rules",
                             place);
    }
    if (passed.is_late) {
        problems_->add_doubt("an event too far behind later ones of its thread", place);
    }
    if (passed.time_ns != passed.event.time_ns) {
        ++moved_;
        moved_ns_max_ = std::max(moved_ns_max_, passed.time_ns - passed.event.time_ns);
    }
}

void FalconImport::begin_thread(const FalconEvent& event,
                                Host& host,
                                Thread& thread,
                                std::uint64_t time_ns) {
    const std::string_view name = name_before_at(event.thread);
    const auto number = number_of(name);
    thread.facts.tid = number ? *number : kNamelessFirst + ++host.nameless_threads % 190'000;
    thread.facts.thread_start_ns = time_ns;
    thread.facts.comm = number ? "" : std::string(name.substr(0, 15));
    if (const auto parent = parents_.find(event.thread); parent != parents_.end()) {
        thread.facts.ppid = parent->second.pid;
        thread.facts.parent_start_ns = parent->second.start_ns;
    }
}

// Which threads are one process is in the log only where CaT wrote it.
std::uint32_t FalconImport::context_of(const FalconEvent& event,
                                       Host& host,
                                       std::uint64_t time_ns) {
    Thread& thread = threads_[event.thread];
    if (thread.facts.tid == 0) {
        begin_thread(event, host, thread, time_ns);
    }
    TaskFacts facts = thread.facts;
    facts.pid = event.pid && *event.pid <= kPidMax ? *event.pid : facts.tid;
    facts.process_start_ns =
        host.process_starts.try_emplace(facts.pid, facts.thread_start_ns).first->second;
    if (!event.comm.empty()) {
        facts.comm = event.comm;
    }
    if (event.type == FalconType::kCreate) {
        parents_[event.child] = {facts.pid, facts.process_start_ns};
    }
    if (thread.context == 0 || facts != thread.facts) {
        thread.facts = facts;
        thread.context = host.writer->announce(facts, time_ns);
    }
    return thread.context;
}

void FalconImport::write_edges(const FalconPassed& passed, Host& host, std::uint64_t sequence) {
    for (const FalconPlace& giver : passed.after) {
        schema::ImportEdge edge{};
        edge.from_sequence = giver.event;
        edge.to_sequence = sequence;
        edge.from_host = hosts_[giver.host_number].writer->host().index;
        host.writer->add_fact(edge);
    }
}

void FalconImport::say_coverage(Host& host) const {
    using schema::CoverageState;
    HostWriter& writer = *host.writer;
    std::string counts;
    for (const auto& [type, count] : host.counts) {
        counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, name_of(type));
    }
    writer.say_coverage(
        "import",
        CoverageState::kPartial,
        fmt::format("from {}, logs of Falcon or CaT: {}", fmt::join(files_, ", "), counts));
    writer.say_coverage("calls",
                        CoverageState::kPartial,
                        "the log has kinds of events, not calls: SND stands as sendto, RCV as "
                        "recvfrom, WR as write or "
                        "pwrite64, RD as read or pread64, FSYNC as fsync; arguments, durations, "
                        "CPUs and users are not in it");
    writer.say_coverage("content",
                        CoverageState::kOff,
                        "CaT's signatures cannot be compared with fingerprints, and are left out");
    if (!host.clock.has_wall_clock) {
        writer.say_coverage(
            "wall clock", CoverageState::kOff, "the log has no date: times are of 1970");
    }
    if (moved_ > 0) {
        writer.say_coverage("import: times",
                            CoverageState::kPartial,
                            fmt::format("{} events of the logs stand later than they say, by {} ns "
                                        "at most: they come after others "
                                        "whose timestamps are not earlier",
                                        moved_,
                                        moved_ns_max_));
    }
    for (const Problem& problem : problems_->all()) {
        writer.say_coverage(problem.loses_event ? "import: lost" : "import: in doubt",
                            CoverageState::kPartial,
                            text_of(problem));
    }
}

}  // namespace dyetrace::importer
