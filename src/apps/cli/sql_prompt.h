// Where `dyetrace sql` gets its statements from: a terminal with history and completion, or a pipe.
//
//   dyetrace> SELECT name,            a statement goes on until its semicolon
//        ...>   count(*) FROM ev⇥     ⇥ completes keywords, tables and columns
//
// Ctrl-C takes back what was typed. `.tables` and `.schema TABLE` become SQL; `.quit` and the end of input end it. History: ~/.dyetrace_history, readable
// by its owner only, as a question may name what is secret.
//
// Limits: one prompt per program (Ctrl-C is a signal, and that is the program's).
#pragma once

#include <histedit.h>

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dyetrace::apps {

inline constexpr int kHistoryLinesMax = 1000;

class SqlPrompt {
  public:
    // `names` are completed, besides keywords.
    SqlPrompt(bool is_terminal, std::vector<std::string> names);
    ~SqlPrompt();
    SqlPrompt(const SqlPrompt&) = delete;
    SqlPrompt& operator=(const SqlPrompt&) = delete;

    // The next statement, or nothing at the end.
    std::optional<std::string> next_statement();

  private:
    struct Callbacks;
    void open_history();
    void open_editor();
    void remember(const std::string& text);
    std::optional<std::string> typed_line(bool continues);
    std::optional<std::string> next_line(bool continues);

    bool is_terminal_;
    bool continues_ = false;          // a statement
    bool killed_ = false;             // the line; its end is due
    std::vector<std::string> words_;  // that are completed
    std::unique_ptr<History, void (*)(History*)> history_;
    std::unique_ptr<EditLine, void (*)(EditLine*)> editor_;
    struct sigaction before_ {};  // for SIGINT
    std::string history_path_;
};

// SHOW TABLES as the question for the public tables; any other statement as it is.
std::string sql_of_statement(const std::string& statement);

// Whether `text` has a semicolon outside of strings, quoted names and comments: it can be run.
bool is_complete_statement(const std::string& text);

// ".tables" as the SQL that it stands for; nothing for ".quit"; an unknown command becomes SQL that says so.
std::optional<std::string> sql_of_command(const std::string& line);

}  // namespace dyetrace::apps
