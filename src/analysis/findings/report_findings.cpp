#include "analysis/findings/report_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "base/text.h"
#include "schema/flags.h"

namespace dyetrace::analysis {
namespace {

// A finding is one when somebody would change something because of it.
constexpr double kSyncShareMin = 0.1;             // of the process's time
constexpr std::uint64_t kSyncNsMin = 10'000'000;  // 10 ms
constexpr double kFailedShareMin = 0.2;           // of the calls of that name
constexpr std::uint64_t kFailedMin = 50;
constexpr double kTooEarlyShareMin = 0.9;  // below that it waits in between, as it should
constexpr std::uint64_t kTooEarlyMin = 1'000;
constexpr std::uint64_t kOpensMin = 20;
constexpr double kBlockedShareMin = 0.5;             // of the thread's time, waiting for files
constexpr std::uint64_t kBlockedNsMin = 10'000'000;  // 10 ms
constexpr std::uint64_t kBufferBytes = 64 * 1024;    // what a usual buffer holds
constexpr double kSentAgainShareMin = 0.01;          // of the bytes that were sent

// What many calls have to cost together.
constexpr std::uint64_t kCostNsMin = 1'000'000;  // 1 ms
constexpr double kCostShareMin = 0.01;  // of the time in which the processes did not wait, or
constexpr double kUsualShareMin = 0.1;  // of it, where programs are known to do so
constexpr std::uint64_t kCostNsEnough = 100'000'000;  // 100 ms of processes however long

// Answers that programs expect: to a probe, of what waits, at the end of something.
constexpr std::string_view kExpectedErrors[] = {"ENOTTY",
                                                "ENODATA",
                                                "EINPROGRESS",
                                                "EALREADY",
                                                "EISCONN",
                                                "EINTR",
                                                "ENOSYS",
                                                "EOPNOTSUPP",
                                                "ESPIPE",
                                                "ENXIO",
                                                "ERANGE",
                                                "ECHILD"};
// What is no fault either, but costs something when it is asked for again and again.
constexpr std::string_view kUsualErrors[] = {"ENOENT",
                                             "ENOTDIR",
                                             "EEXIST",
                                             "ENOTEMPTY",
                                             "EISDIR",
                                             "ESRCH",
                                             "EBADF",
                                             "ELOOP",
                                             "EINVAL",
                                             "EAGAIN",
                                             "ENOTCONN"};

double share_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

// "sqlite3[4711]": 4711; of several hosts "db1:sqlite3[4711]": 4711 of db1.
Proof proof_of(const Report& report, std::string_view task) {
    Proof proof;
    const std::size_t open = task.rfind('[');
    if (open != std::string_view::npos) {
        std::from_chars(task.data() + open + 1, task.data() + task.size(), proof.task);
    }
    if (report.overview.hosts > 1) {
        proof.host = std::string(task.substr(0, task.find(':')));
    }
    return proof;
}

Proof proof_on_path(const Report& report, std::string_view task, const std::string& path) {
    Proof proof = proof_of(report, task);
    proof.path = path;
    return proof;
}

// One that may be folded with others: what has the same key is said once, of the one that costs most.
struct Candidate {
    Finding finding;
    std::string key = {};        // besides the kind and the program
    std::string subject = {};    // the file, call or peer
    std::string_view noun = {};  // what subjects are
    std::uint64_t process_ns = 0;
    double share_min =
        0;  // that it must cost of the time of its processes; 0: it is one whatever it costs
    std::string program = {};  // if empty, what the finding calls it
};

using Candidates = std::vector<Candidate>;

void add_killed_processes(const Report& report, Candidates& out) {
    for (const KilledProcess& killed : report.killed_processes) {
        Proof proof = proof_of(report, killed.process);
        proof.signal = killed.signal;
        const std::string signal = schema::flags_text("signal", killed.signal);
        std::string text =
            fmt::format("{} was killed by {}{}",
                        killed.process,
                        signal,
                        killed.address.empty() ? "" : ", at the address " + killed.address);
        out.push_back(
            {.finding = {"killed_by_signal", killed.process, std::move(text), 0, std::move(proof)},
             .key = signal});
    }
}

// What it cost is not known.
void add_sent_again(const Report& report, Candidates& out) {
    for (const SentAgain& again : report.sent_again) {
        const double part = share_of(again.bytes, again.sent_bytes);
        if (part < kSentAgainShareMin) {
            continue;
        }
        std::string text = fmt::format(
            "{} of what {} sent to {} was sent again by TCP: {} segments, {} of them "
            "when a timer had run out",
            base::percent_text(part),
            again.process,
            again.target,
            base::with_separators(again.segments),
            again.timers == 0 ? "none" : base::with_separators(again.timers));
        out.push_back(
            {.finding =
                 {"sent_again", again.process, std::move(text), 0, proof_of(report, again.process)},
             .subject = again.target,
             .noun = "peer"});
    }
}

// Whatever else a report says of such a process, it may have read and written more.
void add_unseen_rings(const Report& report, Candidates& out) {
    for (const UnseenRing& ring : report.unseen_rings) {
        const auto add = [&](const char* kind, const std::string& what) {
            out.push_back({.finding = {kind,
                                       ring.process,
                                       ring.process + " " + what,
                                       0,
                                       proof_of(report, ring.process)}});
        };
        if (ring.operations == 0) {
            add("polled_ring",
                "made an io_uring and gave nothing to it by a call: what the kernel takes from it "
                "without one (SQPOLL) is not seen");
        } else {
            add("unseen_ring",
                fmt::format(
                    "gave {} to an io_uring{}: what they read, wrote, sent or received is not seen",
                    base::counted(ring.operations, "operation"),
                    ring.is_polled ? ", and others without a call (SQPOLL)" : ""));
        }
    }
}

void add_syncs(const Report& report, Candidates& out) {
    // Where several sync one file, each waits for the others.
    std::map<std::string, std::uint64_t> of_file;
    for (const Syncs& sync : report.syncs) {
        of_file[sync.target] += sync.total_ns;
    }
    for (const Syncs& sync : report.syncs) {
        const double part = share_of(sync.total_ns, sync.process_ns);
        const double share =
            std::max(part, share_of(of_file[sync.target], report.overview.span_ns));
        if (share < kSyncShareMin || sync.total_ns < kSyncNsMin) {
            continue;
        }
        std::string text = fmt::format("{} spent {} of its time in {} of {}",
                                       sync.process,
                                       base::percent_text(part),
                                       base::counted(sync.calls, "sync"),
                                       sync.target);
        text += sync.deleted ? ", which it then deleted"
                             : fmt::format(" (longest {})", base::duration_text(sync.max_ns));
        out.push_back({.finding = {"sync_share",
                                   sync.process,
                                   std::move(text),
                                   sync.total_ns,
                                   proof_on_path(report, sync.process, sync.target)},
                       .subject = sync.target,
                       .noun = "file"});
    }
}

void add_small(const Report& report, Candidates& out) {
    for (const SmallTransfers& small : report.small) {
        if (small.calls == 0) {
            continue;
        }
        const std::uint64_t needed =
            std::max<std::uint64_t>(1, (small.bytes + kBufferBytes - 1) / kBufferBytes);
        std::string text = fmt::format(
            "{} {} {} in {} calls of {} on average ({}); with a buffer of 64 KiB {} would do",
            small.process,
            small.verb,
            small.target,
            base::with_separators(small.calls),
            base::bytes_text(small.bytes / small.calls),
            base::duration_text(small.total_ns),
            base::with_separators(needed));
        out.push_back({.finding = {"small_transfers",
                                   small.process,
                                   std::move(text),
                                   small.total_ns,
                                   proof_on_path(report, small.process, small.target)},
                       .key = small.verb,
                       .subject = small.target,
                       .noun = "file",
                       .process_ns = small.process_ns,
                       .share_min = kCostShareMin});
    }
}

void add_opens(const Report& report, Candidates& out) {
    for (const RepeatedOpen& open : report.opens) {
        if (open.opens < kOpensMin) {
            continue;
        }
        std::string text = fmt::format("{} opened {} {} times ({})",
                                       open.process,
                                       open.path,
                                       base::with_separators(open.opens),
                                       base::duration_text(open.total_ns));
        out.push_back({.finding = {"repeated_opens",
                                   open.process,
                                   std::move(text),
                                   open.total_ns,
                                   proof_on_path(report, open.process, open.path)},
                       .subject = open.path,
                       .noun = "file",
                       .process_ns = open.process_ns,
                       .share_min = kCostShareMin});
    }
}

bool is_one_of(std::span<const std::string_view> words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// readlink() asks of anything whether it is a link; whoever waits for a futex is told when it is over.
bool is_expected(const Failure& failure) {
    return is_one_of(kExpectedErrors, failure.error) || failure.name.starts_with("futex") ||
           (failure.error == "EINVAL" && failure.name.starts_with("readlink")) ||
           (failure.error == "EAGAIN" &&
            (failure.failed < kTooEarlyMin ||
             share_of(failure.failed, failure.calls) < kTooEarlyShareMin));
}

std::string failure_text(const Failure& failure) {
    if (failure.error == "ENOENT") {
        return fmt::format("{} looked {} times for what is not there",
                           failure.process,
                           base::with_separators(failure.failed));
    }
    if (failure.error == "EAGAIN") {
        return fmt::format(
            "{} asked {} times too early", failure.process, base::with_separators(failure.failed));
    }
    return fmt::format(
        "{} failed {} times", failure.process, base::with_separators(failure.failed));
}

void add_failures(const Report& report, Candidates& out) {
    for (const Failure& failure : report.failures) {
        const double part = share_of(failure.failed, failure.calls);
        if (failure.failed < kFailedMin || part < kFailedShareMin || is_expected(failure)) {
            continue;
        }
        Proof proof = proof_of(report, failure.process);
        proof.call = failure.name;
        proof.error = failure.error;
        std::string text = fmt::format("{}: {} of its {} {} calls end in {}",
                                       failure_text(failure),
                                       base::percent_text(part),
                                       base::with_separators(failure.calls),
                                       failure.name,
                                       failure.error);
        out.push_back({.finding = {"failing_calls",
                                   failure.process,
                                   std::move(text),
                                   failure.total_ns,
                                   std::move(proof)},
                       .key = failure.error,
                       .subject = failure.name,
                       .noun = "call",
                       .process_ns = failure.process_ns,
                       .share_min = is_one_of(kUsualErrors, failure.error) ? kUsualShareMin : 0});
    }
}

void add_blocked(const Report& report, Candidates& out) {
    std::set<std::string> said;
    for (const Candidate& candidate : out) {
        if (candidate.finding.kind == "sync_share") {
            said.insert(candidate.finding.process);
        }
    }
    for (const BlockedThread& thread : report.blocked) {
        const double part = share_of(thread.file_ns, thread.span_ns);
        if (part < kBlockedShareMin || thread.file_ns < kBlockedNsMin ||
            said.contains(thread.thread)) {
            continue;
        }
        std::string text = fmt::format("thread {} was blocked {} of {} by files",
                                       thread.thread,
                                       base::percent_text(part),
                                       base::duration_text(thread.span_ns));
        out.push_back({.finding = {"blocked_thread",
                                   thread.thread,
                                   std::move(text),
                                   thread.file_ns,
                                   proof_of(report, thread.thread)},
                       .program = thread.comm});
    }
}

// All that one finding stands for.
struct Folded {
    Candidate* dearest = nullptr;
    std::set<std::string> subjects = {}, hosts = {};
    std::map<std::string, std::uint64_t> process_ns = {};
    std::uint64_t cost_ns = 0;

    bool is_dear() const {
        if (dearest->share_min == 0) {
            return true;
        }
        std::uint64_t all_ns = 0;
        for (const auto& [process, ns] : process_ns) {
            all_ns += ns;
        }
        return cost_ns >= kCostNsMin &&
               (cost_ns >= kCostNsEnough || share_of(cost_ns, all_ns) >= dearest->share_min);
    }
};

std::string more_text(std::size_t more,
                      std::string_view preposition,
                      std::string_view noun,
                      std::string_view plural) {
    return more == 0 ? ""
                     : fmt::format(" {} {} more {}{}",
                                   preposition,
                                   base::with_separators(more),
                                   noun,
                                   more == 1 ? "" : plural);
}

Finding finding_of(Folded& folded) {
    Finding finding = std::move(folded.dearest->finding);
    const std::size_t subjects = folded.subjects.size() - 1, hosts = folded.hosts.size() - 1,
                      processes = folded.process_ns.size() - 1;
    finding.hosts_alike = hosts;
    if (finding.kind == "killed_by_signal") {
        finding.text += processes == 0 ? ""
                                       : fmt::format("; so {} {} more",
                                                     processes == 1 ? "was" : "were",
                                                     base::with_separators(processes));
    } else if (subjects + hosts + processes > 0) {
        finding.text +=
            "; much the same" + more_text(subjects, "with", folded.dearest->noun, "s") +
            (hosts > 0 ? more_text(hosts, "on", "host", "s")
                       : more_text(processes,
                                   "in",
                                   finding.kind == "blocked_thread" ? "thread" : "process",
                                   finding.kind == "blocked_thread" ? "s" : "es"));
        finding.text += folded.cost_ns > finding.cost_ns
                            ? fmt::format(", {} in all", base::duration_text(folded.cost_ns))
                            : "";
    }
    finding.cost_ns = folded.cost_ns;
    return finding;
}

// "db1:nginx: worker[7]" of several hosts: nginx: worker.
std::string program_of(const Report& report, const std::string& process) {
    const std::size_t begin = report.overview.hosts > 1 ? process.find(':') + 1 : 0;
    return process.substr(begin, process.rfind('[') - begin);
}

// What a program does with many files, in many processes or on many hosts is said once. In the order in which they came first.
std::vector<Finding> folded(const Report& report, Candidates candidates) {
    std::map<std::string, std::size_t> place_of;
    std::vector<Folded> all;
    for (Candidate& candidate : candidates) {
        const Finding& finding = candidate.finding;
        const std::string key =
            finding.kind + ' ' +
            (candidate.program.empty() ? program_of(report, finding.process) : candidate.program) +
            ' ' + candidate.key;
        const auto [place, is_new] = place_of.emplace(key, all.size());
        if (is_new) {
            all.push_back({.dearest = &candidate});
        }
        Folded& one = all[place->second];
        one.cost_ns += finding.cost_ns;
        one.subjects.insert(candidate.subject);
        one.hosts.insert(finding.proof.host.value_or(""));
        one.process_ns[finding.process] = candidate.process_ns;
    }
    std::vector<Finding> out;
    for (Folded& one : all) {
        if (one.is_dear()) {
            out.push_back(finding_of(one));
        }
    }
    return out;
}

}  // namespace

std::vector<Finding> findings_of(const Report& report) {
    const auto is_dearer = [](const Finding& a, const Finding& b) { return a.cost_ns > b.cost_ns; };
    Candidates first, others;
    add_killed_processes(report, first);
    add_sent_again(report, first);
    add_unseen_rings(report, first);
    add_syncs(report, others);
    add_small(report, others);
    add_opens(report, others);
    add_failures(report, others);
    add_blocked(report, others);
    std::stable_sort(others.begin(), others.end(), [&](const Candidate& a, const Candidate& b) {
        return is_dearer(a.finding, b.finding);
    });
    std::vector<Finding> findings = folded(report, std::move(first)),
                         rest = folded(report, std::move(others));
    std::stable_sort(rest.begin(), rest.end(), is_dearer);
    findings.insert(
        findings.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
    findings.resize(std::min(findings.size(), kFindingsMax));
    return findings;
}

}  // namespace dyetrace::analysis
