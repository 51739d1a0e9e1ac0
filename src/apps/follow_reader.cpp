#include "apps/follow_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "apps/flow_maker.h"
#include "apps/trace_questions.h"

namespace dyetrace::apps {
namespace {

using analysis::Direction;
using analysis::kUnknown;
using analysis::Operation;
using analysis::Side;
using analysis::Trail;
using analysis::TrailPiece;

constexpr std::size_t kStartsMax = 1'000'000;  // calls on the file that is asked about
constexpr std::size_t kStepsMax = 4'000'000;   // 48 bytes each, and what they reach: 500 MB
constexpr std::size_t kHopsMax = 10'000;       // of people's or programs' interest

// The part of the operation's bytes that lies in the asked range of the object.
std::optional<TrailPiece> piece_in(const Operation& operation,
                                   const Side& side,
                                   const FollowQuestion& question) {
    if (side.at == kUnknown) {
        return TrailPiece{operation.event, 0, operation.bytes};
    }
    const std::uint64_t begin = std::max(side.at, question.begin);
    const std::uint64_t end = std::min(side.at + operation.bytes, question.end);
    if (begin >= end) {
        return std::nullopt;
    }
    return TrailPiece{operation.event, begin - side.at, end - side.at};
}

class TrailReader {
  public:
    TrailReader(store::Database& database, const FollowQuestion& question)
        : database_(database), question_(question) {}

    Result<FollowTrail> read() {
        if (question_.path) {
            TRY(objects_, objects_called(database_, *question_.path));
        }
        TRY(find_starts());
        std::vector<analysis::TrailFlow> flows;
        if (!starts_.empty()) {
            TRY(flows, load_flows(database_, question_.min_certainty));
        }
        Trail trail(std::move(flows), question_.direction, kStepsMax);
        TRY(offer_processes(trail));
        for (const TrailPiece& start : starts_) {
            trail.start(start);
        }
        trail.walk();
        FollowTrailBuilder builder(trail, starts_, question_.direction);
        TRY(each_operation(database_, [&](const Operation& operation, std::uint64_t call) {
            builder.add(operation, call);
        }));
        FollowTrail result = builder.build(kHopsMax);
        result.question = question_text();
        result.min_certainty = question_.min_certainty;
        result.has_content = has_content_;
        result.is_cut = result.is_cut || starts_cut_;
        TRY(name_hops(result));
        TRY(find_gaps(result));
        return result;
    }

  private:
    std::optional<TrailPiece> start_of(const Operation& operation) const {
        if (operation.bytes == 0) {
            return std::nullopt;
        }
        if (question_.path) {
            const bool forward = question_.direction == Direction::kForward;
            const Side& side = forward ? operation.from : operation.to;
            return objects_.contains(side.object) ? piece_in(operation, side, question_)
                                                  : std::nullopt;
        }
        const bool is_meant = question_.event ? operation.event == *question_.event
                                              : operation.fingerprint == question_.hash;
        return is_meant ? std::optional(TrailPiece{operation.event, 0, operation.bytes})
                        : std::nullopt;
    }

    Result<void> find_starts() {
        TRY(each_operation(database_, [&](const Operation& operation, std::uint64_t) {
            has_content_ = has_content_ || operation.fingerprint.has_value();
            if (const auto start = start_of(operation); start && starts_.size() < kStartsMax) {
                starts_.push_back(*start);
            } else if (start) {
                starts_cut_ = true;
            }
        }));
        if (!starts_.empty() || question_.path) {
            return {};
        }
        return question_.event
                   ? Error(ErrorCode::kNotFound,
                           fmt::format("'{}' has no event {} that moved bytes (table events, "
                                       "column event_id)",
                                       database_.path(),
                                       *question_.event))
                   : Error(ErrorCode::kNotFound,
                           fmt::format("no event of '{}' moved bytes with the fingerprint {} "
                                       "(recorded with --content=hash?)",
                                       database_.path(),
                                       *question_.hash));
    }

    // Only when what is possible was asked for: it needs all operations in memory.
    Result<void> offer_processes(Trail& trail) {
        if (question_.min_certainty != schema::Certainty::kPossible || starts_.empty()) {
            return {};
        }
        TRY(const std::vector<analysis::ProcessLink> links, process_links(database_));
        for (const analysis::ProcessLink& link : links) {
            trail.offer(link);
        }
        return each_operation(
            database_, [&](const Operation& operation, std::uint64_t) { trail.offer(operation); });
    }

    std::string question_text() const {
        if (!question_.path) {
            return question_.event ? fmt::format("event {}", *question_.event)
                                   : fmt::format("bytes with the fingerprint {}", *question_.hash);
        }
        std::string text = *question_.path;
        if (question_.begin > 0 || question_.end != UINT64_MAX) {
            text += fmt::format(
                ", bytes {} to {}",
                question_.begin,
                question_.end == UINT64_MAX ? "the end" : std::to_string(question_.end));
        }
        return text;
    }

    Result<void> name_hops(FollowTrail& trail) {
        std::vector<std::uint64_t> events;
        for (const FollowHop& hop : trail.hops) {
            events.push_back(hop.first_event);
        }
        TRY(const auto words, words_of_events(database_, events));
        for (FollowHop& hop : trail.hops) {
            const auto found = words.find(hop.first_event);
            if (found == words.end()) {
                continue;
            }
            const EventWords& event = found->second;
            hop.who = event.who;
            hop.name = event.name;
            hop.path =
                event.is_connection ? hop.object2 != 0 ? event.sent : event.received : event.path;
            hop.path2 = event.path2;
            hop.what = hop.object == 0 || hop.object2 == 0 ? hop.path
                       : hop.name.starts_with("sendfile")
                           ? fmt::format("{} → {}", hop.path2, hop.path)
                           : fmt::format("{} → {}", hop.path, hop.path2);
        }
        return {};
    }

    Result<void> find_gaps(FollowTrail& trail) {
        if (trail.hops.empty()) {
            return {};
        }
        std::uint64_t start_ns = UINT64_MAX, end_ns = 0;
        for (const FollowHop& hop : trail.hops) {
            start_ns = std::min(start_ns, hop.start_ns);
            end_ns = std::max(end_ns, hop.end_ns);
        }
        TRY(trail.gaps, gaps_between(database_, start_ns, end_ns));
        return {};
    }

    store::Database& database_;
    const FollowQuestion& question_;
    std::unordered_set<std::uint64_t> objects_;
    std::vector<TrailPiece> starts_;
    bool starts_cut_ = false;
    bool has_content_ = false;
};

}  // namespace

Result<FollowTrail> read_trail(store::Database& database, const FollowQuestion& question) {
    return TrailReader(database, question).read();
}

}  // namespace dyetrace::apps
