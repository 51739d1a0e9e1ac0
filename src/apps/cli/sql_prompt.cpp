#include "apps/cli/sql_prompt.h"

#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <memory>
#include <string_view>
#include <utility>

#include "query/named_sql.h"
#include "query/sql.h"

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

constexpr const char* kWordBreaks = " \t\n\"'(),;=<>+-*/.";

// What terminals send for keys that have no place in the library's own table.
constexpr std::pair<const char*, const char*> kKeys[] = {{"\\e[1~", "ed-move-to-beg"},
                                                         {"\\e[4~", "ed-move-to-end"},
                                                         {"\\e[H", "ed-move-to-beg"},
                                                         {"\\e[F", "ed-move-to-end"},
                                                         {"\\e[3~", "ed-delete-next-char"},
                                                         {"\\e[1;5C", "em-next-word"},
                                                         {"\\e[1;5D", "ed-prev-word"}};

bool starts_with_any_case(std::string_view word, std::string_view prefix) {
    return word.size() >= prefix.size() &&
           std::equal(prefix.begin(), prefix.end(), word.begin(), [](char a, char b) {
               return std::tolower(static_cast<unsigned char>(a)) ==
                      std::tolower(static_cast<unsigned char>(b));
           });
}

// The first word's beginning that all have, in letters of either case.
std::string common_beginning(const std::vector<std::string>& words) {
    std::string common = words.front();
    for (const std::string& word : words) {
        while (!starts_with_any_case(word, common)) {
            common.pop_back();
        }
    }
    return common;
}

// By Ctrl-C, since the line began. DuckDB has threads, and one of them may get the signal while this one is about to wait for a key.
std::atomic<int> interrupted = 0;
static_assert(std::atomic<int>::is_always_lock_free);
int wakes_prompt = -1;  // an eventfd

void note_interrupt(int) {
    const int before = errno;
    interrupted = 1;
    ::eventfd_write(wakes_prompt, 1);
    errno = before;
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

// The position after the string, quoted name or comment that begins at `at`; `at` if none does;
// npos if it does not end.
std::size_t end_of_quoted(const std::string& text, std::size_t at) {
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

// The library takes bytes for characters unless the locale is one of UTF-8; people who have none set may type it all the same.
void speak_utf8() {
    std::setlocale(LC_CTYPE, "");
    if (std::string_view(::nl_langinfo(CODESET)) != "UTF-8") {
        std::setlocale(LC_CTYPE, "C.UTF-8");
    }
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
    return words == "show tables" ? query::filled(query::sql::kPromptTables) : statement;
}

bool is_complete_statement(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = end_of_quoted(text, at);
        if (end == std::string::npos) {
            return false;
        }
        if (end == at) {
            if (text[at] == ';') {
                return true;
            }
            ++at;
        } else {
            at = end;
        }
    }
    return false;
}

std::optional<std::string> sql_of_command(const std::string& line) {
    std::string command = trimmed(line);
    while (command.ends_with(';')) {  // people type it after everything
        command = trimmed(command.substr(0, command.size() - 1));
    }
    if (command == ".quit" || command == ".exit") {
        return std::nullopt;
    }
    if (command == ".tables") {
        return query::filled(query::sql::kPromptTables);
    }
    if (command.starts_with(".schema ")) {
        std::string table = trimmed(command.substr(8));
        table.erase(std::remove(table.begin(), table.end(), '\''), table.end());
        return query::filled(query::sql::kPromptColumns, {{"table", table}});
    }
    return query::filled(query::sql::kPromptCommands);
}

// What the library calls, with the prompt that it was given.
struct SqlPrompt::Callbacks {
    static SqlPrompt& prompt_of(EditLine* editor) {
        void* prompt = nullptr;
        ::el_get(editor, EL_CLIENTDATA, &prompt);
        return *static_cast<SqlPrompt*>(prompt);
    }

    static char* prompt_text(EditLine* editor) {  // which the library only reads
        return const_cast<char*>(prompt_of(editor).continues_ ? "     ...> " : "dyetrace> ");
    }

    // A key, or Ctrl-C for the line, as in a shell: "kill the line" and then "end of line". This thread lets SIGINT in here only, so
    // that none falls between the look at `interrupted` and the wait.
    static int next_key(EditLine* editor, wchar_t* key) {
        constexpr wchar_t kKillLine = 'U' - '@';
        if (std::exchange(prompt_of(editor).killed_, false)) {
            *key = '\n';
            return 1;
        }
        wait_for_key();
        if (interrupted != 0) {
            prompt_of(editor).killed_ = true;
            *key = kKillLine;
            return 1;
        }
        return read_character(*key);
    }

    // Or for Ctrl-C; what is left of one that ended a statement is none.
    static void wait_for_key() {
        sigset_t mask;
        ::sigprocmask(SIG_SETMASK, nullptr, &mask);
        sigdelset(&mask, SIGINT);
        pollfd looked_at[] = {{STDIN_FILENO, POLLIN, 0}, {wakes_prompt, POLLIN, 0}};
        while (interrupted == 0) {
            const int ready = ::ppoll(looked_at, std::size(looked_at), nullptr, &mask);
            eventfd_t wakes = 0;
            const bool is_woken = ::eventfd_read(wakes_prompt, &wakes) == 0;
            if (ready >= 0 ? !is_woken : errno != EINTR) {
                return;
            }
        }
    }

    // One character of the terminal's, however many bytes it has; what is none becomes U+FFFD.
    static int read_character(wchar_t& key) {
        constexpr wchar_t kNoCharacter = 0xfffd;
        std::mbstate_t state{};
        for (;;) {
            char byte = 0;
            const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
            if (got <= 0) {
                return static_cast<int>(got);
            }
            switch (std::mbrtowc(&key, &byte, 1, &state)) {
                case static_cast<std::size_t>(-2):
                    continue;
                case static_cast<std::size_t>(-1):
                    key = kNoCharacter;
                    return 1;
                default:
                    return 1;
            }
        }
    }

    static unsigned char complete(EditLine* editor, int) {
        const LineInfo& line = *::el_line(editor);
        const char* begin = line.cursor;
        while (begin > line.buffer && std::strchr(kWordBreaks, begin[-1]) == nullptr) {
            --begin;
        }
        const std::string_view typed(begin, static_cast<std::size_t>(line.cursor - begin));
        std::vector<std::string> found;
        for (const std::string& word : prompt_of(editor).words_) {
            if (starts_with_any_case(word, typed)) {
                found.push_back(word);
            }
        }
        if (found.empty()) {
            return CC_ERROR;  // a beep
        }
        const std::string common = common_beginning(found);
        if (found.size() > 1 && common.size() == typed.size()) {
            for (const std::string& word : found) {
                std::printf("%s%s", &word == &found.front() ? "\n" : "  ", word.c_str());
            }
            std::printf("\n");
            return CC_REDISPLAY;
        }
        ::el_deletestr(editor, static_cast<int>(typed.size()));
        ::el_insertstr(editor, (common + (found.size() == 1 ? " " : "")).c_str());
        return CC_REFRESH;
    }
};

SqlPrompt::SqlPrompt(bool is_terminal, std::vector<std::string> names)
    : is_terminal_(is_terminal),
      words_(std::move(names)),
      history_(nullptr, &::history_end),
      editor_(nullptr, &::el_end) {
    if (!is_terminal_) {
        return;
    }
    words_.insert(words_.end(), std::begin(kKeywords), std::end(kKeywords));
    std::sort(words_.begin(), words_.end());
    words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
    wakes_prompt = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct sigaction action {};
    action.sa_handler = &note_interrupt;
    ::sigaction(SIGINT, &action, &before_);
    open_history();
    open_editor();
}

void SqlPrompt::open_history() {
    history_.reset(::history_init());
    history_path_ = history_file();
    HistEvent event;
    ::history(history_.get(), &event, H_SETSIZE, kHistoryLinesMax);
    if (!history_path_.empty()) {
        ::history(history_.get(), &event, H_LOAD, history_path_.c_str());
    }
}

void SqlPrompt::open_editor() {
    speak_utf8();
    EditLine* const editor = ::el_init("dyetrace", stdin, stdout, stderr);
    editor_.reset(editor);
    ::el_set(editor, EL_CLIENTDATA, this);
    ::el_set(editor, EL_PROMPT, &Callbacks::prompt_text);
    ::el_set(editor, EL_GETCFN, &Callbacks::next_key);
    ::el_set(editor, EL_HIST, &::history, history_.get());
    ::el_set(editor, EL_EDITOR, "emacs");
    ::el_set(editor, EL_ADDFN, "complete", "completes the word", &Callbacks::complete);
    ::el_set(editor, EL_BIND, "^I", "complete", nullptr);
    for (const auto& [key, action] : kKeys) {
        ::el_set(editor, EL_BIND, key, action, nullptr);
    }
    ::el_source(editor, nullptr);  // ~/.editrc
}

SqlPrompt::~SqlPrompt() {
    if (!is_terminal_) {
        return;
    }
    ::sigaction(SIGINT, &before_, nullptr);
    ::close(wakes_prompt);
    if (history_path_.empty()) {
        return;
    }
    const mode_t before = ::umask(0077);
    HistEvent event;
    ::history(history_.get(), &event, H_SAVE, history_path_.c_str());
    ::umask(before);
}

void SqlPrompt::remember(const std::string& text) {
    HistEvent event;
    if (is_terminal_) {
        ::history(history_.get(), &event, H_ENTER, text.c_str());
    }
}

std::optional<std::string> SqlPrompt::typed_line(bool continues) {
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    continues_ = continues;
    int length = 0;
    ::sigprocmask(SIG_BLOCK, &interrupt, nullptr);
    const char* const line = ::el_gets(editor_.get(), &length);
    ::sigprocmask(SIG_UNBLOCK, &interrupt, nullptr);
    return line == nullptr || length <= 0 ? std::nullopt : std::optional<std::string>(line);
}

std::optional<std::string> SqlPrompt::next_line(bool continues) {
    std::optional<std::string> line;
    if (is_terminal_) {
        line = typed_line(continues);
    } else {
        char* text = nullptr;
        std::size_t room = 0;
        if (::getline(&text, &room, stdin) >= 0) {
            line = text;
        }
        std::free(text);
    }
    if (line && line->ends_with('\n')) {
        line->pop_back();
    }
    return line;
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
            remember(*line);
            return sql_of_command(*line);
        }
        if (statement.empty() && trimmed(*line).empty()) {
            continue;
        }
        statement += *line + "\n";
        if (is_complete_statement(statement)) {
            remember(trimmed(statement));
            return statement;
        }
    }
    // A pipe may leave out the last semicolon.
    return is_terminal_ || trimmed(statement).empty() ? std::nullopt
                                                      : std::optional<std::string>(statement);
}

}  // namespace dyetrace::apps
