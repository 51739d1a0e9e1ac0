#include "strace/trace_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "strace/option_values.h"
#include "strace/trace_rows.h"

namespace dyetrace::strace {
namespace {

using base::Result;

// What one option says about another.
Result<void> check_form(CommandLine& line) {
    TraceOptions& options = line.options;
    if (line.summary_only + line.summary + line.json > 1) {
        return refuse("-c, -C and --json are three forms of output: take one of them");
    }
    options.form = line.summary_only ? TraceForm::kSummary
                   : line.summary    ? TraceForm::kLinesAndSummary
                   : line.json       ? TraceForm::kJson
                                     : TraceForm::kLines;
    if (options.wall_clock && !line.summary_only && !line.summary) {
        return refuse("-w is about the table of -c or -C: give one of them");
    }
    if (options.separately && options.form != TraceForm::kLines &&
        options.form != TraceForm::kJson) {
        return refuse("-ff cannot write one table to several files");
    }
    if (options.separately && options.output.find_first_of("|!") == 0) {
        return refuse("-ff cannot write several files into one command");
    }
    return {};
}

void note_what_is_void(CommandLine& line) {
    TraceOptions& options = line.options;
    if (options.output.empty() && options.append) {
        options.notes.emplace_back("-A has no effect without -o");
    }
    if (options.output.empty() && options.separately) {
        options.notes.emplace_back("-ff without -o is -f: there are no files to separate");
        options.separately = false;
    }
    if (options.form == TraceForm::kSummary || options.form == TraceForm::kJson) {
        for (const std::string& spelling : line.of_lines) {
            options.notes.push_back(
                fmt::format("{} has no effect with {}",
                            spelling,
                            options.form == TraceForm::kJson ? "--json" : "-c"));
        }
    }
}

void finish_style(CommandLine& line) {
    format::LineStyle& style = line.options.style;
    static constexpr format::TimeStyle kTimes[] = {
        format::TimeStyle::kClock, format::TimeStyle::kClock, format::TimeStyle::kUnix};
    if (line.times > 0) {
        style.time = kTimes[std::min(line.times, 3) - 1];
        style.time_digits = line.times > 1 ? 6 : 0;
    }
    style.limits.items_max = style.limits.text_max;  // strace: -s is for arrays too
    style.names = line.names == 0   ? format::Names::kNone
                  : line.names == 1 ? format::Names::kPaths
                                    : format::Names::kAll;
}

// One word, or two, of the command line at a time.
class Parser {
  public:
    explicit Parser(const std::vector<std::string>& arguments) : given_(arguments) {}

    Result<TraceOptions> parse() {
        while (at_ < given_.size()) {
            const std::string& word = given_[at_];
            if (word == "--") {
                ++at_;
                break;
            }
            if (word.size() < 2 || word[0] != '-') {
                break;
            }
            ++at_;
            if (word[1] == '-') {
                TRY(take_long(std::string_view(word).substr(2)));
            } else {
                TRY(take_cluster(std::string_view(word).substr(1)));
            }
        }
        line_.options.command.assign(given_.begin() + static_cast<std::ptrdiff_t>(at_),
                                     given_.end());
        return finish();
    }

  private:
    Result<TraceOptions> finish() {
        TraceOptions& options = line_.options;
        if (options.help || options.version) {
            return std::move(options);
        }
        if (options.command.empty() == options.processes.empty()) {
            return refuse(options.command.empty()
                              ? "say what to trace: a command, or processes with -p"
                              : "a command and -p at once: take one of them");
        }
        TRY(check_form(line_));
        note_what_is_void(line_);
        finish_style(line_);
        return std::move(options);
    }

    Result<void> take_cluster(std::string_view letters) {
        for (std::size_t i = 0; i < letters.size(); ++i) {
            const std::string spelling{'-', letters[i]};
            const Row* row = row_of(letters[i]);
            if (row == nullptr) {
                return refuse(fmt::format("{} is not known (dyetrace trace --help)", spelling));
            }
            if (row->option.value.empty() || row->option.value.front() == '[') {
                TRY(act(line_, *row, spelling, {}));
                continue;
            }
            std::string_view value = letters.substr(i + 1);
            if (value.empty()) {
                TRY(value, next_word(spelling));
            }
            return act(line_, *row, spelling, value);
        }
        return {};
    }

    Result<void> take_long(std::string_view word) {
        const std::size_t equals = word.find('=');
        const std::string spelling = fmt::format("--{}", word.substr(0, equals));
        const Row* row = row_of(word.substr(0, equals));
        if (row == nullptr) {
            return refuse(fmt::format("{} is not known (dyetrace trace --help)", spelling));
        }
        std::string_view value;
        if (equals != std::string_view::npos) {
            value = word.substr(equals + 1);
            if (row->option.value.empty()) {
                return refuse(fmt::format("{} takes no value", spelling));
            }
        } else if (!row->option.value.empty() && row->option.value.front() != '[') {
            TRY(value, next_word(spelling));
        }
        return act(line_, *row, spelling, value);
    }

    Result<std::string_view> next_word(std::string_view option) {
        if (at_ == given_.size()) {
            return refuse(fmt::format("{} wants a value", option));
        }
        return std::string_view(given_[at_++]);
    }

    const std::vector<std::string>& given_;
    std::size_t at_ = 0;
    CommandLine line_;
};

}  // namespace

Result<TraceOptions> parse_trace_options(const std::vector<std::string>& arguments) {
    return Parser(arguments).parse();
}

std::vector<TraceOption> trace_options() {
    std::vector<TraceOption> options;
    for (const Row& row : trace_rows()) {
        options.push_back(row.option);
    }
    return options;
}

}  // namespace dyetrace::strace
