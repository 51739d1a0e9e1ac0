#include "reports/follow/follow_starts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "content/anchors.h"
#include "query/flows/event_marks.h"
#include "query/flows/flow_rows.h"
#include "query/flows/trace_questions.h"
#include "query/named_sql.h"
#include "query/payload/payload_search.h"
#include "query/sql.h"
#include "schema/text.h"

namespace dyetrace::reports {
namespace {

using analysis::Direction;
using analysis::kUnknown;
using analysis::Operation;
using analysis::Side;
using analysis::TrailPiece;

constexpr std::size_t kStartsMax = 1'000'000;  // calls that moved what is asked about
constexpr std::size_t kNamesListedMax = 10;    // dyes that there are instead

// The part of the operation's bytes that lies in the asked range of the object.
std::optional<TrailPiece> piece_in(const Operation& operation,
                                   const Side& side,
                                   const FollowQuestion& question) {
    if (side.offset == kUnknown) {
        return TrailPiece{operation.event, 0, operation.bytes};
    }
    const std::uint64_t begin = std::max(side.offset, question.begin);
    const std::uint64_t end = std::min(side.offset + operation.bytes, question.end);
    if (begin >= end) {
        return std::nullopt;
    }
    return TrailPiece{operation.event, begin - side.offset, end - side.offset};
}

// Places in events by event: what a dye's hits or a text's windows cover. Begins may lie before the
// event, ends after it.
using Places =
    std::unordered_map<std::uint64_t, std::vector<std::pair<std::int64_t, std::int64_t>>>;

Result<Places> places_of_dye(store::Database& database, const std::string& name) {
    Places places;
    TRY(const query::EventMarks<analysis::DyeMark> marks, query::load_dye_marks(database, name));
    marks.each([&](std::uint64_t event, const analysis::DyeMark& mark) {
        places[event].emplace_back(mark.position,
                                   mark.position + static_cast<std::int64_t>(mark.bytes));
    });
    return places;
}

// Where windows of the text were met, that it would have at the smallest distance: a trace with a larger one has some of them. Of those
// of one event that lie as in the text, all between the first and the last is the text's.
Result<Places> places_of_windows(store::Database& database, const FollowQuestion& question) {
    const content::AnchorRule rule(content::AnchorRule::kDistanceMin, question.key);
    std::unordered_map<std::uint64_t, std::int64_t> position_of;
    for (const content::AnchorWindow& window :
         rule.find(std::as_bytes(std::span(*question.text)))) {
        position_of.emplace(window.fingerprint, static_cast<std::int64_t>(window.position));
    }
    std::map<std::pair<std::uint64_t, std::int64_t>, std::pair<std::int64_t, std::int64_t>> runs;
    TRY(const query::EventMarks<analysis::Anchor> marks, query::load_anchors(database));
    marks.each([&](std::uint64_t event, const analysis::Anchor& mark) {
        const auto known = position_of.find(mark.fingerprint);
        if (known == position_of.end()) {
            return;
        }
        const std::int64_t end = mark.position + ANCHOR_WINDOW;
        const auto [run, is_new] =
            runs.try_emplace({event, mark.position - known->second}, std::pair(mark.position, end));
        run->second = {std::min(run->second.first, mark.position),
                       std::max(run->second.second, end)};
    });
    Places places;
    for (const auto& [key, run] : runs) {
        places[key.first].push_back(run);
    }
    return places;
}

// A recording with --content=bytes has the text wherever it lies in what a call moved.
Result<void> add_places_of_payload(const std::string& trace,
                                   const std::string& text,
                                   Places& places) {
    return query::search_payload(trace, text, [&](std::uint64_t event, std::uint64_t position) {
        const auto begin = static_cast<std::int64_t>(position);
        places[event].emplace_back(begin, begin + static_cast<std::int64_t>(text.size()));
    });
}

Error no_such_dye(store::Database& database, const std::string& name) {
    std::string names;
    std::size_t listed = 0;
    const auto said = query::each_row(
        database,
        query::filled(query::sql::kDyesNames, {{"most", kNamesListedMax + 1}}),
        [&](auto row) {
            names += ++listed > kNamesListedMax ? " …" : fmt::format(" {}", row[0].text);
        });
    if (!said.ok()) {
        return said.error();
    }
    return Error(
        ErrorCode::kNotFound,
        names.empty()
            ? fmt::format(
                  "'{}' was recorded without dyes (record --dye {}=TEXT)", database.path(), name)
            : fmt::format(
                  "no dye of '{}' is called '{}'; there are:{}", database.path(), name, names));
}

class StartFinder {
  public:
    StartFinder(store::Database& database,
                const FollowQuestion& question,
                query::Operations& operations)
        : database_(database), question_(question), operations_(operations) {}

    Result<FollowStarts> find() {
        if (question_.path) {
            TRY(objects_, query::objects_called(database_, *question_.path));
        } else if (question_.dye) {
            TRY(find_dye());
        } else if (question_.text) {
            TRY(places_, places_of_windows(database_, question_));
            TRY(add_places_of_payload(database_.path(), *question_.text, places_));
        }
        const auto look_at = [&](const Operation& operation, std::uint64_t) {
            starts_.has_content = starts_.has_content || operation.fingerprint.has_value();
            if (operation.bytes > 0) {
                take(operation);
            }
        };
        TRY(operations_.each(look_at));
        if (starts_.pieces.empty() && !question_.path) {
            return not_found();
        }
        return std::move(starts_);
    }

  private:
    Result<void> find_dye() {
        std::uint64_t known = 0;
        TRY(query::each_row(database_,
                            query::filled(query::sql::kDyesCount, {{"dye", *question_.dye}}),
                            [&](auto row) { known = query::number_of(row[0]); }));
        if (known == 0) {
            return no_such_dye(database_, *question_.dye);
        }
        TRY(places_, places_of_dye(database_, *question_.dye));
        return {};
    }

    bool has_the_hash(const Operation& operation) const {
        return hash_ && operation.fingerprint == hash_ &&
               (!question_.text || operation.bytes == question_.text->size());
    }

    void take(const Operation& operation) {
        if (question_.path) {
            const bool forward = question_.direction == Direction::kForward;
            const Side& side = forward ? operation.from : operation.to;
            if (objects_.contains(side.object)) {
                const auto piece = piece_in(operation, side, question_);
                if (piece) {
                    namesakes_.insert(side.object);
                    starts_.files = namesakes_.size();
                }
                add(piece);
            }
            return;
        }
        if (question_.event ? operation.event == *question_.event : has_the_hash(operation)) {
            add(TrailPiece{operation.event, 0, operation.bytes});
        } else if (const auto places = places_.find(operation.event); places != places_.end()) {
            for (const auto& [begin, end] : places->second) {
                const auto last = std::min(
                    static_cast<std::uint64_t>(std::max(end, std::int64_t{0})), operation.bytes);
                const auto first = static_cast<std::uint64_t>(std::max(begin, std::int64_t{0}));
                add(first < last ? std::optional(TrailPiece{operation.event, first, last})
                                 : std::nullopt);
            }
        }
    }

    void add(const std::optional<TrailPiece>& piece) {
        if (!piece) {
            return;
        }
        if (starts_.pieces.size() >= kStartsMax) {
            starts_.is_cut = true;
            return;
        }
        starts_.pieces.push_back(*piece);
    }

    Error not_found() const {
        if (question_.event) {
            return {ErrorCode::kNotFound,
                    fmt::format("'{}' has no event {} that moved bytes (table events, column "
                                "event_id)",
                                database_.path(),
                                *question_.event)};
        }
        if (question_.dye) {
            return {
                ErrorCode::kNotFound,
                fmt::format("the dye '{}' was not met in '{}'", *question_.dye, database_.path())};
        }
        if (question_.text) {
            return {ErrorCode::kNotFound,
                    fmt::format("nothing in '{}' is known to be these {} bytes: a trace keeps "
                                "fingerprints, by which whole "
                                "calls (--content=hash) and some kilobytes (--content=anchors) are "
                                "known again; what is "
                                "shorter has to be a dye (record --dye NAME=TEXT) or kept as it is "
                                "(--content=bytes)",
                                database_.path(),
                                question_.text->size())};
        }
        return {ErrorCode::kNotFound,
                fmt::format("no event of '{}' moved bytes with the fingerprint {} (recorded with "
                            "--content=hash?)",
                            database_.path(),
                            *question_.hash)};
    }

    store::Database& database_;
    const FollowQuestion& question_;
    query::Operations& operations_;
    std::optional<std::uint64_t> hash_ =
        question_.text ? std::optional(content::fingerprint(
                             std::as_bytes(std::span(*question_.text)), question_.key))
                       : question_.hash;
    std::unordered_set<std::uint64_t> objects_;
    std::unordered_set<std::uint64_t> namesakes_;  // of them, those that are among the starts
    Places places_;
    FollowStarts starts_;
};

}  // namespace

std::string text_of(const FollowQuestion& question) {
    if (question.event) {
        return fmt::format("event {}", *question.event);
    }
    if (question.hash) {
        return fmt::format("bytes with the fingerprint {}", *question.hash);
    }
    if (question.dye) {
        return fmt::format("dye {}", *question.dye);
    }
    if (question.text) {
        return fmt::format("a text of {} bytes", question.text->size());
    }
    std::string text = *question.path;
    if (question.begin > 0 || question.end != UINT64_MAX) {
        text += fmt::format(", bytes {} to {}",
                            question.begin,
                            question.end == UINT64_MAX ? "the end" : std::to_string(question.end));
    }
    return text;
}

Result<FollowStarts> find_starts(store::Database& database,
                                 const FollowQuestion& question,
                                 query::Operations& operations) {
    return StartFinder(database, question, operations).find();
}

}  // namespace dyetrace::reports
