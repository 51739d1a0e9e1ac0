// dyetrace pattern: how a file, or a set of files, was read and written, and in which order passes over it met what.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/verbs.h"
#include "base/log.h"
#include "format/table.h"
#include "query/damages.h"
#include "reports/pattern/pattern_answer.h"
#include "reports/pattern/pattern_sql.h"
#include "schema/text.h"
#include "store/database.h"

namespace dyetrace::apps {
namespace {

constexpr std::size_t kFilesMax = 1'000'000;  // 200 bytes each while the steps are counted
constexpr std::size_t kGroupsMax =
    64;  // readers and writers; those with fewer accesses are left out

struct PatternArguments {
    std::string trace, path, by;
    bool json = false;
};

using Cells = std::span<const store::Cell>;

std::uint64_t number(const store::Cell& cell) {
    return cell.unsigned_number().value_or(0);
}

std::string text(const store::Cell& cell) {
    return std::string(cell.text);
}

class PatternReader {
  public:
    PatternReader(store::Database& database, reports::PatternSql sql)
        : database_(database), sql_(std::move(sql)) {}

    Result<void> read(reports::PatternAnswer& answer) {
        TRY(ask(sql_.views, [](Cells) {}));
        TRY(read_files(answer));
        TRY(read_groups(answer));
        TRY(read_accesses());
        for (auto& [rank, group] : done_) {
            answer.groups.push_back(std::move(group));
        }
        return ask(sql_.mappings, [&](Cells c) { answer.mappings = number(c[0]); });
    }

    Result<std::vector<std::string>> alike() {
        std::vector<std::string> paths;
        TRY(ask(sql_.alike, [&](Cells c) { paths.push_back(text(c[0])); }));
        return paths;
    }

  private:
    using Key = std::pair<std::string, std::string>;  // access, process or thread

    struct Ranked {
        reports::PatternGroup group;
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

    Result<void> read_files(reports::PatternAnswer& answer) {
        TRY(ask(sql_.files, [&](Cells c) {
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

    Result<void> read_groups(reports::PatternAnswer& answer) {
        return ask(sql_.groups, [&](Cells c) {
            if (waiting_.size() == kGroupsMax) {
                ++answer.groups_left_out;
                return;
            }
            reports::PatternGroup group;
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
        TRY(ask(sql_.accesses, [&](Cells c) {
            if (c[0].text != key.first || c[1].text != key.second) {
                finish(key, std::exchange(builder, analysis::PatternBuilder()));
                key = {text(c[0]), text(c[1])};
            }
            analysis::Access access{.offset = number(c[3]),
                                    .bytes = number(c[4]),
                                    .start_ns = number(c[5]),
                                    .file = static_cast<std::uint32_t>(number(c[2]))};
            if (c[6].kind != store::CellKind::kNull) {
                access.fingerprint = number(c[6]);
            }
            builder.add(access);
        }));
        finish(key, std::move(builder));
        return {};
    }

    void finish(const Key& key, analysis::PatternBuilder builder) {
        if (const auto waiting = waiting_.find(key); waiting != waiting_.end()) {
            Ranked& ranked = waiting->second;
            done_.emplace(
                ranked.rank,
                reports::drawn(std::move(ranked.group), std::move(builder).finish(sizes_)));
        }
    }

    store::Database& database_;
    reports::PatternSql sql_;
    std::vector<std::uint64_t> sizes_;
    std::map<Key, Ranked> waiting_;
    std::map<std::size_t, reports::PatternGroup> done_;
};

reports::PatternBy by_of(const std::string& word) {
    return word == "process"  ? reports::PatternBy::kProcess
           : word == "thread" ? reports::PatternBy::kThread
                              : reports::PatternBy::kAll;
}

// As the trace has it: from the root, with the escape of bytes that are not text.
std::string path_in_trace(const std::string& path) {
    const bool is_anywhere =
        path.starts_with('/') || path.starts_with('*') || path.starts_with('?');
    std::error_code error;
    const auto whole =
        is_anywhere ? std::filesystem::path(path) : std::filesystem::current_path(error) / path;
    return schema::escaped(whole.lexically_normal().string());
}

Error no_access(const reports::PatternAnswer& answer, const std::vector<std::string>& alike) {
    std::string message =
        fmt::format("no read or write of '{}' in the trace '{}'", answer.path, answer.trace);
    if (answer.mappings > 0) {
        message += ": it was mapped into memory, and what moves through a mapping is not seen";
    } else if (!alike.empty()) {
        message += fmt::format("; there is '{}'", fmt::join(alike, "', '"));
    }
    return Error(ErrorCode::kNotFound, std::move(message));
}

Result<reports::PatternAnswer> read_pattern(const PatternArguments& arguments,
                                            const base::Log& log) {
    TRY(const std::unique_ptr<store::Database> database,
        store::Database::open(arguments.trace, {}));
    query::say_damages(*database, log);
    if (const std::string losses = database->losses().text(); !losses.empty()) {
        log.warn(fmt::format("the trace has {}; the table `gaps` says where", losses));
    }
    reports::PatternAnswer answer;
    answer.trace = arguments.trace;
    answer.path = path_in_trace(arguments.path);
    answer.by = arguments.by;
    PatternReader reader(*database, reports::pattern_sql(answer.path, by_of(arguments.by)));
    TRY(reader.read(answer));
    if (answer.groups.empty()) {
        TRY(const std::vector<std::string> alike, reader.alike());
        return no_access(answer, alike);
    }
    return answer;
}

int run_pattern(const PatternArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    const Result<reports::PatternAnswer> answer = read_pattern(arguments, log);
    if (!answer.ok()) {
        log.fail(answer.error());
        return 1;
    }
    const std::string out =
        arguments.json
            ? reports::pattern_json(answer.value())
            : reports::pattern_text(answer.value(), format::terminal_width(STDOUT_FILENO));
    std::fwrite(out.data(), 1, out.size(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

void add_pattern(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<PatternArguments>();
    CLI::App* verb = app.add_subcommand(
        "pattern", "Say how files were read and written, and in which order passes met what");
    verb->add_option("trace", arguments->trace, "Folder of the trace; it may still be recorded")
        ->type_name("TRACE")
        ->required();
    verb->add_option(
            "--path", arguments->path, "A file, or a glob for a set of files; * matches / too")
        ->type_name("PATH")
        ->required();
    verb->add_option("--by", arguments->by, "Each process, or each thread, by itself")
        ->check(CLI::IsMember({"process", "thread"}))
        ->type_name("WHO");
    verb->add_flag("--json", arguments->json, "One JSON object, with the points of a picture");
    verb->footer(
        "Examples:\n"
        "  dyetrace pattern trace --path /data/train.rec\n"
        "  dyetrace pattern trace --path '/data/shard-*.rec' --by process\n"
        "  dyetrace pattern trace --path /var/lib/app.db --json");
    verb->callback([arguments, &exit_status] { exit_status = run_pattern(*arguments); });
}

}  // namespace dyetrace::apps
