#include "analysis/findings/report_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
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
constexpr std::uint64_t kOpensMin = 20;
constexpr std::uint64_t kSmallNsMin = 1'000'000;   // 1 ms
constexpr double kBlockedShareMin = 0.5;           // of the thread's time, waiting for files
constexpr std::uint64_t kBufferBytes = 64 * 1024;  // what a usual buffer holds

constexpr double kSentAgainShareMin = 0.01;  // of the bytes that were sent

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

std::vector<Finding> killed_processes_of(const Report& report) {
    std::vector<Finding> out;
    for (const KilledProcess& killed : report.killed_processes) {
        Proof proof = proof_of(report, killed.process);
        proof.signal = killed.signal;
        out.push_back(
            {"killed_by_signal",
             killed.process,
             fmt::format("{} was killed by {}{}",
                         killed.process,
                         schema::flags_text("signal", killed.signal),
                         killed.address.empty() ? "" : ", at the address " + killed.address),
             0,
             std::move(proof)});
    }
    return out;
}

// What it cost is not known.
void add_sent_again(const Report& report, std::vector<Finding>& out) {
    for (const SentAgain& again : report.sent_again) {
        const double part = share_of(again.bytes, again.sent_bytes);
        if (part < kSentAgainShareMin) {
            continue;
        }
        out.push_back(
            {"sent_again",
             again.process,
             fmt::format("{} of what {} sent to {} was sent again by TCP: {} segments, {} of them "
                         "when a timer had run out",
                         base::percent_text(part),
                         again.process,
                         again.target,
                         base::with_separators(again.segments),
                         again.timers == 0 ? "none" : base::with_separators(again.timers)),
             0,
             proof_of(report, again.process)});
    }
}

void add_syncs(const Report& report, std::vector<Finding>& out) {
    for (const Syncs& sync : report.syncs) {
        const double part = share_of(sync.total_ns, sync.process_ns);
        if (part < kSyncShareMin || sync.total_ns < kSyncNsMin) {
            continue;
        }
        std::string text = fmt::format("{} spent {} of its time in {} sync{} of {}",
                                       sync.process,
                                       base::percent_text(part),
                                       base::with_separators(sync.calls),
                                       sync.calls == 1 ? "" : "s",
                                       sync.target);
        text += sync.deleted ? ", which it then deleted"
                             : fmt::format(" (longest {})", base::duration_text(sync.max_ns));
        out.push_back({"sync_share",
                       sync.process,
                       std::move(text),
                       sync.total_ns,
                       proof_on_path(report, sync.process, sync.target)});
    }
}

void add_small(const Report& report, std::vector<Finding>& out) {
    for (const SmallTransfers& small : report.small) {
        if (small.total_ns < kSmallNsMin || small.calls == 0) {
            continue;
        }
        const std::uint64_t needed = std::max<std::uint64_t>(1, small.bytes / kBufferBytes);
        out.push_back(
            {"small_transfers",
             small.process,
             fmt::format(
                 "{} {} {} in {} calls of {} on average ({}); with a buffer of 64 KiB {} would do",
                 small.process,
                 small.verb,
                 small.target,
                 base::with_separators(small.calls),
                 base::bytes_text(small.bytes / small.calls),
                 base::duration_text(small.total_ns),
                 base::with_separators(needed)),
             small.total_ns,
             proof_on_path(report, small.process, small.target)});
    }
}

void add_opens(const Report& report, std::vector<Finding>& out) {
    for (const RepeatedOpen& open : report.opens) {
        if (open.opens >= kOpensMin) {
            out.push_back({"repeated_opens",
                           open.process,
                           fmt::format("{} opened {} {} times ({})",
                                       open.process,
                                       open.path,
                                       base::with_separators(open.opens),
                                       base::duration_text(open.total_ns)),
                           open.total_ns,
                           proof_on_path(report, open.process, open.path)});
        }
    }
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

void add_failures(const Report& report, std::vector<Finding>& out) {
    for (const Failure& failure : report.failures) {
        const double part = share_of(failure.failed, failure.calls);
        if (failure.failed < kFailedMin || part < kFailedShareMin) {
            continue;
        }
        Proof proof = proof_of(report, failure.process);
        proof.call = failure.name;
        proof.error = failure.error;
        out.push_back({"failing_calls",
                       failure.process,
                       fmt::format("{}: {} of its {} {} calls end in {}",
                                   failure_text(failure),
                                   base::percent_text(part),
                                   base::with_separators(failure.calls),
                                   failure.name,
                                   failure.error),
                       failure.total_ns,
                       std::move(proof)});
    }
}

void add_blocked(const Report& report, std::vector<Finding>& out) {
    for (const ThreadTime& thread : report.threads) {
        const double part = share_of(thread.file_ns, thread.span_ns);
        const bool is_said = std::any_of(out.begin(), out.end(), [&](const Finding& finding) {
            return finding.kind == "sync_share" && finding.text.starts_with(thread.thread);
        });
        if (part >= kBlockedShareMin && !is_said) {
            out.push_back({"blocked_thread",
                           thread.thread,
                           fmt::format("thread {} was blocked {} of {} by files",
                                       thread.thread,
                                       base::percent_text(part),
                                       base::duration_text(thread.span_ns)),
                           thread.file_ns,
                           proof_of(report, thread.thread)});
        }
    }
}

// The kind, the program and the words, without the host and whatever is counted.
std::string likeness(const Finding& finding) {
    const std::size_t colon = finding.process.find(':'), open = finding.process.rfind('[');
    const std::size_t at = finding.text.find(finding.process);
    std::string words = finding.text;
    if (at != std::string::npos) {
        words.erase(at, finding.process.size());
    }
    std::erase_if(words, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) == 0; });
    return finding.kind + ' ' + finding.process.substr(colon + 1, open - colon - 1) + ' ' + words;
}

// What a program does on many hosts is said once, of the host where it costs most. Findings in the order of cost.
std::vector<Finding> once_for_all_hosts(std::vector<Finding> findings) {
    std::map<std::string, std::set<std::string>> hosts_of;
    for (const Finding& finding : findings) {
        hosts_of[likeness(finding)].insert(finding.process.substr(0, finding.process.find(':')));
    }
    std::set<std::string> said;
    std::vector<Finding> out;
    for (Finding& finding : findings) {
        const std::string like = likeness(finding);
        const std::size_t more = hosts_of[like].size() - 1;
        if (more > 0 && !said.insert(like).second) {
            continue;
        }
        if (more > 0) {
            finding.hosts_alike = more;
            finding.text += fmt::format("; much the same on {} more host{}",
                                        base::with_separators(more),
                                        more == 1 ? "" : "s");
        }
        out.push_back(std::move(finding));
    }
    return out;
}

}  // namespace

std::vector<Finding> findings_of(const Report& report) {
    std::vector<Finding> findings;
    add_syncs(report, findings);
    add_small(report, findings);
    add_opens(report, findings);
    add_failures(report, findings);
    add_blocked(report, findings);
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
        return a.cost_ns > b.cost_ns;
    });
    std::vector<Finding> first = killed_processes_of(report);
    add_sent_again(report, first);
    findings.insert(findings.begin(),
                    std::make_move_iterator(first.begin()),
                    std::make_move_iterator(first.end()));
    if (report.overview.hosts > 1) {
        findings = once_for_all_hosts(std::move(findings));
    }
    findings.resize(std::min(findings.size(), kFindingsMax));
    return findings;
}

}  // namespace dyetrace::analysis
