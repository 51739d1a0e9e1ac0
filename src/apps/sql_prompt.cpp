#include "apps/sql_prompt.h"

#include <editline/readline.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace dyetrace::apps {
namespace {

constexpr const char* kKeywords[] = {"ALL",
                                     "AND",
                                     "ANTI",
                                     "AS",
                                     "ASC",
                                     "ASOF",
                                     "BETWEEN",
                                     "BY",
                                     "CASE",
                                     "CAST",
                                     "CREATE",
                                     "CROSS",
                                     "DESC",
                                     "DESCRIBE",
                                     "DISTINCT",
                                     "ELSE",
                                     "END",
                                     "EXISTS",
                                     "EXPLAIN",
                                     "FILTER",
                                     "FROM",
                                     "FULL",
                                     "GLOB",
                                     "GROUP",
                                     "HAVING",
                                     "ILIKE",
                                     "IN",
                                     "INNER",
                                     "INTERVAL",
                                     "IS",
                                     "JOIN",
                                     "LEFT",
                                     "LIKE",
                                     "LIMIT",
                                     "NOT",
                                     "NULL",
                                     "OFFSET",
                                     "ON",
                                     "OR",
                                     "ORDER",
                                     "OVER",
                                     "PARTITION",
                                     "QUALIFY",
                                     "RIGHT",
                                     "SELECT",
                                     "SEMI",
                                     "SHOW",
                                     "SUMMARIZE",
                                     "TABLE",
                                     "THEN",
                                     "UNION",
                                     "USING",
                                     "VALUES",
                                     "WHEN",
                                     "WHERE",
                                     "WINDOW",
                                     "WITH",
                                     "avg",
                                     "approx_quantile",
                                     "arg_max",
                                     "count",
                                     "max",
                                     "min",
                                     "quantile_cont",
                                     "sum"};

constexpr const char* kTablesSql =
    "SELECT \"table\", comment FROM internal.comments WHERE \"column\" IS NULL ORDER BY 1;";

// The library asks a plain function, so what it completes lives here.
std::vector<std::string>& completions() {
    static std::vector<std::string> words;
    return words;
}

bool starts_with_any_case(std::string_view word, std::string_view prefix) {
    return word.size() >= prefix.size() &&
           std::equal(prefix.begin(), prefix.end(), word.begin(), [](char a, char b) {
               return std::tolower(static_cast<unsigned char>(a)) ==
                      std::tolower(static_cast<unsigned char>(b));
           });
}

// Called with state 0, 1, 2, … until it returns null; each word is the caller's to free.
char* complete(const char* prefix, int state) {
    static std::size_t next = 0;
    next = state == 0 ? 0 : next;
    while (next < completions().size()) {
        const std::string& word = completions()[next++];
        if (starts_with_any_case(word, prefix)) {
            return ::strdup(word.c_str());
        }
    }
    return nullptr;
}

char** complete_word(const char* text, int, int) {
    rl_attempted_completion_over = 1;  // no file names
    return rl_completion_matches(text, &complete);
}

volatile std::sig_atomic_t interrupted = 0;  // by Ctrl-C, since the line began

void note_interrupt(int) {
    interrupted = 1;
}

// A key, or Ctrl-C for the line, as in a shell: "kill the line" and then "end of line". SIGINT is let in here only, so that
// none falls between the look at `interrupted` and the wait.
int next_key(FILE*) {
    constexpr int kKillLine = 'U' - '@';
    static bool killed = false;  // the second half is due
    if (std::exchange(killed, false)) {
        return '\n';
    }
    sigset_t mask;
    ::sigprocmask(SIG_SETMASK, nullptr, &mask);
    sigdelset(&mask, SIGINT);
    pollfd keyboard{STDIN_FILENO, POLLIN, 0};
    while (interrupted == 0 && ::ppoll(&keyboard, 1, nullptr, &mask) < 0 && errno == EINTR) {
    }
    if (interrupted != 0) {
        killed = true;
        return kKillLine;
    }
    unsigned char key = 0;
    return ::read(STDIN_FILENO, &key, 1) == 1 ? key : EOF;
}

std::string history_file() {
    const char* const home = std::getenv("HOME");
    return home == nullptr || *home == '\0' ? std::string()
                                            : std::string(home) + "/.dyetrace_history";
}

std::string trimmed(std::string text) {
    const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), is_space));
    text.erase(std::find_if_not(text.rbegin(), text.rend(), is_space).base(), text.end());
    return text;
}

// Behind the string, quoted name or comment that begins at `at`; `at` if none does; npos if it does not end.
std::size_t behind_quoted(const std::string& text, std::size_t at) {
    if (text[at] == '\'' || text[at] == '"') {
        const std::size_t end = text.find(text[at], at + 1);
        return end == std::string::npos ? end : end + 1;
    }
    if (text.compare(at, 2, "--") == 0) {
        const std::size_t end = text.find('\n', at);
        return end == std::string::npos ? text.size() : end + 1;
    }
    if (text.compare(at, 2, "/*") == 0) {
        const std::size_t end = text.find("*/", at + 2);
        return end == std::string::npos ? end : end + 2;
    }
    return at;
}

}  // namespace

// DuckDB's own answer lists all that the public tables are made of.
std::string sql_of_statement(const std::string& statement) {
    std::string words;
    for (const char c : trimmed(statement)) {
        const char word = std::isspace(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
        if (word != ' ' || !words.ends_with(' ')) {
            words.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(word))));
        }
    }
    while (words.ends_with(';') || words.ends_with(' ')) {
        words.pop_back();
    }
    return words == "show tables" ? kTablesSql : statement;
}

bool is_complete_statement(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t behind = behind_quoted(text, at);
        if (behind == std::string::npos) {
            return false;
        }
        if (behind == at) {
            if (text[at] == ';') {
                return true;
            }
            ++at;
        } else {
            at = behind;
        }
    }
    return false;
}

std::optional<std::string> sql_of_command(const std::string& line) {
    std::string command = trimmed(line);
    while (command.ends_with(';')) {  // people type it behind everything
        command = trimmed(command.substr(0, command.size() - 1));
    }
    if (command == ".quit" || command == ".exit") {
        return std::nullopt;
    }
    if (command == ".tables") {
        return kTablesSql;
    }
    if (command.starts_with(".schema ")) {
        std::string table = trimmed(command.substr(8));
        table.erase(std::remove(table.begin(), table.end(), '\''), table.end());
        return "SELECT c.column_name AS \"column\", c.data_type AS type, m.comment FROM "
               "duckdb_columns() c LEFT JOIN internal.comments m ON m.\"table\" = c.table_name AND "
               "m.\"column\" = c.column_name WHERE c.schema_name = 'main' AND c.table_name = '" +
               table + "' ORDER BY c.column_index;";
    }
    return "SELECT '.tables  .schema TABLE  .quit' AS commands;";
}

SqlPrompt::SqlPrompt(bool is_terminal, std::vector<std::string> names) : is_terminal_(is_terminal) {
    if (!is_terminal_) {
        return;
    }
    completions() = std::move(names);
    completions().insert(completions().end(), std::begin(kKeywords), std::end(kKeywords));
    history_path_ = history_file();
    struct sigaction action {};
    action.sa_handler = &note_interrupt;
    ::sigaction(SIGINT, &action, &before_);
    rl_getc_function = &next_key;  // read once, when the library begins
    ::using_history();
    ::stifle_history(kHistoryLinesMax);
    if (!history_path_.empty()) {
        ::read_history(history_path_.c_str());
    }
    rl_readline_name = "dyetrace";
    rl_attempted_completion_function = &complete_word;
    rl_basic_word_break_characters = " \t\n\"'(),;=<>+-*/.";
}

SqlPrompt::~SqlPrompt() {
    if (!is_terminal_) {
        return;
    }
    ::sigaction(SIGINT, &before_, nullptr);
    if (history_path_.empty()) {
        return;
    }
    const mode_t before = ::umask(0077);
    ::write_history(history_path_.c_str());
    ::umask(before);
}

std::optional<std::string> SqlPrompt::next_line(bool continues) {
    char* line = nullptr;
    if (is_terminal_) {
        sigset_t interrupt;
        sigemptyset(&interrupt);
        sigaddset(&interrupt, SIGINT);
        ::sigprocmask(SIG_BLOCK, &interrupt, nullptr);
        line = ::readline(continues ? "     ...> " : "dyetrace> ");
        ::sigprocmask(SIG_UNBLOCK, &interrupt, nullptr);
    } else {
        std::size_t room = 0;
        const ssize_t length = ::getline(&line, &room, stdin);
        if (length < 0) {
            std::free(line);
            line = nullptr;
        } else if (length > 0 && line[length - 1] == '\n') {
            line[length - 1] = '\0';
        }
    }
    const std::unique_ptr<char, void (*)(void*)> owner(line, &std::free);
    return line == nullptr ? std::nullopt : std::optional<std::string>(line);
}

std::optional<std::string> SqlPrompt::next_statement() {
    std::string statement;
    while (const auto line = next_line(!statement.empty())) {
        if (interrupted != 0) {
            interrupted = 0;
            statement.clear();
            continue;
        }
        if (statement.empty() && trimmed(*line).starts_with('.')) {
            if (is_terminal_) {
                ::add_history(line->c_str());
            }
            return sql_of_command(*line);
        }
        if (statement.empty() && trimmed(*line).empty()) {
            continue;
        }
        statement += *line + "\n";
        if (is_complete_statement(statement)) {
            if (is_terminal_) {
                ::add_history(trimmed(statement).c_str());
            }
            return statement;
        }
    }
    // A pipe may leave out the last semicolon.
    return is_terminal_ || trimmed(statement).empty() ? std::nullopt
                                                      : std::optional<std::string>(statement);
}

}  // namespace dyetrace::apps
