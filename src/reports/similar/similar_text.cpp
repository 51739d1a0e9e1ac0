// What a person sees of what resembles what.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/harmless.h"
#include "base/text.h"
#include "format/table.h"
#include "reports/similar/similar_answer.h"

namespace dyetrace::reports {
namespace {

using base::counted;
using base::with_separators;

constexpr std::size_t kPairsShown = 30;  // a screen; --json has all

std::string percent(double share) {
    const double rounded = std::floor(share * 100);  // 99.9 % is not 100 %
    return fmt::format("{:.0f} %", share > 0 && rounded == 0 ? 1 : rounded);
}

std::string interval(const SimilarPair& pair) {
    return pair.equal ? "equal"
                      : fmt::format("{:.0f}–{:.0f} %",
                                    std::floor(pair.jaccard.low * 100),
                                    std::ceil(pair.jaccard.high * 100));
}

std::string name_of(const SimilarAnswer& answer, const SimilarItem& item) {
    return answer.traces.size() > 1 ? fmt::format("{}: {}", answer.traces[item.trace], item.name)
                                    : item.name;
}

format::Table table_of(const SimilarAnswer& answer) {
    const bool has_subject = answer.subject.has_value();
    return format::Table({{"alike", format::Align::kRight},
                          {"95 %", format::Align::kRight},
                          {has_subject ? "of it" : "of 1st", format::Align::kRight},
                          {has_subject ? "of that" : "of 2nd", format::Align::kRight},
                          {"shared", format::Align::kRight},
                          {has_subject ? "that" : "1st, and below it 2nd",
                           format::Align::kLeft,
                           format::Fit::kCutsMiddle}},
                         2);
}

void add_pair(format::Table& table, const SimilarAnswer& answer, const SimilarPair& pair) {
    const bool has_subject = answer.subject.has_value();
    table.add({percent(pair.jaccard.estimate),
               interval(pair),
               percent(pair.a_in_b.estimate),
               percent(pair.b_in_a.estimate),
               base::bytes_text(pair.shared_bytes),
               name_of(answer, has_subject ? pair.b : pair.a)});
    if (!has_subject) {
        table.add({"", "", "", "", "", name_of(answer, pair.b)});
    }
}

std::string heading(const SimilarAnswer& answer, std::size_t width) {
    if (!answer.subject) {
        return "";
    }
    const SimilarItem& subject = *answer.subject;
    const std::string facts = fmt::format(
        " · {}, {} anchors", base::bytes_text(subject.bytes), with_separators(subject.anchors));
    const std::size_t room = width > facts.size() + 2 ? width - facts.size() - 2 : 1;
    const std::string name = base::make_harmless(name_of(answer, subject));
    return fmt::format("  {}{}\n\n", format::cut_middle(name, room), facts);
}

std::string note(const std::string& words, std::size_t width) {
    return "  " + base::wrapped(words, width > 4 ? width - 4 : 1, "  ") + "\n";
}

std::string notes(const SimilarAnswer& answer, std::size_t width) {
    std::string text;
    const std::uint64_t hidden =
        answer.left_out + answer.pairs.size() - std::min(answer.pairs.size(), kPairsShown);
    if (hidden > 0) {
        text += note(fmt::format("… and {} more; --json has {}",
                                 with_separators(hidden),
                                 answer.left_out == 0 ? "them" : "the best"),
                     width);
    }
    if (answer.subject && answer.subject->anchors == 0) {
        text += note("It has no anchors: only what is equal can be found.", width);
    }
    if (answer.same_name > 1) {
        text += note(fmt::format("{} objects had this name; this one, {}, has most anchors. "
                                 "--object asks about another one.",
                                 with_separators(answer.same_name),
                                 answer.subject->id),
                     width);
    }
    text += note(fmt::format("{} compared{}",
                             counted(answer.compared, answer.are_objects ? "object" : "event"),
                             answer.unknown == 0
                                 ? std::string(".")
                                 : fmt::format("; of {} nothing is known, for they are too small.",
                                               with_separators(answer.unknown))),
                 width);
    return text;
}

}  // namespace

std::string similar_text(const SimilarAnswer& answer, std::size_t width) {
    const std::string text = heading(answer, width);
    if (answer.pairs.empty()) {
        return text + note("Nothing resembles it that much.", width) + notes(answer, width);
    }
    format::Table table = table_of(answer);
    for (std::size_t i = 0; i < std::min(answer.pairs.size(), kPairsShown); ++i) {
        add_pair(table, answer, answer.pairs[i]);
    }
    return text + table.text(width) + "\n" + notes(answer, width);
}

}  // namespace dyetrace::reports
