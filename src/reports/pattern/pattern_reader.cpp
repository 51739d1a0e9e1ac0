#include "reports/pattern/pattern_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "query/flows/trace_questions.h"
#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::reports {
namespace {

constexpr std::size_t kFilesMax = 1'000'000;  // 200 bytes each while the steps are counted
constexpr std::size_t kGroupsMax =
    64;  // readers and writers; those with fewer accesses are left out

const char* key_of(PatternBy by) {
    return by == PatternBy::kProcess ? "process_id" : by == PatternBy::kThread ? "thread_id" : "0";
}

const char* word_of(PatternBy by) {
    return by == PatternBy::kProcess ? "process" : by == PatternBy::kThread ? "thread" : "";
}

using Cells = std::span<const store::Cell>;

std::uint64_t number(const store::Cell& cell) {
    std::uint64_t value = 0;
    std::from_chars(cell.text.data(), cell.text.data() + cell.text.size(), value);
    return value;
}

std::string text(const store::Cell& cell) {
    return std::string(cell.text);
}

class PatternReader {
  public:
    PatternReader(store::Database& database, const std::string& path, PatternBy by)
        : database_(database), path_(path), by_(by) {}

    Result<void> read(PatternAnswer& answer) {
        TRY(ask(query::filled(query::sql::kPatternViews,
                              {{"path", path_}, {"key", query::SqlPiece{key_of(by_)}}}),
                [](Cells) {}));
        TRY(read_files(answer));
        TRY(read_groups(answer));
        TRY(read_accesses());
        for (auto& [rank, group] : done_) {
            answer.groups.push_back(std::move(group));
        }
        return ask(query::filled(query::sql::kPatternMappings, {{"path", path_}}),
                   [&](Cells c) { answer.mappings = number(c[0]); });
    }

  private:
    using Key = std::pair<std::string, std::string>;  // access, process or thread

    struct Ranked {
        PatternGroup group;
        std::size_t rank = 0;
    };

    template <typename Take>
    Result<void> ask(const std::string& sql, Take take) {
        return database_.query(sql, [&](store::Rows& rows) -> Result<void> {
            while (true) {
                TRY(const Cells row, rows.next());
                if (row.empty()) {
                    return {};
                }
                take(row);
            }
        });
    }

    Result<void> read_files(PatternAnswer& answer) {
        TRY(ask(query::filled(query::sql::kPatternFiles), [&](Cells c) {
            answer.files.push_back(text(c[0]));
            sizes_.push_back(number(c[1]));
        }));
        if (answer.files.size() > kFilesMax) {
            return Error(ErrorCode::kLimitReached,
                         fmt::format("'{}' names {} files, and at most {} are looked at at once: "
                                     "take a narrower --path",
                                     answer.path,
                                     answer.files.size(),
                                     kFilesMax));
        }
        return {};
    }

    Result<void> read_groups(PatternAnswer& answer) {
        const bool is_thread = by_ == PatternBy::kThread;
        const std::string sql =
            query::filled(query::sql::kPatternGroups,
                          {{"who", query::SqlPiece{is_thread ? "thread" : "process"}},
                           {"many", is_thread ? "threads" : "processes"}});
        return ask(sql, [&](Cells c) {
            if (waiting_.size() == kGroupsMax) {
                ++answer.groups_left_out;
                return;
            }
            PatternGroup group;
            group.access = text(c[0]);
            group.who = text(c[2]);
            group.processes = number(c[3]);
            group.threads = number(c[4]);
            group.files = number(c[5]);
            group.uncertain = number(c[6]);
            const std::size_t rank = waiting_.size();
            waiting_[{text(c[0]), text(c[1])}] = {std::move(group), rank};
        });
    }

    // They come group by group.
    Result<void> read_accesses() {
        Key key;
        analysis::PatternBuilder builder;
        TRY(ask(query::filled(query::sql::kPatternAccesses), [&](Cells c) {
            if (c[0].text != key.first || c[1].text != key.second) {
                finish(key, std::exchange(builder, analysis::PatternBuilder()));
                key = {text(c[0]), text(c[1])};
            }
            analysis::Access access{.offset = number(c[3]),
                                    .bytes = number(c[4]),
                                    .start_ns = number(c[5]),
                                    .file = static_cast<std::uint32_t>(number(c[2]))};
            if (const auto fingerprint = c[6].signed_number()) {
                access.fingerprint = static_cast<std::uint64_t>(*fingerprint);
            }
            builder.add(access, number(c[7]));
        }));
        finish(key, std::move(builder));
        return {};
    }

    void finish(const Key& key, analysis::PatternBuilder builder) {
        if (const auto waiting = waiting_.find(key); waiting != waiting_.end()) {
            Ranked& ranked = waiting->second;
            done_.emplace(ranked.rank,
                          drawn(std::move(ranked.group), std::move(builder).finish(sizes_)));
        }
    }

    store::Database& database_;
    const std::string& path_;
    PatternBy by_;
    std::vector<std::uint64_t> sizes_;
    std::map<Key, Ranked> waiting_;
    std::map<std::size_t, PatternGroup> done_;
};

Error no_access(const PatternAnswer& answer, const std::string& meant) {
    std::string message =
        fmt::format("no read or write of '{}' in the trace '{}'", answer.path, answer.trace);
    if (answer.mappings > 0) {
        message += ": it was mapped into memory, and what moves through a mapping is not seen";
    } else {
        message += meant;
    }
    return Error(ErrorCode::kNotFound, std::move(message));
}

}  // namespace

Result<PatternAnswer> read_pattern(store::Database& database,
                                   const std::string& path,
                                   PatternBy by) {
    PatternAnswer answer;
    answer.trace = database.path();
    answer.path = path;
    answer.by = word_of(by);
    PatternReader reader(database, path, by);
    TRY(reader.read(answer));
    if (answer.groups.empty()) {
        TRY(const std::string meant, query::names_meant(database, path));
        return no_access(answer, meant);
    }
    return answer;
}

}  // namespace dyetrace::reports
