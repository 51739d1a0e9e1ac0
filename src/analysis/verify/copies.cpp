#include "analysis/verify/copies.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "analysis/verify/origins.h"
#include "analysis/verify/readers.h"
#include "analysis/verify/shorter_copies.h"
#include "analysis/verify/stored_copies.h"

namespace dyetrace::analysis {
namespace {

using schema::FlowRule;

Place place_of(FlowRule rule) {
    switch (rule) {
        case FlowRule::kFile:
            return Place::kFile;
        case FlowRule::kTcp:
            return Place::kNetwork;
        case FlowRule::kPipe:
        case FlowRule::kUnix:
            return Place::kPipe;
        default:
            return Place::kMemory;
    }
}

// All copies that come from one reference.
class Family {
  public:
    Family(const std::vector<Copy>& copies,
           const std::vector<CopyLink>& links,
           std::size_t reference)
        : copies_(copies), links_(links), reference_(reference) {
        members_ = reached_from(reference_);
        compare_members();
        find_parents();
        drop_reframed();
        hold_against_first_file(copies_, members_, reference_, comparisons_, changes_);
    }

    void judge(const Origins& origins, std::size_t changes_max, CopyVerdict& verdict) {
        for (const std::size_t member : members_) {
            if (member == reference_) {
                continue;
            }
            const StripComparison& comparison = comparisons_.at(member);
            ++verdict.copies_compared;
            verdict.compared_bytes += comparison.compared_bytes;
            verdict.unknown_bytes += comparison.unknown_bytes;
            for (const Stretch& stretch : comparison.stretches) {
                if (is_bad(member, stretch) && explain(member, stretch)) {
                    continue;
                }
                std::uint64_t unknown = stretch.unknown_bytes;
                if (stretch.outcome != Outcome::kNotCompared) {
                    unknown = stretch.end - stretch.begin - stretch.same_bytes;
                    verdict.compared_bytes -= unknown;
                    verdict.unknown_bytes += unknown;
                }
                verdict.open_bytes += is_good_later(member, stretch) ? 0 : unknown;
            }
        }
        const auto shorter = shorter_copies(copies_, members_, reference_, comparisons_);
        verdict.shorter.insert(verdict.shorter.end(), shorter.begin(), shorter.end());
        add_framed();
        for (Change& change : changes_) {
            change.replaced_by = written_back(change);
            if (!change.replaced_by) {
                change.replaced_by = origins.replacer_of(
                    change, [&](std::size_t copy) { return comparisons_.contains(copy); });
            }
            auto& told = change.replaced_by ? verdict.replaced : verdict.changes;
            if (told.size() == changes_max) {
                ++(change.replaced_by ? verdict.replaced_left_out : verdict.changes_left_out);
            } else if (!is_told(change, told)) {
                told.push_back(std::move(change));
            }
        }
    }

    const std::vector<std::size_t>& members() const { return members_; }

  private:
    enum class State : std::uint8_t { kGood, kBad, kOpen };

    // Those that links lead to, by time.
    std::vector<std::size_t> reached_from(std::size_t copy) const {
        std::unordered_set<std::size_t> known{copy};
        std::vector<std::size_t> reached{copy};
        for (std::size_t i = 0; i < reached.size(); ++i) {
            for (auto link = first_link_of(reached[i]);
                 link != links_.end() && link->from == reached[i];
                 ++link) {
                if (known.insert(link->to).second) {
                    reached.push_back(link->to);
                }
            }
        }
        std::sort(reached.begin(), reached.end(), [&](std::size_t a, std::size_t b) {
            return std::pair(copies_[a].first_ns, a) < std::pair(copies_[b].first_ns, b);
        });
        return reached;
    }

    void compare_members() {
        for (const std::size_t member : members_) {
            const auto [entry, is_new] = comparisons_.emplace(
                member, compare_strips(copies_[reference_].strip, copies_[member].strip));
            if (entry->second.is_shifted()) {
                shifted_.insert(member);
            }
            if (entry->second.is_whole(copies_[reference_].strip, copies_[member].strip)) {
                whole_.insert(member);
            }
        }
    }

    void find_parents() {
        for (const std::size_t member : members_) {
            for (auto link = first_link_of(member); link != links_.end() && link->from == member;
                 ++link) {
                parents_[link->to].push_back(*link);
            }
        }
    }

    std::vector<CopyLink>::const_iterator first_link_of(std::size_t copy) const {
        return std::lower_bound(links_.begin(), links_.end(), CopyLink{copy, 0, FlowRule{}});
    }

    // What a later copy has as it was is good in those before it.
    bool is_good_later(std::size_t copy, const Stretch& stretch) {
        auto& later = later_of_[copy];
        if (later.empty()) {
            later = reached_from(copy);
        }
        return std::any_of(later.begin(), later.end(), [&](std::size_t one) {
            const auto stretches = stretches_in(one, stretch);
            return std::all_of(stretches.begin(), stretches.end(), [](const Stretch& there) {
                return there.has_all();
            });
        });
    }

    // Whether that is told: more or fewer bytes from one file to another one, or other ones. Not of a file that has the other one in it, with frames of its
    // own: an archive, a journal. Nor other ones from connection to connection where both may have frames, each at another place: what the one takes out there
    // and the other one puts in may be as long.
    bool is_bad(std::size_t copy, const Stretch& stretch) const {
        const bool from_file = copies_[reference_].in_file, to_file = copies_[copy].in_file;
        const bool is_inside = shifted_.contains(copy) && !whole_.contains(copy);
        switch (stretch.outcome) {
            case Outcome::kChanged:
                return from_file && to_file ? !is_inside
                                            : from_file || to_file || !shifted_.contains(copy);
            case Outcome::kResized:
                return from_file && to_file && !is_inside;
            case Outcome::kNotCompared:
                break;
        }
        return false;
    }
    // Whether that may be what is bad in a later copy: on a connection as many bytes more or fewer.
    bool is_bad_as(std::size_t copy, const Stretch& stretch, const Stretch& later) const {
        return is_bad(copy, stretch) ||
               (stretch.outcome == Outcome::kResized && later.outcome == Outcome::kResized &&
                stretch.put_in() == later.put_in());
    }

    // Those of a copy that overlap this one.
    std::span<const Stretch> stretches_in(std::size_t copy, const Stretch& where) const {
        const auto& stretches = comparisons_.at(copy).stretches;
        const auto first =
            std::partition_point(stretches.begin(), stretches.end(), [&](const Stretch& one) {
                return one.end <= where.begin;
            });
        const auto last = std::partition_point(
            first, stretches.end(), [&](const Stretch& one) { return one.begin < where.end; });
        return {first, last};
    }

    State state_of(std::size_t copy, const Stretch& where) const {
        State state = State::kGood;
        for (const Stretch& stretch : stretches_in(copy, where)) {
            if (is_bad_as(copy, stretch, where)) {
                return State::kBad;
            }
            state = State::kOpen;
        }
        return state;
    }

    // Whether there are as many bytes as in the reference.
    bool is_as_long(std::size_t copy, const Stretch& where) const {
        const auto stretches = stretches_in(copy, where);
        return std::all_of(stretches.begin(), stretches.end(), [](const Stretch& stretch) {
            return stretch.outcome == Outcome::kChanged;
        });
    }

    // Bytes that were put in and taken out again later.
    void drop_reframed() {
        for (auto& [copy, comparison] : comparisons_) {
            std::vector<std::size_t> later;
            for (Stretch& stretch : comparison.stretches) {
                if (stretch.outcome != Outcome::kResized) {
                    continue;
                }
                if (later.empty()) {
                    later = reached_from(copy);
                }
                if (std::any_of(later.begin(), later.end(), [&](std::size_t one) {
                        return is_as_long(one, stretch);
                    })) {
                    stretch.outcome = Outcome::kNotCompared;
                    stretch.unknown_bytes = stretch.end - stretch.begin - stretch.same_bytes;
                    comparison.compared_bytes -= stretch.unknown_bytes;
                    comparison.unknown_bytes += stretch.unknown_bytes;
                }
            }
        }
    }

    // What stands in front of a bad copy: going back from it over those that are not known, the nearest that are.
    struct Before {
        std::optional<std::size_t> bad;
        std::optional<CopyLink> good;      // its last step to there
        std::vector<std::size_t> unknown;  // that were passed
    };

    // Those in `passed` are left out. One that is bad in the same way may be farther away than one that is good: who puts a file together of an old one and of
    // what arrives has both in front.
    Before before(std::size_t copy,
                  const Stretch& stretch,
                  const std::unordered_set<std::size_t>& passed) const {
        Before result;
        std::vector<std::size_t> waiting{copy};
        std::unordered_set<std::size_t> seen = passed;
        for (std::size_t i = 0; i < waiting.size() && !result.bad; ++i) {
            const bool is_good_nearer = result.good.has_value();
            const auto parents = parents_.find(waiting[i]);
            if (parents == parents_.end()) {
                continue;
            }
            for (const CopyLink& link : parents->second) {
                if (!seen.insert(link.from).second) {
                    continue;
                }
                const State state = state_of(link.from, stretch);
                if (state == State::kOpen) {
                    waiting.push_back(link.from);
                    if (!is_good_nearer) {
                        result.unknown.push_back(link.from);
                    }
                } else if (state == State::kGood) {
                    result.good = result.good.value_or(link);
                } else if (!is_good_nearer || has_same_bytes(copy, link.from, stretch)) {
                    result.bad = result.bad.value_or(link.from);
                }
            }
        }
        return result;
    }

    bool has_same_bytes(std::size_t copy, std::size_t other, const Stretch& stretch) const {
        const Stretch& there = bad_stretch(other, stretch);
        const auto sum = copies_[copy].strip.sum_of(stretch.copy_begin, stretch.copy_end);
        return sum && there.begin == stretch.begin && there.end == stretch.end &&
               sum == copies_[other].strip.sum_of(there.copy_begin, there.copy_end);
    }

    const Stretch& bad_stretch(std::size_t copy, const Stretch& where) const {
        const auto stretches = stretches_in(copy, where);
        return *std::find_if(stretches.begin(), stretches.end(), [&](const Stretch& stretch) {
            return is_bad_as(copy, stretch, where);
        });
    }

    // Copies on connections, where what was put in or taken out is told of a file.
    void add_framed() {
        for (Change& change : changes_) {
            for (const std::size_t member : members_) {
                const auto stretches = stretches_in(member, change.stretch);
                if (member != reference_ && member != change.bad && member != change.good &&
                    change.stretch.outcome == Outcome::kResized &&
                    copies_[member].first_ns > copies_[change.bad].first_ns &&
                    std::find(change.later.begin(), change.later.end(), member) ==
                        change.later.end() &&
                    std::any_of(stretches.begin(), stretches.end(), [&](const Stretch& stretch) {
                        return is_bad_as(member, stretch, change.stretch);
                    })) {
                    change.later.push_back(member);
                }
            }
        }
    }

    // Back to the first copy that is bad there. False if nothing says that the bytes belong together.
    bool explain(std::size_t copy, const Stretch& stretch) {
        std::unordered_set<std::size_t> passed{copy};
        std::size_t first = copy;
        const Stretch* where = &stretch;
        Before found = before(first, *where, passed);
        while (found.bad) {
            first = *found.bad;
            passed.insert(first);
            where = &bad_stretch(first, *where);
            found = before(first, *where, passed);
        }
        const auto [number, is_new] =
            number_of_.try_emplace({first, where->begin}, changes_.size());
        if (is_new) {
            Change change = change_of(first, *where, found);
            if (!is_founded(change)) {
                number_of_.erase(number);
                return false;
            }
            number->second = same_in_file(change);
            if (number->second == changes_.size()) {
                changes_.push_back(std::move(change));
            }
        }
        Change& change = changes_[number->second];
        for (const std::size_t one : {first, copy}) {
            if (one != change.bad &&
                std::find(change.later.begin(), change.later.end(), one) == change.later.end()) {
                change.later.push_back(one);
            }
        }
        return true;
    }

    // What was put in on one side of a channel comes out on the other. Else a copy has to be as long as the reference, or mostly the same; and the ends of
    // connections, where each has its own greetings, belong together only if one process passed all of it on.
    bool is_founded(const Change& change) const {
        if (change.place != Place::kMemory && change.place != Place::kBetween) {
            return true;
        }
        const StripComparison& comparison = comparisons_.at(change.bad);
        const Strip& reference = copies_[reference_].strip;
        const bool is_whole = whole_.contains(change.bad);
        const bool on_connections = !copies_[reference_].in_file && !copies_[change.bad].in_file;
        const bool at_end =
            change.stretch.begin == reference.begin() || change.stretch.end == reference.end();
        if (at_end && on_connections && (!is_whole || change.place == Place::kBetween)) {
            return false;
        }
        return is_whole ? comparison.places.size() > 2
                        : comparison.differing_bytes() * 2 <= comparison.compared_bytes;
    }

    // A call that wrote other bytes to where the good ones were read, of a process that read them or gave the bad ones away.
    std::optional<std::uint64_t> written_back(const Change& change) const {
        const Copy& good = copies_[change.good];
        if (!good.in_file || good.object == 0) {
            return std::nullopt;
        }
        const std::uint64_t bytes = change.stretch.end - change.stretch.begin;
        for (std::size_t i = 0; i < copies_.size(); ++i) {
            const Copy& copy = copies_[i];
            if (copy.object2 != good.object ||
                (copy.process != good.process && copy.process != copies_[change.bad].process)) {
                continue;
            }
            const bool is_same =
                comparisons_.contains(i) && stretches_in(i, change.stretch).empty();
            const std::uint64_t begin = change.good_begin - copy.shift2;
            const MovedPiece& piece = copy.strip.piece_at(begin);
            if (!is_same && copy.strip.moved_between(begin, begin + bytes) > 0 &&
                piece.end_ns > good.strip.piece_at(change.good_begin).end_ns) {
                return piece.event;
            }
        }
        return std::nullopt;
    }

    // Several may read the same bad bytes of a file: that is one change. Which one: as many as there are if it is none of them.
    std::size_t same_in_file(const Change& change) const {
        const Copy& copy = copies_[change.bad];
        const auto same = std::find_if(changes_.begin(), changes_.end(), [&](const Change& other) {
            const Copy& told = copies_[other.bad];
            const Stretch& stretch = other.stretch;
            if (change.place != Place::kFile || other.place != Place::kFile ||
                told.object != copy.object || other.good != change.good ||
                stretch != change.stretch) {
                return false;
            }
            const auto sum = told.strip.sum_of(stretch.copy_begin, stretch.copy_end);
            return sum && sum == copy.strip.sum_of(stretch.copy_begin, stretch.copy_end);
        });
        return static_cast<std::size_t>(same - changes_.begin());
    }

    // Copies that come from two origins, such as a file that two wrote, are held against both.
    static bool is_told(const Change& change, std::vector<Change>& changes) {
        const auto told = std::find_if(changes.begin(), changes.end(), [&](const Change& other) {
            return other.bad == change.bad && other.stretch.copy_begin < change.stretch.copy_end &&
                   change.stretch.copy_begin < other.stretch.copy_end &&
                   other.reference != change.reference;
        });
        if (told == changes.end()) {
            return false;
        }
        for (const std::size_t later : change.later) {
            if (std::find(told->later.begin(), told->later.end(), later) == told->later.end()) {
                told->later.push_back(later);
            }
        }
        return true;
    }

    Change change_of(std::size_t copy, const Stretch& stretch, const Before& found) const {
        Change change;
        change.reference = reference_;
        change.good = found.good ? found.good->from : reference_;
        change.bad = copy;
        change.stretch = stretch;
        if (found.good && found.good->to == copy) {
            change.place = place_of(found.good->rule);
        } else {
            change.between = found.unknown;
        }
        change.good_begin = comparisons_.at(change.good).place_of(stretch.begin);
        change.good_event = copies_[change.good].strip.piece_at(change.good_begin).event;
        change.bad_event = copies_[copy].strip.piece_at(stretch.copy_begin).event;
        return change;
    }

    const std::vector<Copy>& copies_;
    const std::vector<CopyLink>& links_;
    std::size_t reference_;
    std::vector<std::size_t> members_;
    std::map<std::size_t, StripComparison> comparisons_;
    std::unordered_set<std::size_t> shifted_;  // members with something put in or taken out
    std::unordered_set<std::size_t> whole_;    // members that begin and end as the reference
    std::unordered_map<std::size_t, std::vector<CopyLink>> parents_;  // by child
    std::unordered_map<std::size_t, std::vector<std::size_t>> later_of_;
    std::vector<Change> changes_;
    std::map<std::pair<std::size_t, std::uint64_t>, std::size_t>
        number_of_;  // of a change, by its bad copy and where it begins
};

}  // namespace

CopyVerdict verify(const std::vector<Copy>& copies,
                   std::vector<CopyLink> links,
                   std::span<const TrailFlow> flows,
                   std::size_t changes_max) {
    link_readers(copies, links);
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    std::vector<std::size_t> order(copies.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return copies[a].first_ns < copies[b].first_ns;
    });
    const Origins origins(copies, flows);
    CopyVerdict verdict;
    std::unordered_set<std::size_t> with_parent;
    for (const CopyLink& link : links) {
        with_parent.insert(link.to);
    }
    std::unordered_set<std::size_t> seen;
    const auto refer_to = [&](std::size_t copy) {
        if (verdict.references.size() == kReferencesMax) {
            ++verdict.references_left_out;
            return;
        }
        Family family(copies, links, copy);
        seen.insert(family.members().begin(), family.members().end());
        if (family.members().size() > 1) {
            verdict.references.push_back(copy);
            family.judge(origins, changes_max, verdict);
        }
    };
    for (const std::size_t copy : order) {
        if (!with_parent.contains(copy)) {
            refer_to(copy);
        }
    }
    for (const std::size_t copy : order) {
        if (!seen.contains(copy) && verdict.references_left_out == 0) {
            refer_to(copy);  // of those that pass bytes around in a circle the first one
        }
    }
    return verdict;
}

}  // namespace dyetrace::analysis
