// The tree.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/harmless.h"
#include "base/text.h"
#include "format/colour.h"
#include "format/table.h"
#include "reports/follow/follow_output.h"
#include "schema/generated/enum_names.h"

namespace dyetrace::reports {
namespace {

using analysis::Direction;
using base::counted;
using base::with_separators;

constexpr std::size_t kHopWidthMin =
    16;  // columns that are left to an object's name, however deep the tree is
constexpr std::size_t kLevelsIndented = 24;  // deeper ones stand below each other

std::string_view certainty_text(schema::Certainty certainty) {
    return schema::certainty_name(static_cast<std::uint8_t>(certainty));
}

// A copy shows both names, each in half of the room.
std::string cut_names(const FollowHop& hop, std::size_t width) {
    const std::string what = base::make_harmless(hop.what);
    constexpr std::string_view kArrow = " → ";
    const std::size_t arrow = what.find(kArrow);
    if (arrow == std::string::npos || base::display_width(what) <= width) {
        return format::cut_middle(what, width);
    }
    const std::size_t half = width / 2 - 1;
    const std::string first = format::cut_middle(what.substr(0, arrow), half);
    return first + std::string(kArrow) +
           format::cut_middle(what.substr(arrow + kArrow.size()),
                              width - base::display_width(first) - 3);
}

class Tree {
  public:
    Tree(const FollowTrail& trail, const FollowStyle& style)
        : trail_(trail),
          style_(style),
          numbers_(trail.hops.size(), 0),
          ways_(trail.hops.size(), 0) {
        for (std::size_t i = 0; i < ways_.size(); ++i) {
            ways_[i] = trail.hops[i].is_start ? 1 : 0;
        }
        for (const FollowLink& link : trail.links) {
            ++ways_[link.far];
        }
    }

    std::string text() {
        for (std::size_t i = 0; i < trail_.hops.size(); ++i) {
            if (trail_.hops[i].is_start && numbers_[i] == 0) {
                add_tree(i);
            }
        }
        return std::move(out_);
    }
    std::size_t left_out() const { return left_out_; }

  private:
    struct Branch {
        std::size_t hop;
        const FollowLink* link;  // that leads to it
        std::string indent;
        bool is_last;
        std::size_t level;
    };

    // Without recursion: a trail may be as deep as it is long.
    void add_tree(std::size_t root) {
        std::vector<Branch> branches{{root, nullptr, "", true, 0}};
        while (!branches.empty()) {
            const Branch branch = std::move(branches.back());
            branches.pop_back();
            const bool is_known = numbers_[branch.hop] != 0;
            add_line(branch, is_known);
            if (is_known) {
                continue;
            }
            numbers_[branch.hop] = ++last_number_;
            const auto first =
                std::lower_bound(trail_.links.begin(),
                                 trail_.links.end(),
                                 branch.hop,
                                 [](const auto& link, auto hop) { return link.near < hop; });
            auto last = first;
            while (last != trail_.links.end() && last->near == branch.hop) {
                ++last;
            }
            const std::string indent = child_indent(branch);
            for (auto link = last; link != first;) {
                --link;
                branches.push_back({link->far, &*link, indent, link + 1 == last, branch.level + 1});
            }
        }
    }

    static std::string child_indent(const Branch& branch) {
        if (branch.level == 0 || branch.level > kLevelsIndented) {
            return branch.indent;
        }
        return branch.indent + (branch.is_last ? "  " : "│ ");
    }

    static std::string how(const Branch& branch, bool with_rules) {
        if (branch.link == nullptr) {
            return "";
        }
        const std::string certainty = fmt::format(" · {}", certainty_text(branch.link->certainty));
        return with_rules ? fmt::format("{} ({})", certainty, rules_text(branch.link->rules))
                          : certainty;
    }

    std::string when(const FollowHop& hop) const {
        const auto since_ns =
            static_cast<std::int64_t>(hop.first_ns - trail_.hops.front().first_ns);
        return fmt::format(" · {:+.3f} s", static_cast<double>(since_ns) * 1e-9);
    }

    static std::string range_of(const FollowHop& hop) {
        return hop.offset == analysis::kUnknown
                   ? fmt::format(" {}", base::bytes_text(hop.bytes))
                   : fmt::format(
                         " {}–{}", with_separators(hop.offset), with_separators(hop.offset_end));
    }

    // The number of its calls, and its own if others refer to it.
    std::string number_of(std::size_t index) const {
        const FollowHop& hop = trail_.hops[index];
        return (hop.calls > 1 ? fmt::format(" ×{}", with_separators(hop.calls)) : "") +
               (ways_[index] > 1 ? fmt::format(" #{}", last_number_ + 1) : "");
    }

    void add_line(const Branch& branch, bool is_known) {
        if (lines_ >= kFollowLinesMax) {
            ++left_out_;
            return;
        }
        ++lines_;
        const FollowHop& hop = trail_.hops[branch.hop];
        const std::string head = fmt::format("{}{}{} {} ",
                                             branch.indent,
                                             branch.link == nullptr ? ""
                                             : branch.is_last       ? "└ "
                                                                    : "├ ",
                                             base::make_harmless(hop.who),
                                             hop.name);
        const std::string tail = is_known ? fmt::format(" · see #{}", numbers_[branch.hop])
                                          : range_of(hop) + number_of(branch.hop);
        // what is too long for the line loses its time first, then its rule, and then letters of its name
        std::string certainty = how(branch, true), time = is_known ? "" : when(hop);
        const std::size_t fixed = base::display_width(head) + base::display_width(tail);
        const std::size_t wanted = fixed + std::min(base::display_width(hop.what), kHopWidthMin);
        if (wanted + base::display_width(certainty) + base::display_width(time) > style_.width) {
            time.clear();
        }
        if (wanted + base::display_width(certainty) > style_.width) {
            certainty = how(branch, false);
        }
        const std::size_t others =
            fixed + base::display_width(certainty) + base::display_width(time);
        const std::size_t room =
            std::max(kHopWidthMin, style_.width - std::min(style_.width, others));
        out_ += head + cut_names(hop, room) + tail;
        paint(certainty, branch.link);
        out_ += time + "\n";
        if (hop.lost_sight != LostSight::kNot && !is_known &&
            trail_.min_certainty != schema::Certainty::kPossible) {
            add_note(fmt::format("{}  sight lost at event {}: {}",
                                 child_indent(branch),
                                 hop.first_event,
                                 why_lost(hop.lost_sight)));
        }
    }

    std::string_view why_lost(LostSight lost) const {
        const bool forward = trail_.direction == Direction::kForward;
        switch (lost) {
            case LostSight::kScrambled:
                return forward ? "its output looks compressed or encrypted"
                               : "this looks compressed or encrypted";
            case LostSight::kUnscrambled:
                return forward ? "this looks compressed or encrypted, its output not"
                               : "its input looks compressed or encrypted";
            default:
                return forward ? "its output has none of it" : "its input has none of it";
        }
    }

    void paint(const std::string& text, const FollowLink* link) {
        const format::Painted painted(out_, style_.colour && link != nullptr, colour_of(link));
        out_ += text;
    }

    static format::Colour colour_of(const FollowLink* link) {
        if (link == nullptr) {
            return format::Colour::kPlain;
        }
        return link->certainty == schema::Certainty::kCertain  ? format::Colour::kGreen
               : link->certainty == schema::Certainty::kLikely ? format::Colour::kYellow
                                                               : format::Colour::kDim;
    }

    void add_note(const std::string& text) {
        const format::Painted painted(out_, style_.colour, format::Colour::kDim);
        out_ += base::truncated(text, std::max(style_.width, kHopWidthMin)) + "\n";
    }

    const FollowTrail& trail_;
    const FollowStyle& style_;
    std::string out_;
    std::vector<std::size_t> numbers_;  // by hop: in the order in which they are told; 0: not yet
    std::vector<std::size_t> ways_;     // by hop: links that lead to it, and the question
    std::size_t last_number_ = 0;
    std::size_t lines_ = 0;
    std::size_t left_out_ = 0;
};

// What would show more.
std::string beyond_lost_sight(const FollowTrail& trail) {
    const auto is_lost = [](const FollowHop& hop) { return hop.lost_sight != LostSight::kNot; };
    const auto is_scrambled = [](const FollowHop& hop) {
        return hop.lost_sight == LostSight::kScrambled || hop.lost_sight == LostSight::kUnscrambled;
    };
    if (!trail.has_content && std::any_of(trail.hops.begin(), trail.hops.end(), is_lost)) {
        return "this trace has no fingerprints: with `record --content=hash` more can be "
               "followed\n";
    }
    return trail.min_certainty != schema::Certainty::kPossible &&
                   std::any_of(trail.hops.begin(), trail.hops.end(), is_scrambled)
               ? "beyond compression and encryption goes --min-certainty possible\n"
               : "";
}

std::string summary_of(const FollowTrail& trail) {
    return fmt::format(
        "{} · {} certain, {} likely, {} possible flows · {}\n",
        counted(trail.hops.size() + trail.hops_left_out, "hop"),
        with_separators(trail.flows[static_cast<std::size_t>(schema::Certainty::kCertain)]),
        with_separators(trail.flows[static_cast<std::size_t>(schema::Certainty::kLikely)]),
        with_separators(trail.flows[static_cast<std::size_t>(schema::Certainty::kPossible)]),
        trail.gaps.empty() ? "no gaps in this time" : trail.gaps);
}

}  // namespace

std::string follow_text(const FollowTrail& trail, const FollowStyle& style) {
    const bool forward = trail.direction == Direction::kForward;
    std::string text;
    {
        const format::Painted painted(text, style.colour, format::Colour::kBold);
        text += base::make_harmless(trail.question);
    }
    text += forward ? " · where its bytes went" : " · where its bytes came from";
    if (trail.files > 1) {
        text += fmt::format(" · {} files had this name, one after the other", trail.files);
    }
    text += "\n";
    if (trail.hops.empty()) {
        return text + (forward ? "nobody read it" : "nobody wrote it") +
               " while this was recorded (memory mappings are not seen)\n";
    }
    Tree tree(trail, style);
    text += tree.text();
    if (tree.left_out() > 0 || trail.hops_left_out > 0) {
        text += fmt::format("… {} more lines are left out; --json has the whole trail\n",
                            with_separators(tree.left_out() + trail.hops_left_out));
    }
    text += beyond_lost_sight(trail);
    if (trail.is_cut) {
        text += "… the trail is longer than follow goes: ask about fewer bytes\n";
    }
    return text + summary_of(trail);
}

}  // namespace dyetrace::reports
