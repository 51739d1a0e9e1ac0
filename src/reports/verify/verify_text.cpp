// The answer in words.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/harmless.h"
#include "base/text.h"
#include "format/colour.h"
#include "reports/verify/verify_answer.h"

namespace dyetrace::reports {
namespace {

using analysis::Change;
using analysis::Outcome;
using analysis::Place;
using base::counted;
using base::with_separators;

constexpr std::size_t kObjectWidthMin = 16;  // columns that are left to an object's name
constexpr std::size_t kLaterTold = 3;        // bad copies that are named; the others are counted
constexpr std::size_t kReplacersTold = 5;    // who put other bytes there; all are counted
constexpr std::size_t kShorterTold = 5;      // copies; all are counted
constexpr std::size_t kPlacesTold = 3;       // of one change
constexpr std::size_t kBytesTold = 8;        // of one place, in hex

std::string range_text(std::uint64_t begin, std::uint64_t end) {
    return fmt::format("{}–{}", with_separators(begin), with_separators(end));
}

// What stands there instead of what stood there; long ones are cut.
std::string bytes_text(const std::vector<std::byte>& bytes, std::uint64_t size) {
    const std::span<const std::byte> all(bytes);
    return size == 0 ? "nothing"
                     : base::hex_text(all.first(std::min(all.size(), kBytesTold))) +
                           (size > kBytesTold ? "…" : "");
}

std::string place_text(const analysis::ByteDifference& place) {
    const std::uint64_t size = place.end - place.begin;
    const std::string where = size == 0 ? fmt::format("before {}", with_separators(place.begin))
                              : size == 1
                                  ? fmt::format("byte {}", with_separators(place.begin))
                                  : fmt::format("bytes {}", range_text(place.begin, place.end));
    return fmt::format("{}: {} → {}",
                       where,
                       bytes_text(place.old_bytes, size),
                       bytes_text(place.new_bytes, place.copy_end - place.copy_begin));
}

std::string changes_text(const analysis::CopyVerdict& verdict) {
    switch (verdict.sameness()) {
        case analysis::Sameness::kSame:
        case analysis::Sameness::kReplaced:
            return "no change";
        case analysis::Sameness::kNotAllCompared:
            return "no change in what could be compared, which is not all";
        case analysis::Sameness::kDifferent:
            break;
    }
    return counted(verdict.changes.size(), "change", "changes");
}

class Writer {
  public:
    Writer(const VerifyAnswer& answer, const VerifyStyle& style) : answer_(answer), style_(style) {}

    std::string text() {
        paint(format::Colour::kBold, base::make_harmless(answer_.question));
        out_ += " · are its copies the same?\n";
        for (const std::size_t reference : answer_.verdict.references) {
            const CopyLabels& copy = answer_.copies[reference];
            add_line("reference  ", copy, " " + range_text(copy.begin, copy.end));
        }
        const auto& changes = answer_.verdict.changes;
        for (std::size_t i = 0; i < std::min(changes.size(), kChangesTold); ++i) {
            add_change(changes[i], answer_.changed_bytes[i]);
        }
        if (changes.size() > kChangesTold) {
            out_ += fmt::format("… {} more changes are not told here; --json has them\n",
                                with_separators(changes.size() - kChangesTold));
        }
        if (answer_.verdict.changes_left_out > 0) {
            out_ += fmt::format("… {} more changes are left out: ask about fewer bytes\n",
                                with_separators(answer_.verdict.changes_left_out));
        }
        add_replaced();
        add_shorter();
        add_summary();
        return std::move(out_);
    }

  private:
    void paint(format::Colour colour, std::string_view text) {
        const format::Painted painted(out_, style_.colour, colour);
        out_ += text;
    }

    // What is too long for the line loses letters of its object's name.
    void add_line(std::string_view head, const CopyLabels& copy, const std::string& tail) {
        const std::string front =
            fmt::format("{}{} {} ", head, base::make_harmless(copy.who), copy.name);
        const std::size_t fixed = base::display_width(front) + base::display_width(tail);
        const std::size_t room =
            std::max(kObjectWidthMin, style_.width - std::min(style_.width, fixed));
        out_ +=
            front + base::truncated_in_front(base::make_harmless(copy.what), room) + tail + "\n";
    }

    std::string where(const Change& change) const {
        const CopyLabels& good = answer_.copies[change.good];
        const CopyLabels& bad = answer_.copies[change.bad];
        switch (change.place) {
            case Place::kMemory:
                return good.who == bad.who
                           ? fmt::format("in the memory of {}", good.who)
                           : fmt::format(
                                 "in the memory of {} or {}, which it made", good.who, bad.who);
            case Place::kFile:
                return "in the file: its page cache, its disk, or a writer that was not seen";
            case Place::kNetwork:
                return "on the network";
            case Place::kPipe:
                return "in the pipe or socket";
            case Place::kBetween:
                break;
        }
        return "between these two";
    }

    void add_change(const Change& change, const ChangedBytes& bytes_of_change) {
        const analysis::Stretch& stretch = change.stretch;
        const std::uint64_t bytes = stretch.end - stretch.begin;
        const std::uint64_t copy_bytes = stretch.copy_end - stretch.copy_begin;
        paint(format::Colour::kRed, "CHANGED");
        out_ += fmt::format(
            "    {} ({})", range_text(stretch.begin, stretch.end), counted(bytes, "byte", "bytes"));
        if (stretch.outcome == Outcome::kResized) {
            out_ += copy_bytes > bytes
                        ? fmt::format(", {} put in", with_separators(copy_bytes - bytes))
                        : fmt::format(", {} taken out", with_separators(bytes - copy_bytes));
        }
        out_ += "\n";
        add_bytes(bytes_of_change);
        out_ += fmt::format("  {}\n",
                            base::truncated(base::make_harmless(where(change)), style_.width - 2));
        add_call("  last good  ", change.good, change.good_begin, change.good_event);
        add_call("  first bad  ", change.bad, stretch.copy_begin, change.bad_event);
        add_names("  between    ", change.between);
        add_names("  later bad  ", change.later);
    }

    void add_bytes(const ChangedBytes& bytes) {
        if (bytes.known == BytesKnown::kAll) {
            add_places(bytes.differences);
        } else if (const std::string reason = unknown_because(bytes); !reason.empty()) {
            add_exactly(reason);
        }
    }

    // Empty: the last lines say it once.
    static std::string unknown_because(const ChangedBytes& bytes) {
        switch (bytes.known) {
            case BytesKnown::kNotKept:
                return fmt::format("not known: of this piece {} not kept",
                                   bytes.missing == 1
                                       ? "1 byte was"
                                       : with_separators(bytes.missing) + " bytes were");
            case BytesKnown::kNotTheSame:
                return "not known: bytes changed while they were recorded";
            case BytesKnown::kTooLong:
                return "not told: the piece is too long";
            case BytesKnown::kNoPayload:
            case BytesKnown::kAll:
                break;
        }
        return "";
    }

    void add_places(const analysis::ByteDifferences& differences) {
        const std::size_t told = std::min(differences.places.size(), kPlacesTold);
        const std::uint64_t count = differences.places.size() + differences.places_left_out;
        for (std::size_t i = 0; i < told; ++i) {
            add_exactly(place_text(differences.places[i]), i == 0);
        }
        if (count > told) {
            add_exactly(fmt::format("… {} in {} in all; --json has more",
                                    counted(std::max(differences.old_bytes, differences.new_bytes),
                                            "byte",
                                            "bytes"),
                                    counted(count, "place", "places")),
                        false);
        }
    }

    void add_exactly(const std::string& text, bool is_first = true) {
        constexpr std::string_view kHead = "  exactly    ";
        const std::string line = fmt::format("{:{}}{}", is_first ? kHead : "", kHead.size(), text);
        out_ += base::truncated(line, style_.width) + "\n";
    }

    void add_call(std::string_view head, std::size_t copy, std::uint64_t at, std::uint64_t event) {
        add_line(head, answer_.copies[copy], "");
        out_ += fmt::format("{:{}}at {} · event {}\n", "", head.size(), with_separators(at), event);
    }

    void add_names(std::string_view head, const std::vector<std::size_t>& copies) {
        if (copies.empty()) {
            return;
        }
        std::string names;
        for (std::size_t i = 0; i < std::min(copies.size(), kLaterTold); ++i) {
            const CopyLabels& copy = answer_.copies[copies[i]];
            names += fmt::format("{}{} {} {}", i == 0 ? "" : ", ", copy.who, copy.name, copy.what);
        }
        const std::string line = fmt::format(
            "{}{}: {}", head, counted(copies.size(), "copy", "copies"), base::make_harmless(names));
        out_ += base::truncated(line, style_.width) + "\n";
    }

    // One line for all that one process put into one object.
    void add_replaced() {
        struct Put {
            const CopyLabels* replacer;
            std::size_t count = 0;
            std::uint64_t bytes = 0;
            std::string where = {};
        };
        std::vector<Put> puts;
        for (std::size_t i = 0; i < answer_.replacers.size(); ++i) {
            const CopyLabels& replacer = answer_.replacers[i];
            const analysis::Stretch& stretch = answer_.verdict.replaced[i].stretch;
            auto put = std::find_if(puts.begin(), puts.end(), [&](const Put& other) {
                return other.replacer->who == replacer.who &&
                       other.replacer->name == replacer.name &&
                       other.replacer->what == replacer.what;
            });
            if (put == puts.end()) {
                puts.push_back({.replacer = &replacer,
                                .where = range_text(stretch.copy_begin, stretch.copy_end)});
                put = puts.end() - 1;
            }
            ++put->count;
            put->bytes += stretch.copy_end - stretch.copy_begin;
        }
        for (std::size_t i = 0; i < std::min(puts.size(), kReplacersTold); ++i) {
            const Put& put = puts[i];
            add_line("replaced   ",
                     *put.replacer,
                     put.count == 1 ? " " + put.where
                                    : fmt::format(" {} places, {}",
                                                  with_separators(put.count),
                                                  counted(put.bytes, "byte", "bytes")));
        }
        add_rest(puts.size(), kReplacersTold);
        if (!puts.empty()) {
            out_ += "There other bytes were put, by calls that are known: a new version.\n";
        }
    }

    void add_shorter() {
        const auto& shorter = answer_.verdict.shorter;
        for (std::size_t i = 0; i < std::min(shorter.size(), kShorterTold); ++i) {
            const CopyLabels& copy = answer_.copies[shorter[i].copy];
            const auto [begin, end] = copy.range2.value_or(std::pair(copy.begin, copy.end));
            add_line("shorter    ",
                     copy,
                     fmt::format(" {}, by {}",
                                 range_text(begin, end),
                                 counted(shorter[i].end - shorter[i].begin, "byte", "bytes")));
        }
        add_rest(shorter.size(), kShorterTold);
    }

    void add_rest(std::size_t count, std::size_t told) {
        if (count > told) {
            out_ += fmt::format("… {} more; --json has them\n", with_separators(count - told));
        }
    }

    void add_summary() {
        const analysis::CopyVerdict& verdict = answer_.verdict;
        if (verdict.copies_compared == 0) {
            out_ += "nothing has the same bytes as far as this was recorded\n";
        }
        if (verdict.references_left_out > 0) {
            out_ += fmt::format("{} more are left out: ask about one file, or fewer bytes\n",
                                counted(verdict.references_left_out, "origin", "origins"));
        }
        if (!verdict.changes.empty()) {
            out_ += "A program that means to change bytes looks the same.\n";
        }
        const auto has_no_payload = [](const ChangedBytes& bytes) {
            return bytes.known == BytesKnown::kNoPayload;
        };
        if (std::any_of(
                answer_.changed_bytes.begin(), answer_.changed_bytes.end(), has_no_payload)) {
            out_ += "Which byte it was only a record --content=bytes shows.\n";
        }
        out_ += fmt::format("{} · {} compared, {} could not be\n{} · {}\n",
                            counted(verdict.copies_compared, "copy", "copies"),
                            counted(verdict.compared_bytes, "byte", "bytes"),
                            with_separators(verdict.unknown_bytes),
                            changes_text(verdict),
                            answer_.gaps.empty() ? "no gaps in this time" : answer_.gaps);
    }

    const VerifyAnswer& answer_;
    const VerifyStyle& style_;
    std::string out_;
};

}  // namespace

std::string verify_text(const VerifyAnswer& answer, const VerifyStyle& style) {
    return Writer(answer, style).text();
}

}  // namespace dyetrace::reports
