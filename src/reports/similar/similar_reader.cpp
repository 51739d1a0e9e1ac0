#include "reports/similar/similar_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/similarity/resemblance.h"
#include "query/asked_rows.h"
#include "query/flows/trace_questions.h"
#include "query/named_sql.h"
#include "query/similarity/item_reader.h"
#include "query/sql.h"

namespace dyetrace::reports {
namespace {

using analysis::Contents;
using analysis::Item;
using analysis::Resemblance;

constexpr std::size_t kPairsMax = 10'000;  // of an answer: more than people or pictures need
// A question about one item looks at all that share an anchor.
constexpr std::size_t kSharersOfOne = SIZE_MAX;

class SimilarReader {
  public:
    SimilarReader(const std::vector<std::unique_ptr<store::Database>>& databases,
                  const SimilarQuestion& question)
        : databases_(databases), question_(question) {
        answer_.are_objects = !question.event;
        for (const auto& database : databases) {
            answer_.traces.push_back(database->path());
        }
    }

    Result<SimilarAnswer> read() && {
        TRY(const std::vector<std::uint64_t> subjects, subject_ids());
        TRY(read_contents());
        analysis::SimilarityIndex index(
            contents_,
            question_.is_about_all() ? analysis::SimilarityIndex::kSharersMax : kSharersOfOne);
        if (question_.is_about_all()) {
            take_all(index);
        } else {
            TRY(find_subject(subjects));
            take_subject(index);
        }
        keep_best();
        TRY(name_items());
        return std::move(answer_);
    }

  private:
    schema::ItemKind kind() const {
        return answer_.are_objects ? schema::ItemKind::kObject : schema::ItemKind::kEvent;
    }

    Result<std::vector<std::uint64_t>> subject_ids() const {
        if (question_.event || question_.object) {
            return std::vector{question_.event ? *question_.event : *question_.object};
        }
        if (!question_.path) {
            return std::vector<std::uint64_t>();
        }
        TRY(const std::unordered_set<std::uint64_t> objects,
            query::objects_called(*databases_[0], *question_.path));
        std::vector<std::uint64_t> ids(objects.begin(), objects.end());
        std::sort(ids.begin(), ids.end());
        return ids;
    }

    // Other anchors, or another key, would look like other bytes.
    Result<void> refuse_other_anchors() const {
        std::vector<std::string> found;
        for (const auto& database : databases_) {
            std::string how = "it is not said what";  // a trace of before that was noted
            TRY(query::each_row(*database,
                                query::filled(query::sql::kContentHowLookedAt),
                                [&](query::Row row) { how = row[0].text; }));
            found.push_back(how);
            if (found.front() != how) {
                return Error(ErrorCode::kUnsupported,
                             fmt::format("'{}' has {}, and '{}' {}: record both with the same "
                                         "--content, --anchor-distance and --content-key",
                                         databases_[0]->path(),
                                         found.front(),
                                         database->path(),
                                         how));
            }
        }
        return {};
    }

    Result<void> read_contents() {
        analysis::Items items;
        for (std::uint32_t trace = 0; trace < databases_.size(); ++trace) {
            const std::size_t before = items.size();
            TRY(query::read_items(*databases_[trace], kind(), trace, items));
            if (items.size() == before) {
                return Error(ErrorCode::kNotFound,
                             fmt::format("no bytes were looked at in '{}': record it with "
                                         "--content=anchors",
                                         databases_[trace]->path()));
            }
        }
        TRY(refuse_other_anchors());
        answer_.compared = items.size();
        contents_ = std::move(items).finish();
        answer_.unknown = contents_.unknown();
        return {};
    }

    void take(const Resemblance& one) {
        if (std::max(one.a_in_b.estimate, one.b_in_a.estimate) < question_.min) {
            return;
        }
        SimilarPair pair;
        pair.a = item_of(*one.a, one.compared.of_a);
        pair.b = item_of(*one.b, one.compared.of_b);
        pair.equal = one.equal;
        pair.jaccard = one.jaccard;
        pair.a_in_b = one.a_in_b;
        pair.b_in_a = one.b_in_a;
        pair.shared = one.compared.shared;
        pair.shared_bytes = one.shared_bytes;
        answer_.pairs.push_back(std::move(pair));
        if (answer_.pairs.size() >= 2 * kPairsMax) {
            keep_best();
        }
    }

    static SimilarItem item_of(const Item& item, std::uint64_t anchors) {
        return {item.id, item.trace, {}, item.bytes, anchors};
    }

    // The first item of a content in a trace stands for all.
    const Item* first_in(std::uint32_t content, std::uint32_t trace) const {
        for (const std::uint32_t member : contents_.members(content)) {
            if (contents_.items()[member].trace == trace) {
                return &contents_.items()[member];
            }
        }
        return nullptr;
    }

    void take_all(analysis::SimilarityIndex& index) {
        const auto last = static_cast<std::uint32_t>(databases_.size() - 1);
        analysis::Resemblances resemblances(index, {.share_min = question_.min});
        std::vector<Resemblance> found;
        while (resemblances.next(found)) {
            for (const Resemblance& one : found) {
                if (last == 0) {
                    take(one);
                } else {
                    take_across(one);
                }
            }
            found.clear();
        }
        for (std::uint32_t content = 0; last > 0 && content < contents_.size(); ++content) {
            take_between(content, content, contents_.size_of(content));
        }
    }

    // Takes two contents, each of which may be in either trace; copies have one content.
    void take_across(const Resemblance& one) {
        const auto a = static_cast<std::uint32_t>(*contents_.of_item(index_of(*one.a)));
        const auto b = static_cast<std::uint32_t>(*contents_.of_item(index_of(*one.b)));
        if (a != b) {
            take_between(a, b, one.compared.shared);
            take_between(b, a, one.compared.shared);
        }
    }

    std::size_t index_of(const Item& item) const {
        return static_cast<std::size_t>(&item - contents_.items().data());
    }

    void take_between(std::uint32_t a, std::uint32_t b, std::uint64_t shared) {
        const Item* const here = first_in(a, 0);
        const Item* const there = first_in(b, 1);
        if (here != nullptr && there != nullptr) {
            take(resemblance_of(*here, *there, contents_.compared(a, b, shared)));
        }
    }

    // If several objects had the name, takes the one of which most is known.
    Result<void> find_subject(const std::vector<std::uint64_t>& ids) {
        for (std::size_t item = 0; item < contents_.items().size(); ++item) {
            const Item& one = contents_.items()[item];
            const bool is_meant =
                one.trace == 0 && std::find(ids.begin(), ids.end(), one.id) != ids.end();
            const auto content = contents_.of_item(item);
            if (!is_meant || !content) {
                continue;
            }
            const SimilarItem found = item_of(one, contents_.size_of(*content));
            if (!answer_.subject || answer_.subject->anchors < found.anchors) {
                answer_.subject = found;
                subject_ = item;
            }
            ++answer_.same_name;
        }
        if (answer_.subject) {
            return {};
        }
        return Error(
            ErrorCode::kNotFound,
            fmt::format("nothing is known of the bytes of {} in '{}': it moved none, they "
                        "were not looked at, or they are too few to have an anchor",
                        question_.path ? "'" + *question_.path + "'" : fmt::format("{}", ids.at(0)),
                        databases_[0]->path()));
    }

    void take_subject(analysis::SimilarityIndex& index) {
        const std::uint32_t content = *contents_.of_item(subject_);
        take_members(content, content, contents_.size_of(content));
        for (const analysis::Shared& one : index.sharing(content)) {
            take_members(content, one.content, one.prints);
        }
    }

    void take_members(std::uint32_t content, std::uint32_t other, std::uint64_t shared) {
        const Item& subject = contents_.items()[subject_];
        for (const std::uint32_t member : contents_.members(other)) {
            const Item& item = contents_.items()[member];
            if (&item != &subject && item.trace + 1 == databases_.size()) {
                take(resemblance_of(subject, item, contents_.compared(content, other, shared)));
            }
        }
    }

    void keep_best() {
        auto& pairs = answer_.pairs;
        const auto rank = [](const SimilarPair& pair) {
            return std::tuple(-pair.jaccard.low,
                              -pair.jaccard.estimate,
                              UINT64_MAX - pair.shared_bytes,
                              pair.a.id,
                              pair.b.trace,
                              pair.b.id);
        };
        std::sort(pairs.begin(), pairs.end(), [&](const SimilarPair& a, const SimilarPair& b) {
            return rank(a) < rank(b);
        });
        if (pairs.size() > kPairsMax) {
            answer_.left_out += pairs.size() - kPairsMax;
            pairs.resize(kPairsMax);
        }
    }

    template <typename Change>
    void each_item(Change change) {
        if (answer_.subject) {
            change(*answer_.subject);
        }
        for (SimilarPair& pair : answer_.pairs) {
            change(pair.a);
            change(pair.b);
        }
    }

    Result<void> name_items() {
        for (std::uint32_t trace = 0; trace < databases_.size(); ++trace) {
            std::map<std::uint64_t, std::string> names;
            std::string ids;
            each_item([&](const SimilarItem& item) {
                if (item.trace == trace && names.emplace(item.id, "").second) {
                    ids += (ids.empty() ? "" : ",") + std::to_string(item.id);
                }
            });
            if (ids.empty()) {
                continue;
            }
            const std::string_view sql =
                answer_.are_objects ? query::sql::kNamesOfObjects : query::sql::kNamesOfEvents;
            TRY(query::each_row(
                *databases_[trace],
                query::filled(sql, {{"ids", query::SqlPiece{ids}}}),
                [&](query::Row row) { names[query::number_of(row[0])] = row[1].text; }));
            each_item([&](SimilarItem& item) {
                if (item.trace == trace) {
                    item.name = names[item.id];
                }
            });
        }
        return {};
    }

    const std::vector<std::unique_ptr<store::Database>>& databases_;
    const SimilarQuestion& question_;
    SimilarAnswer answer_;
    Contents contents_;
    std::size_t subject_ = 0;  // a item
};

}  // namespace

Result<SimilarAnswer> read_similar(const std::vector<std::unique_ptr<store::Database>>& databases,
                                   const SimilarQuestion& question) {
    return SimilarReader(databases, question).read();
}

}  // namespace dyetrace::reports
