#include "reports/verify/verify_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "query/flows/trace_questions.h"
#include "query/named_sql.h"
#include "query/payload/sum_index.h"
#include "query/sql.h"
#include "reports/verify/verify_payload.h"
#include "schema/text.h"

namespace dyetrace::reports {
namespace {

using analysis::Channel;
using analysis::Copy;
using analysis::CopyLink;
using analysis::Direction;
using analysis::kUnknown;
using analysis::MovedPiece;
using analysis::Operation;
using analysis::Side;
using analysis::Trail;
using analysis::TrailFlow;
using analysis::TrailPiece;

constexpr std::size_t kPiecesMax = 4'000'000;  // calls that moved copies: 80 bytes each
constexpr std::size_t kCopiesMax = 10'000;     // each is compared with its reference

// One strip, or several if bytes were moved again: what a process moved from one object to another, or in or out.
using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // process, from, to

Key key_of(const Operation& operation) {
    return {operation.process, operation.from.object, operation.to.object};
}

// The side that says where the bytes are: of a copy in the kernel the one that they come from.
const Side& placing_side(const Operation& operation) {
    return operation.from.object != 0 && operation.from.offset != kUnknown ? operation.from
           : operation.to.object != 0 && operation.to.offset != kUnknown   ? operation.to
           : operation.from.object != 0                                    ? operation.from
                                                                           : operation.to;
}

// How much farther bytes lie in the file that they were put into; as it was last, where it changed.
std::uint64_t shift2_of(const std::vector<Operation>& operations) {
    const Operation& last = operations.back();
    const bool from_file_to_file = last.from.channel == Channel::kFile &&
                                   last.to.channel == Channel::kFile &&
                                   last.from.offset != kUnknown && last.to.offset != kUnknown;
    return from_file_to_file ? last.to.offset - last.from.offset : 0;
}

bool has_places(const Side& side) {
    return side.channel == Channel::kFile || side.channel == Channel::kTcp;
}

class CopyReader {
  public:
    CopyReader(store::Database& database, const VerifyQuestion& question)
        : database_(database), question_(question), all_operations_(database) {}

    Result<VerifyAnswer> read() {
        TRY(find_asked());
        TRY(find_starts());
        TRY(const std::vector<TrailFlow> flows,
            query::load_flows(database_, schema::Certainty::kLikely));
        walk(flows);
        TRY(collect_pieces());
        TRY(const query::SumIndex sums, query::SumIndex::load(database_, pieces_by_event_));
        make_copies(sums);
        if (copies_.size() > kCopiesMax) {
            return Error(ErrorCode::kLimitReached,
                         fmt::format("there are more than {} copies of {}: ask about fewer bytes",
                                     kCopiesMax,
                                     question_text()));
        }
        VerifyAnswer answer;
        answer.verdict = analysis::verify(copies_, links(), flows);
        keep_asked_range(answer.verdict);
        TRY(answer.changed_bytes, changed_bytes(database_.path(), copies_, answer.verdict.changes));
        answer.question = question_text();
        TRY(name_all(answer));
        return answer;
    }

  private:
    Result<void> find_asked() {
        if (question_.path) {
            TRY(objects_, query::objects_called(database_, question_.path->path));
        } else if (question_.event) {
            event_ = *question_.event;
        } else {
            TRY(query::each_row(database_,
                                query::filled(query::sql::kDyesFirstEvent,
                                              {{"dye", schema::escaped(*question_.dye)}}),
                                [&](query::Row row) { event_ = query::number_of(row[0]); }));
            if (event_ == 0) {
                return Error(ErrorCode::kNotFound,
                             fmt::format("the dye '{}' was not seen in '{}' (table dyes)",
                                         *question_.dye,
                                         database_.path()));
            }
        }
        return {};
    }

    bool is_asked(const Operation& operation, const Side& side) const {
        if (!objects_.contains(side.object) || side.object == 0) {
            return false;
        }
        return side.offset == kUnknown || (side.offset < question_.path->end &&
                                           side.offset + operation.bytes > question_.path->begin);
    }

    Result<void> find_starts() {
        TRY(all_operations_.each([&](const Operation& operation, std::uint64_t) {
            const bool is_start = question_.path ? is_asked(operation, operation.from) ||
                                                       is_asked(operation, operation.to)
                                                 : operation.event == event_;
            if (is_start && operation.bytes > 0 && starts_.size() < kPiecesMax) {
                starts_.push_back({operation.event, 0, operation.bytes});
                reached_.insert(operation.event);
            }
        }));
        if (starts_.empty()) {
            return Error(
                ErrorCode::kNotFound,
                fmt::format(
                    "nothing in '{}' moved bytes of {}", database_.path(), question_text()));
        }
        return {};
    }

    void walk(const std::vector<TrailFlow>& flows) {
        for (const Direction direction : {Direction::kForward, Direction::kBack}) {
            Trail trail(flows, direction, analysis::kTrailStepsMax);
            for (const TrailPiece& start : starts_) {
                trail.start(start);
            }
            trail.walk();
            for (const analysis::TrailStep& step : trail.steps()) {
                const bool forward = direction == Direction::kForward;
                reached_.insert(step.far_event);
                edges_.push_back({forward ? step.near_event : step.far_event,
                                  forward ? step.far_event : step.near_event,
                                  step.rule});
            }
        }
    }

    // All calls of those who moved a copy, also those that the trail did not reach: they are between its bytes. And what they wrote to files which they read
    // it from: a new version.
    Result<void> collect_pieces() {
        std::set<Key> keys;
        TRY(all_operations_.each([&](const Operation& operation, std::uint64_t) {
            if (reached_.contains(operation.event)) {
                keys.insert(key_of(operation));
                if (operation.from.channel == Channel::kFile) {
                    keys.insert({operation.process, 0, operation.from.object});
                }
            }
        }));
        bool is_too_many = false;
        TRY(all_operations_.each([&](const Operation& operation, std::uint64_t) {
            const bool moves =
                operation.bytes > 0 && !operation.unfinished && !operation.from.peeks;
            if (!moves || !keys.contains(key_of(operation))) {
                return;
            }
            if (pieces_by_event_.size() >= kPiecesMax) {
                is_too_many = true;
                return;
            }
            pieces_by_event_.insert(operation.event);
            operations_[key_of(operation)].push_back(operation);
        }));
        if (is_too_many) {
            return Error(ErrorCode::kLimitReached,
                         fmt::format("more than {} calls moved copies of {}: ask about fewer bytes",
                                     kPiecesMax,
                                     question_text()));
        }
        return {};
    }

    void make_copies(const query::SumIndex& sums) {
        for (auto& [key, operations] : operations_) {
            std::sort(operations.begin(), operations.end(), [](const auto& a, const auto& b) {
                return std::pair(a.end_ns, a.event) < std::pair(b.end_ns, b.event);
            });
            const bool in_file = placing_side(operations.front()).channel == Channel::kFile;
            const std::uint64_t shift2 = shift2_of(operations);
            for (analysis::Strip& strip : analysis::strips_of(pieces_of(operations, sums))) {
                add_copy(key, in_file, shift2, std::move(strip));
            }
        }
    }

    // Pieces are in order of their ends. Where a piece lies that is not certain to be there, nothing is compared.
    static std::vector<MovedPiece> pieces_of(const std::vector<Operation>& operations,
                                             const query::SumIndex& sums) {
        std::vector<MovedPiece> pieces;
        std::uint64_t next = 0, last_end_ns = 0;
        for (const Operation& operation : operations) {
            const Side& side = placing_side(operation);
            if (has_places(side) && side.offset == kUnknown) {
                continue;
            }
            MovedPiece piece{.event = operation.event,
                             .position = has_places(side) ? side.offset : next,
                             .bytes = operation.bytes,
                             .end_ns = operation.end_ns,
                             .sum = sums.sum_of(operation.event),
                             .anchors = sums.anchors_of(operation.event)};
            if (has_places(side) && !side.certain) {
                piece.sum.reset();
            } else if (!has_places(side) && operation.start_ns < last_end_ns) {
                piece.sum.reset();  // which of two calls at once was first nobody knows
                pieces.back().sum.reset();
            }
            next += operation.bytes;
            last_end_ns = operation.end_ns;
            pieces.push_back(piece);
        }
        return pieces;
    }

    // A copy is as old as the first of its bytes that are asked about: a log may have others from long before.
    void add_copy(const Key& key, bool in_file, std::uint64_t shift2, analysis::Strip strip) {
        std::uint64_t first_ns = UINT64_MAX, first_reached_ns = UINT64_MAX;
        for (const MovedPiece& piece : strip.pieces()) {
            first_ns = std::min(first_ns, piece.end_ns);
            if (reached_.contains(piece.event)) {
                first_reached_ns = std::min(first_reached_ns, piece.end_ns);
            }
            copy_of_.emplace(piece.event, copies_.size());
        }
        const auto& [process, from, to] = key;
        copies_.push_back({.process = process,
                           .object = from,
                           .object2 = to,
                           .first_ns = first_reached_ns == UINT64_MAX ? first_ns : first_reached_ns,
                           .in_file = in_file,
                           .strip = std::move(strip),
                           .shift2 = shift2});
    }

    std::vector<CopyLink> links() const {
        std::vector<CopyLink> links;
        for (const Edge& edge : edges_) {
            const auto from = copy_of_.find(edge.from), to = copy_of_.find(edge.to);
            if (from != copy_of_.end() && to != copy_of_.end() && from->second != to->second) {
                links.push_back({from->second, to->second, edge.rule});
            }
        }
        std::sort(links.begin(), links.end());
        links.erase(std::unique(links.begin(), links.end()), links.end());
        return links;
    }

    // A question about some bytes of a file leaves out changes that lie elsewhere in it.
    void keep_asked_range(analysis::CopyVerdict& verdict) const {
        if (!question_.path || (question_.path->begin == 0 && question_.path->end == UINT64_MAX)) {
            return;
        }
        struct InFile {
            analysis::StripComparison comparison;
            std::uint64_t shift;  // from places in the copy to those in the file
        };
        std::map<std::size_t, std::vector<InFile>> in_file;  // by reference
        for (const std::size_t reference : verdict.references) {
            for (const Copy& copy : copies_) {
                const bool is_from = objects_.contains(copy.object);
                if (is_from || objects_.contains(copy.object2)) {
                    in_file[reference].push_back(
                        {analysis::compare_strips(copies_[reference].strip, copy.strip),
                         is_from ? 0 : copy.shift2});
                }
            }
        }
        const auto is_elsewhere =
            [&](std::size_t reference, std::uint64_t begin, std::uint64_t end) {
                const auto& copies = in_file[reference];
                return std::none_of(copies.begin(), copies.end(), [&](const InFile& one) {
                    return !one.comparison.places.empty() &&
                           one.comparison.place_of(begin) + one.shift < question_.path->end &&
                           one.comparison.place_of(end) + one.shift > question_.path->begin;
                });
            };
        const auto changes_elsewhere = [&](const analysis::Change& change) {
            return is_elsewhere(change.reference, change.stretch.begin, change.stretch.end);
        };
        std::erase_if(verdict.changes, changes_elsewhere);
        std::erase_if(verdict.replaced, changes_elsewhere);
        std::erase_if(verdict.shorter, [&](const analysis::ShorterCopy& copy) {
            return is_elsewhere(copy.reference, copy.begin, copy.end);
        });
    }

    std::string question_text() const {
        if (question_.event) {
            return fmt::format("event {}", *question_.event);
        }
        if (question_.dye) {
            return fmt::format("the dye {}", *question_.dye);
        }
        const FileRange& range = *question_.path;
        if (range.begin == 0 && range.end == UINT64_MAX) {
            return range.path;
        }
        return fmt::format("{}, bytes {} to {}",
                           range.path,
                           range.begin,
                           range.end == UINT64_MAX ? "the end" : std::to_string(range.end));
    }

    Result<void> name_all(VerifyAnswer& answer) {
        std::vector<std::uint64_t> events;
        for (const Copy& copy : copies_) {
            events.push_back(copy.strip.pieces().front().event);
        }
        for (const analysis::Change& change : answer.verdict.replaced) {
            events.push_back(*change.replaced_by);
        }
        TRY(const auto labels, query::labels_of_events(database_, events));
        const auto labels_of = [&](std::uint64_t event) {
            const auto found = labels.find(event);
            return found == labels.end() ? query::EventLabels() : found->second;
        };
        TRY(const query::SharedClock clock, query::SharedClock::of(database_));
        std::uint64_t start_ns = UINT64_MAX, end_ns = 0;
        for (const Copy& copy : copies_) {
            query::EventLabels event = labels_of(copy.strip.pieces().front().event);
            event.start_ns = clock.at(copy.strip.pieces().front().event, event.start_ns);
            const std::pair range2{copy.begin2(), copy.end2()};
            const bool has_range2 = copy.in_file && copy.object != 0 && copy.object2 != 0;
            answer.copies.push_back({.who = event.who,
                                     .name = event.name,
                                     .what = event.what,
                                     .begin = copy.strip.begin(),
                                     .end = copy.strip.end(),
                                     .range2 = has_range2 ? std::optional(range2) : std::nullopt,
                                     .calls = copy.strip.pieces().size(),
                                     .first_event = copy.strip.pieces().front().event,
                                     .start_ns = event.start_ns});
            start_ns = std::min(start_ns, event.start_ns);
            for (const MovedPiece& piece : copy.strip.pieces()) {
                end_ns = std::max(end_ns, clock.at(piece.event, piece.end_ns));
            }
        }
        for (const analysis::Change& change : answer.verdict.replaced) {
            const query::EventLabels event = labels_of(*change.replaced_by);
            answer.replacers.push_back({.who = event.who,
                                        .name = event.name,
                                        .what = event.what,
                                        .calls = 1,
                                        .first_event = *change.replaced_by,
                                        .start_ns = clock.at(*change.replaced_by, event.start_ns)});
        }
        TRY(answer.gaps, query::gaps_between(database_, clock, start_ns, end_ns));
        return {};
    }

    struct Edge {
        std::uint64_t from, to;
        schema::FlowRule rule;
    };

    store::Database& database_;
    const VerifyQuestion& question_;
    query::Operations all_operations_;
    std::unordered_set<std::uint64_t> objects_;
    std::uint64_t event_ = 0;
    std::vector<TrailPiece> starts_;
    std::unordered_set<std::uint64_t> reached_;  // events
    std::vector<Edge> edges_;
    std::unordered_set<std::uint64_t> pieces_by_event_;
    std::map<Key, std::vector<Operation>> operations_;
    std::vector<Copy> copies_;
    std::unordered_map<std::uint64_t, std::size_t> copy_of_;  // by event
};

}  // namespace

Result<VerifyAnswer> read_copies(store::Database& database, const VerifyQuestion& question) {
    return CopyReader(database, question).read();
}

}  // namespace dyetrace::reports
