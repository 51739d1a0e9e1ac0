// A trace, questions and the rows that answer them, as text: each file *.test of this folder is a test.
//
//   # A comment.
//   trace
//   12x 7 1700000000.000000 close(9) = -1 EBADF (Bad file descriptor)            the same line twelve times
//   7 1700000000.000000 openat(AT_FDCWD</tmp>, "x", O_RDONLY) = 3</tmp/x>        what strace -f -ttt -T -yy wrote
//
//   ask names_objects_called {"path": "/tmp/x"}                                  a statement of src/query/sql by its name, with its values
//   ----
//   3                                                                            a row; cells have a bar between them
//
//   ask pattern_views {"path": "/tmp/x"} key=process_id                          a piece of SQL in place of $key; nothing is expected
//
//   sql {"word": 1}
//   SELECT count(*) FROM (@timeline_names)                                       any SQL; @name is the statement of that name
//   ----
//   402
//
// Rows of a statement that gives them in no order are sorted. Blocks are parted by empty lines. `golden_test --update` writes what came in place of the expected rows: read the difference before it is committed.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/temporary_folder.h"
#include "importer/importer.h"
#include "query/analysis_database.h"
#include "query/named_sql.h"
#include "query/selected_events.h"
#include "query/sql.h"

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

std::string statement_called(const std::string& name) {
    const auto* const found = std::ranges::find(sql::kAll, name, &sql::NamedText::first);
    EXPECT_NE(found, sql::kAll.end()) << "no statement is called '" << name << "'";
    return found == sql::kAll.end() ? "" : std::string(found->second);
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
        const std::string whole = name[0], text = statement_called(name[1]);
        sql.replace(sql.find(whole), whole.size(), text);
    }
    return sql;
}

std::string statement_of(const Block& block) {
    static const std::regex kFirst(R"((sql|ask (\w+))(.*))");
    std::smatch first;
    if (!std::regex_match(block.lines[0], first, kFirst)) {
        ADD_FAILURE() << "not understood: " << block.lines[0];
        return "";
    }
    if (first[2].matched) {
        return with_words(statement_called(first[2]), first[3]);
    }
    std::string sql;
    for (std::size_t i = 1; i < block.lines.size(); ++i) {
        sql += block.lines[i] + "\n";
    }
    return with_words(with_statements(sql), first[3]);
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
    static const std::regex kOrder("order by", std::regex::icase);
    if (!std::regex_search(statement, kOrder)) {
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

// What strace would have written: the lines after the first, those with `12x ` in front of them twelve times.
std::string log_of(const Block& block) {
    static const std::regex kTimes(R"((\d+)x (.*))");
    std::string text;
    for (std::size_t i = 1; i < block.lines.size(); ++i) {
        std::smatch parts;
        const bool is_more = std::regex_match(block.lines[i], parts, kTimes);
        const std::string line = is_more ? parts.str(2) : block.lines[i];
        for (int left = is_more ? std::stoi(parts[1]) : 1; left > 0; --left) {
            text += line + "\n";
        }
    }
    return text;
}

class Golden : public testing::TestWithParam<std::string> {
  protected:
    std::unique_ptr<store::Database> imported(const Block& block) {
        const std::string log = temporary_.path() + "/log", path = temporary_.path() + "/trace";
        std::ofstream(log) << log_of(block);
        const auto summary = importer::import_logs({.files = {log},
                                                    .trace_path = path,
                                                    .format = importer::LogFormat::kStrace,
                                                    .options = {.host = "web1"}});
        EXPECT_TRUE(summary.ok()) << summary.error().text();
        auto database =
            open_analysis_database(path, {.database = {.threads = 1, .memory_limit = ""}});
        EXPECT_TRUE(database.ok()) << database.error().text();
        return database.ok() ? std::move(database).value() : nullptr;
    }

    base::TemporaryFolder temporary_ = base::TemporaryFolder::make().value();
};

TEST_P(Golden, answers) {
    std::unique_ptr<store::Database> database;
    SelectedEvents selected(SelectedEvents::Keep::kNothing);
    std::string updated;
    for (const Block& block : blocks_of(text_of(GetParam()))) {
        updated += (updated.empty() ? "" : "\n") + joined(block.lines);
        Block said = block;
        std::erase_if(said.lines, [](const std::string& line) { return line.starts_with("#"); });
        if (said.lines.empty()) {
            continue;
        }
        if (said.lines[0] == "trace") {
            database = imported(said);
            continue;
        }
        ASSERT_NE(database, nullptr) << "first a trace, then questions";
        std::vector<std::string> rows = rows_of(*database, selected, statement_of(said));
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
        std::ofstream(path_of(GetParam())) << updated;
    }
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(golden_files()), [](const auto& file) {
    return file.param;
});

TEST(GoldenFiles, ask_every_statement) {
    std::string asked;
    for (const std::string& name : golden_files()) {
        asked += text_of(name);
    }
    for (const auto& [name, text] : sql::kAll) {
        const std::regex word("\\b" + std::string(name) + "\\b");
        EXPECT_TRUE(std::regex_search(asked, word)) << name << " has no golden rows";
    }
}

}  // namespace
}  // namespace dyetrace::query

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    dyetrace::query::updates = argc > 1 && std::string_view(argv[1]) == "--update";
    return RUN_ALL_TESTS();
}
