// What a person sees of a pattern.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/harmless.h"
#include "base/text.h"
#include "reports/pattern/pattern_answer.h"

namespace dyetrace::reports {
namespace {

using analysis::Order;
using analysis::Pass;
using analysis::Passes;
using analysis::Pattern;
using analysis::Permutation;
using analysis::Step;
using base::bytes_text;
using base::counted;
using base::with_separators;

constexpr std::size_t kPassesShown = 10;
constexpr std::size_t kGroupsShown = 10;
constexpr double kShareShown = 0.001;  // a smaller share of steps is left out
constexpr std::string_view kLabelIndent =
    "              ";  // stands under what follows the label of a line

// 99.96 % is not 100 %.
std::string percent_in_tenths(double share) {
    const double rounded = std::floor(share * 1000) / 10;
    return rounded == std::floor(rounded) ? fmt::format("{:.0f} %", rounded)
                                          : fmt::format("{:.1f} %", rounded);
}

std::string bar(double height) {
    static constexpr const char* kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const auto level = static_cast<std::size_t>(std::clamp(height, 0.0, 1.0) * 8);
    return kBars[std::min<std::size_t>(level, 7)];
}

std::string steps_text(const Pattern& pattern) {
    const auto& counts = pattern.steps;
    const std::uint64_t steps = pattern.accesses - counts.of(Step::kFirst);
    std::vector<std::pair<std::uint64_t, std::string>> shares;
    for (std::size_t i = 1; i < analysis::kSteps; ++i) {
        const auto step = static_cast<Step>(i);
        const double share = static_cast<double>(counts.of(step)) /
                             static_cast<double>(std::max<std::uint64_t>(steps, 1));
        if (share >= kShareShown) {
            shares.emplace_back(
                counts.of(step),
                fmt::format("{} {}", analysis::name_of(step), percent_in_tenths(share)));
        }
    }
    std::sort(shares.rbegin(), shares.rend());
    std::vector<std::string> words;
    words.reserve(shares.size());
    for (const auto& [count, text] : shares) {
        words.push_back(text);
    }
    return fmt::format("{}", fmt::join(words, " · "));
}

std::string verdict_text(const Pattern& pattern) {
    const analysis::Verdict& verdict = pattern.verdict;
    if (verdict.name == "single") {
        return "one access per file";
    }
    if (verdict.name == "strided") {
        return fmt::format("strided, {} B apart",
                           with_separators(static_cast<std::uint64_t>(std::abs(verdict.stride)))) +
               (verdict.stride < 0 ? ", backwards" : "");
    }
    return std::string(verdict.name);
}

std::string sizes_text(const Pattern& pattern) {
    const analysis::Sizes& sizes = pattern.sizes;
    if (sizes.min == sizes.max) {
        return with_separators(sizes.min) + " B each";
    }
    std::vector<std::string> usual;
    for (const auto& size : sizes.frequent) {
        const double share = static_cast<double>(size.accesses) /
                             static_cast<double>(std::max<std::uint64_t>(pattern.accesses, 1)) *
                             static_cast<double>(pattern.sampled_one_in);
        if (share >= 0.1) {
            usual.push_back(
                fmt::format("{} B {}", with_separators(size.bytes), percent_in_tenths(share)));
        }
    }
    return fmt::format("{} B to {} B, median {} B{}{}",
                       with_separators(sizes.min),
                       with_separators(sizes.max),
                       with_separators(sizes.median),
                       usual.empty() ? "" : " · ",
                       fmt::join(usual, ", "));
}

std::string coverage_text(const Pattern& pattern) {
    const analysis::Coverage& coverage = pattern.coverage;
    const std::uint64_t all = std::max<std::uint64_t>(pattern.extent.bytes(), 1);
    const std::uint64_t covered = std::min(all, coverage.covered_bytes * pattern.sampled_one_in);
    const std::uint64_t most = coverage.times_max;
    const bool is_even = pattern.bytes == covered * most;
    const std::string times =
        most <= 1 ? "once"
        : is_even ? fmt::format("each byte {} times", with_separators(most))
                  : fmt::format("{:.1f} times on average, at most {} times",
                                static_cast<double>(pattern.bytes) /
                                    static_cast<double>(std::max<std::uint64_t>(covered, 1)),
                                with_separators(most));
    return fmt::format("{} of {} ({}), {}",
                       bytes_text(covered),
                       bytes_text(pattern.extent.bytes()),
                       percent_in_tenths(static_cast<double>(covered) / static_cast<double>(all)),
                       times);
}

std::string coverage_bars(const Pattern& pattern) {
    const auto& times = pattern.coverage.times;
    const double most = *std::max_element(times.begin(), times.end());
    std::string out;
    for (const double part : times) {
        out += part == 0 ? "·" : bar(most == 0 ? 0 : part / most - 1e-9);
    }
    return out;
}

std::string order_text(const Permutation& p) {
    const std::string distance = fmt::format("({:.2f})", p.distance());
    switch (analysis::order_of(p)) {
        case Order::kNoOrder:
            return "nothing to compare";
        case Order::kSame:
            return "same order";
        case Order::kNearlySame:
            return fmt::format("nearly the same order ({:.4f})", p.distance());
        case Order::kReversed:
            return "reversed";
        case Order::kRotated:
            return "same order, begun elsewhere " + distance;
        case Order::kBlockShuffled:
            return fmt::format(
                "block-shuffled {}, blocks of about {:.0f} pieces", distance, p.block_items());
        case Order::kNearbyShuffled:
            return fmt::format(
                "shuffled nearby {}, at most {} ahead", distance, counted(p.lookahead, "place"));
        case Order::kShuffled:
            return "shuffled " + distance;
        case Order::kOther:
            break;
    }
    return "another order " + distance;
}

std::string comparison_text(const Pass& pass, const Pass& before) {
    const analysis::Comparison& beside = *pass.beside_previous;
    std::string words = order_text(beside.pieces);
    if (analysis::order_of(beside.pieces) != Order::kSame && beside.pieces.pairs > 0) {
        words += fmt::format(", {} at the same place",
                             percent_in_tenths(beside.pieces.same_place_share()));
    }
    if (beside.files.pairs > 0 && beside.within_files.pairs > 0) {
        words += fmt::format("; files: {}; within a file: {}",
                             order_text(beside.files),
                             order_text(beside.within_files));
    }
    const double again = static_cast<double>(beside.common_bytes) /
                         static_cast<double>(std::max<std::uint64_t>(
                             std::min(pass.distinct_bytes, before.distinct_bytes), 1));
    return again < 0.9995 ? words + fmt::format("; {} of it came again", percent_in_tenths(again))
                          : words;
}

class PatternPage {
  public:
    explicit PatternPage(std::size_t width) : width_(width) {}

    void line(std::string_view word, std::string_view text) {
        unwrapped(word, base::wrapped(text, width_ - kLabelIndent.size(), kLabelIndent));
    }
    void unwrapped(std::string_view word, std::string_view text) {
        out_ += "  " + base::left_aligned(word, kLabelIndent.size() - 2);
        out_ += text;
        out_ += "\n";
    }
    void note(const std::string& text) {
        out_ += "  " + base::wrapped("· " + text, width_ - 4, "    ") + "\n";
    }
    void blank() { out_ += "\n"; }
    std::string& out() { return out_; }

  private:
    std::size_t width_;
    std::string out_;
};

void add_passes(PatternPage& page,
                std::string_view title,
                const Passes& passes,
                const std::vector<PatternSketch>& sketches,
                const PatternGroup& group) {
    const std::uint64_t times = group.pattern.sampled_one_in;
    page.line(title,
              passes.revisits ? "no passes: places came again before the rest was through"
              : passes.passes.size() == 1 ? std::string("1 pass")
                                          : with_separators(passes.passes.size()) + " passes");
    const std::size_t shown = std::min({passes.passes.size(), sketches.size(), kPassesShown});
    for (std::size_t i = 0; i < shown; ++i) {
        const Pass& pass = passes.passes[i];
        std::string bars;
        for (const double place : sketches[i]) {
            bars += bar(place);
        }
        page.unwrapped(fmt::format("  {}", i + 1),
                       fmt::format("{}  {}{}, {}",
                                   base::left_aligned(bars, PatternAnswer::kSketchPoints),
                                   times > 1 ? "~" : "",
                                   counted(pass.accesses * times, group.access),
                                   bytes_text(pass.moved_bytes * times)));
        if (pass.beside_previous) {
            page.line("", comparison_text(pass, passes.passes[i - 1]));
        }
    }
    if (shown < passes.passes.size()) {
        page.line("",
                  fmt::format("… and {} more; --json has them all", passes.passes.size() - shown));
    }
}

// The same passes, each in the order that the other one of the two has?
bool are_alike(const Passes& a, const Passes& b) {
    if (a.passes.size() != b.passes.size() || a.revisits != b.revisits) {
        return false;
    }
    for (std::size_t i = 1; i < a.passes.size(); ++i) {
        const Permutation& left = a.passes[i].beside_previous->pieces;
        const Permutation& right = b.passes[i].beside_previous->pieces;
        if (analysis::order_of(left) != analysis::order_of(right) ||
            std::abs(left.distance() - right.distance()) > 0.005) {
            return false;
        }
    }
    return true;
}

void add_group(PatternPage& page, const PatternGroup& group) {
    const Pattern& pattern = group.pattern;
    page.blank();
    page.line(group.access == "read" ? "read" : "written",
              fmt::format("by {}: {}, {}{}: {}",
                          base::make_harmless(group.who),
                          counted(pattern.accesses, group.access),
                          bytes_text(pattern.bytes),
                          pattern.end_ns == pattern.begin_ns
                              ? ""
                              : " in " + base::duration_text(pattern.end_ns - pattern.begin_ns),
                          verdict_text(pattern)));
    if (const std::string steps = steps_text(pattern); !steps.empty()) {
        page.line("steps", steps);
    }
    page.line("sizes", sizes_text(pattern));
    page.line("covered", coverage_text(pattern));
    page.line("", coverage_bars(pattern));
    add_passes(page, "by place", pattern.by_place, group.by_place, group);
    if (!pattern.by_content) {
        return;
    }
    if (are_alike(pattern.by_place, pattern.by_content->passes)) {
        page.line("by content", "as by place: what stood at each place did not change");
    } else {
        add_passes(page, "by content", pattern.by_content->passes, group.by_content, group);
    }
}

void add_group_notes(PatternPage& page, const PatternGroup& group, const std::string& by) {
    const Pattern& pattern = group.pattern;
    if (group.threads > 1 && by != "thread") {
        page.note(fmt::format("{} took turns here; --by thread tells them apart",
                              counted(group.threads, "thread")));
    }
    if (group.uncertain > 0) {
        page.note(fmt::format("the place of {} is uncertain: calls overlapped",
                              counted(group.uncertain, group.access)));
    }
    if (pattern.sampled_one_in > 1) {
        page.note(fmt::format("sizes, coverage and passes are of a sample, one place in {}",
                              with_separators(pattern.sampled_one_in)));
    }
    if (pattern.kept_of_first) {
        page.note(fmt::format("sizes, coverage and passes are of the first {}",
                              counted(*pattern.kept_of_first, group.access)));
    }
}

void add_notes(PatternPage& page, const PatternAnswer& answer) {
    page.blank();
    if (answer.groups_left_out > 0) {
        page.note(
            fmt::format("{} that did less are left out", counted(answer.groups_left_out, "group")));
    }
    if (answer.mappings > 0) {
        page.note(fmt::format("mapped into memory {}: what moves through a mapping does not show",
                              counted(answer.mappings, "time")));
    }
    const bool has_content =
        std::any_of(answer.groups.begin(), answer.groups.end(), [](const auto& group) {
            return group.pattern.by_content.has_value();
        });
    if (!has_content) {
        page.note(
            "whether the content was the same is not known; `record --content=hash` keeps that");
    }
    page.note("what a program shuffles in its own memory after reading does not show in its reads");
}

}  // namespace

std::string pattern_text(const PatternAnswer& answer, std::size_t width) {
    PatternPage page(width);
    page.out() += answer.files.size() == 1
                      ? fmt::format("  {}\n", base::make_harmless(answer.files[0]))
                      : fmt::format("  {}  {}\n",
                                    base::make_harmless(answer.path),
                                    counted(answer.files.size(), "file"));
    const std::size_t shown = std::min(answer.groups.size(), kGroupsShown);
    for (std::size_t i = 0; i < shown; ++i) {
        add_group(page, answer.groups[i]);
        add_group_notes(page, answer.groups[i], answer.by);
    }
    if (shown < answer.groups.size()) {
        page.blank();
        page.note(fmt::format("… and {} more; --json has them", answer.groups.size() - shown));
    }
    add_notes(page, answer);
    return std::move(page.out());
}

}  // namespace dyetrace::reports
