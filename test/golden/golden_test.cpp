// A trace, questions and the rows that answer them, as text: each file *.test of this folder is a test.
//
//   # A comment.
//   trace
//   12x 7 1700000000.000000 close(9) = -1 EBADF (Bad file descriptor)            the same line twelve times
//   7 1700000000.000000 openat(AT_FDCWD</tmp>, "x", O_RDONLY) = 3</tmp/x>        what strace -f -ttt -T -yy wrote
//
//   records
//   host client wall_offset_ns=1700000000000000000                               the same in place of `trace`: what a recorder wrote, record by record (record_text.h)
//   task_context context_id=1 pid=10 tid=10 comm=curl
//
//   ask names_objects_called {"path": "/tmp/x"}                                  a statement of src/query/sql by its name, with its values
//   ----
//   3                                                                            a row; cells have a bar between them
//
//   page file_users {"object": "3"}                                              a statement of src/api/page/sql
//
//   ask pattern_views {"path": "/tmp/x"} key=process_id                          a piece of SQL in place of $key; nothing is expected
//
//   sql {"word": 1}
//   SELECT count(*) FROM (@timeline_names)                                       any SQL; @name is the statement of that name
//   ----
//   402
//
// Each statement of src/query/sql must be asked, and one answer at least must have rows, else a test fails.
//
// Rows of a statement that gives them in no order are sorted. Blocks are parted by empty lines. `golden_test --update` writes what came in place of the expected rows: read the difference before it is committed.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "api/page/sql.h"
#include "base/file.h"
#include "base/json.h"
#include "base/temporary_folder.h"
#include "importer/importer.h"
#include "query/analysis_database.h"
#include "query/named_sql.h"
#include "query/selected_events.h"
#include "query/sql.h"
#include "record_text.h"

namespace dyetrace::query {
namespace {

constexpr std::size_t kFileBytesMax = 1u << 20;
bool updates = false;

std::vector<std::string> golden_files() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(GOLDEN_FOLDER)) {
        if (entry.path().extension() == ".test") {
            names.push_back(entry.path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string path_of(const std::string& name) {
    return std::string(GOLDEN_FOLDER) + "/" + name + ".test";
}

std::string text_of(const std::string& name) {
    return base::read_file(path_of(name), kFileBytesMax).value();
}

struct Block {
    std::vector<std::string> lines, expected;
    bool expects = false;
};

std::vector<Block> blocks_of(const std::string& text) {
    std::vector<Block> blocks;
    std::istringstream lines(text);
    Block block;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() && !block.lines.empty()) {
            blocks.push_back(std::exchange(block, {}));
        } else if (line == "----") {
            block.expects = true;
        } else if (!line.empty()) {
            (block.expects ? block.expected : block.lines).push_back(line);
        }
    }
    if (!block.lines.empty()) {
        blocks.push_back(block);
    }
    return blocks;
}

std::string statement_called(const auto& statements, const std::string& name) {
    const auto* const found = std::ranges::find(statements, name, &sql::NamedText::first);
    EXPECT_NE(found, statements.end()) << "no statement is called '" << name << "'";
    return found == statements.end() ? "" : std::string(found->second);
}

// `words` is the part of the first line after `ask NAME` or `sql`: {"word": value} piece=SQL
std::string with_words(std::string statement, const std::string& words) {
    static const std::regex kWords(R"((?: (\{.*\}))?((?: \w+=\S+)*))");
    std::smatch parts;
    if (!std::regex_match(words, parts, kWords)) {
        ADD_FAILURE() << "not understood: " << words;
        return "";
    }
    static const std::regex kPiece(R"((\w+)=(\S+))");
    const std::string pieces = parts[2];
    for (std::sregex_iterator at(pieces.begin(), pieces.end(), kPiece), end; at != end; ++at) {
        const std::regex word("\\$" + at->str(1) + "\\b");
        statement = std::regex_replace(statement, word, at->str(2));
    }
    const std::string values = parts[1].matched ? parts.str(1) : "{}";
    const auto filled_in = with_values(statement, base::Json::parse(values).value());
    EXPECT_TRUE(filled_in.ok()) << words << ": " << filled_in.error().text();
    return filled_in.ok() ? filled_in.value() : "";
}

// @name is the statement of that name.
std::string with_statements(std::string sql) {
    static const std::regex kName(R"(@(\w+))");
    for (std::smatch name; std::regex_search(sql, name, kName);) {
        const std::string whole = name[0], text = statement_called(sql::kAll, name[1]);
        sql.replace(sql.find(whole), whole.size(), text);
    }
    return sql;
}

std::string statement_of(const Block& block) {
    static const std::regex kFirst(R"((sql|ask (\w+)|page (\w+))(.*))");
    std::smatch first;
    if (!std::regex_match(block.lines[0], first, kFirst)) {
        ADD_FAILURE() << "not understood: " << block.lines[0];
        return "";
    }
    if (first[2].matched) {
        return with_words(statement_called(sql::kAll, first[2]), first[4]);
    }
    if (first[3].matched) {
        return with_words(statement_called(api::page::sql::kAll, first[3]), first[4]);
    }
    std::string sql;
    for (std::size_t i = 1; i < block.lines.size(); ++i) {
        sql += block.lines[i] + "\n";
    }
    return with_words(with_statements(sql), first[4]);
}

// What the page calls `selected` is all of the trace here.
std::vector<std::string> rows_of(store::Database& database,
                                 SelectedEvents& selected,
                                 const std::string& statement) {
    std::vector<std::string> rows;
    const std::atomic<bool> cancelled = false;
    selected.select(database, base::Json::object(), statement, cancelled).value();
    const auto done = database.query(statement, [&](store::Rows& found) -> Result<void> {
        for (;;) {
            TRY(const auto row, found.next());
            if (row.empty()) {
                return {};
            }
            std::string line;
            for (const store::Cell& cell : row) {
                line += line.empty() && &cell == row.data() ? "" : " | ";
                line += cell.kind == store::CellKind::kNull ? "NULL" : std::string(cell.text);
            }
            rows.push_back(line);
        }
    });
    static const std::regex kWindow("over *\\([^()]*\\)", std::regex::icase);
    static const std::regex kOrder("order by", std::regex::icase);
    if (!std::regex_search(std::regex_replace(statement, kWindow, ""), kOrder)) {
        std::sort(rows.begin(), rows.end());
    }
    if (!done.ok()) {
        rows.push_back("error: " + done.error().text());
    }
    return rows;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    return text;
}

// A join of all calls of one size costs the square of a trace.
void expect_no_join_by_size(store::Database& database,
                            SelectedEvents& selected,
                            const std::string& statement) {
    const std::string plan =
        joined(rows_of(database, selected, "EXPLAIN (FORMAT JSON) " + statement));
    EXPECT_EQ(plan.find("\"CAST(bytes AS HUGEINT) = CAST(bytes AS HUGEINT)\""), std::string::npos)
        << statement;
}

// The lines after the first, those with `12x ` in front of them twelve times.
std::vector<std::string> lines_of(const Block& block) {
    static const std::regex kTimes(R"((\d+)x (.*))");
    std::vector<std::string> lines;
    for (std::size_t i = 1; i < block.lines.size(); ++i) {
        std::smatch parts;
        const bool is_more = std::regex_match(block.lines[i], parts, kTimes);
        const std::string line = is_more ? parts.str(2) : block.lines[i];
        for (int left = is_more ? std::stoi(parts[1]) : 1; left > 0; --left) {
            lines.push_back(line);
        }
    }
    return lines;
}

class Golden : public testing::Test {
  public:
    explicit Golden(std::string name) : name_(std::move(name)) {}
    void TestBody() override;

  protected:
    std::unique_ptr<store::Database> database_of(const Block& block) {
        const std::string path = temporary_.path() + "/trace";
        if (block.lines[0] == "records") {
            write_recorded_trace(path, lines_of(block));
        } else {
            import(block, path);
        }
        auto database =
            open_analysis_database(path, {.database = {.threads = 1, .memory_limit = ""}});
        EXPECT_TRUE(database.ok()) << database.error().text();
        return database.ok() ? std::move(database).value() : nullptr;
    }

    void import(const Block& block, const std::string& path) const {
        const std::string log = temporary_.path() + "/log";
        std::ofstream(log) << joined(lines_of(block));
        const auto summary = importer::import_logs({.files = {log},
                                                    .trace_path = path,
                                                    .format = importer::LogFormat::kStrace,
                                                    .options = {.host = "web1"}});
        EXPECT_TRUE(summary.ok()) << summary.error().text();
    }

    std::string name_;
    base::TemporaryFolder temporary_ = base::TemporaryFolder::make().value();
};

void Golden::TestBody() {
    std::unique_ptr<store::Database> database;
    SelectedEvents selected(SelectedEvents::Keep::kNothing);
    std::string updated;
    for (const Block& block : blocks_of(text_of(name_))) {
        updated += (updated.empty() ? "" : "\n") + joined(block.lines);
        Block said = block;
        std::erase_if(said.lines, [](const std::string& line) { return line.starts_with("#"); });
        if (said.lines.empty()) {
            continue;
        }
        if (said.lines[0] == "trace" || said.lines[0] == "records") {
            database = database_of(said);
            continue;
        }
        ASSERT_NE(database, nullptr) << "first a trace, then questions";
        std::vector<std::string> rows = rows_of(*database, selected, statement_of(said));
        expect_no_join_by_size(*database, selected, statement_of(said));
        for (std::string& row : rows) {
            const std::size_t at = row.find(temporary_.path());
            row = at == std::string::npos ? row : row.replace(at, temporary_.path().size(), "…");
        }
        if (!updates) {
            EXPECT_EQ(joined(rows), joined(block.expected)) << said.lines[0];
        }
        updated += block.expects || !rows.empty() ? "----\n" + joined(rows) : "";
    }
    if (updates) {
        std::ofstream(path_of(name_)) << updated;
    }
}

// A suite per file: they run beside each other.
void register_files() {
    for (const std::string& name : golden_files()) {
        testing::RegisterTest(
            name.c_str(), "answers", nullptr, nullptr, __FILE__, __LINE__, [name]() -> Golden* {
                return new Golden(name);
            });
    }
}

// The blocks of a file that ask, without comments.
std::vector<Block> questions_of(const std::string& name) {
    std::vector<Block> blocks = blocks_of(text_of(name));
    for (Block& block : blocks) {
        std::erase_if(block.lines, [](const std::string& line) { return line.starts_with("#"); });
    }
    std::erase_if(blocks, [](const Block& block) {
        return block.lines.empty() || block.lines[0] == "trace" || block.lines[0] == "records";
    });
    return blocks;
}

using Words = std::set<std::string, std::less<>>;

void add_words(Words& words, std::string_view text) {
    const auto is_part = [](char c) { return std::isalnum(c) != 0 || c == '_'; };
    while (!text.empty()) {
        const auto* const end = std::ranges::find_if_not(text, is_part);
        const auto size = static_cast<std::size_t>(end - text.begin());
        words.emplace(text.substr(0, size));
        text.remove_prefix(std::min(size + 1, text.size()));
    }
}

// What a statement is known by in a question: its name, and the tables and functions that it makes or fills.
Words names_of(const sql::NamedText& statement) {
    static const std::regex kMade(
        R"((?:CREATE OR REPLACE (?:TEMP )?(?:TABLE|VIEW|MACRO)|INSERT INTO) (?:\w+\.)?(\w+))");
    Words names = {std::string(statement.first)};
    const std::string text(statement.second);
    for (std::sregex_iterator at(text.begin(), text.end(), kMade), end; at != end; ++at) {
        names.insert(at->str(1));
    }
    return names;
}

// Statements that have no rows whatever the trace is, and why.
const std::map<std::string_view, std::string_view> kWithoutRows = {
    {"cause_rules_drop", "drops tables"},
    {"causes_make_edges", "has edges made"},
    {"causes_make_handovers", "has handovers made"},
    {"clock_make", "has clock_map made"},
    {"flows_make", "has flows made"},
    {"twins_make", "has twins made"},
};

TEST(GoldenFiles, ask_every_statement_and_show_rows) {
    Words asked, shown;  // in all questions, and in those that have rows
    for (const std::string& name : golden_files()) {
        for (const Block& block : questions_of(name)) {
            const std::string question = joined(block.lines) + statement_of(block);
            add_words(asked, question);
            add_words(shown, block.expected.empty() ? "" : question);
        }
    }
    for (const sql::NamedText& statement : sql::kAll) {
        EXPECT_TRUE(asked.contains(statement.first)) << statement.first << " is asked nowhere";
        const bool has_rows = std::ranges::any_of(
            names_of(statement), [&](const std::string& name) { return shown.contains(name); });
        EXPECT_EQ(has_rows, !kWithoutRows.contains(statement.first))
            << statement.first << ": no golden file has a row of it, or it is an exception no more";
    }
}

}  // namespace
}  // namespace dyetrace::query

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    dyetrace::query::register_files();
    dyetrace::query::updates = argc > 1 && std::string_view(argv[1]) == "--update";
    return RUN_ALL_TESTS();
}
