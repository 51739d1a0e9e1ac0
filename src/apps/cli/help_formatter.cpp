#include "apps/cli/help_formatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/cli/output.h"
#include "base/log.h"
#include "base/spelling.h"
#include "base/version.h"

namespace dyetrace::apps {
namespace {

// "FORMAT:{table,csv}" without what a check adds: the description says what is allowed.
std::string value_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    return option.get_type_size() == 0 ? "" : type.substr(0, type.find(':'));
}

bool takes_many(const CLI::Option& option) {
    return option.get_expected_max() >= CLI::detail::expected_max_vector_size;
}

// -o,--output as -o, --output
std::string names_of(const CLI::Option& option) {
    std::string names = option.get_name(false, true);
    const std::size_t comma = names.find(',');
    return comma == std::string::npos ? names : names.insert(comma + 1, " ");
}

// The left text, then the right one from column kHelpLeftColumns on; a left text that is too long has a line of its own.
std::string two_columns(const std::string& left, std::string_view right) {
    std::string text = "  " + left;
    const std::string indent(kHelpLeftColumns, ' ');
    if (text.size() + 2 > kHelpLeftColumns && !right.empty()) {
        text += '\n' + indent;
    } else {
        text.resize(std::max(text.size(), kHelpLeftColumns), ' ');
    }
    std::size_t column = kHelpLeftColumns;
    while (!right.empty()) {
        const std::size_t end = std::min(right.find_first_of(" \n"), right.size());
        const bool first = column == kHelpLeftColumns;
        if (!first && column + 1 + end > kHelpColumns) {
            text += '\n' + indent;
            column = kHelpLeftColumns;
        } else if (!first) {
            text += ' ';
            ++column;
        }
        text += right.substr(0, end);
        column += end;
        if (end < right.size() && right[end] == '\n') {
            text += '\n' + indent;
            column = kHelpLeftColumns;
        }
        right.remove_prefix(std::min(end + 1, right.size()));
    }
    return text + '\n';
}

// Without the dashes.
std::vector<std::string_view> option_names(const CLI::App& verb) {
    std::vector<std::string_view> names;
    for (const CLI::Option* option : verb.get_options()) {
        const auto& of_option = option->get_lnames();
        names.insert(names.end(), of_option.begin(), of_option.end());
    }
    return names;
}

// Whether the word after this one is its value.
bool takes_next_word(const CLI::App& verb, std::string_view word) {
    if (word.starts_with("--")) {
        const CLI::Option* const option = verb.get_option_no_throw(std::string(word));
        return option != nullptr && option->get_type_size() != 0;
    }
    for (std::size_t letter = 1; letter < word.size(); ++letter) {  // -af TRACE is -a -f TRACE
        const CLI::Option* const option =
            verb.get_option_no_throw(fmt::format("-{}", word[letter]));
        if (option != nullptr && option->get_type_size() != 0) {
            return letter + 1 == word.size();
        }
    }
    return false;
}

// The first word that looks like an option and is none, in front of --; empty if there is none.
std::string unknown_option(const CLI::App& verb, const std::vector<std::string>& words) {
    for (std::size_t at = 0; at < words.size() && words[at] != "--"; ++at) {
        const std::string& word = words[at];
        if (word.size() < 2 || word[0] != '-') {
            continue;
        }
        std::string name =
            word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
        if (verb.get_option_no_throw(name) == nullptr) {
            return name;
        }
        at += takes_next_word(verb, word) ? 1 : 0;
    }
    return "";
}

// What was not understood. CLI11 names all that is left over, the last first; whoever typed `--hwere x -- ls` means the first.
std::string error_text(const CLI::ParseError& error,
                       const CLI::App& verb,
                       const std::vector<std::string>& words) {
    if (const std::string unknown = unknown_option(verb, words); !unknown.empty()) {
        const std::string_view guess =
            unknown.starts_with("--")
                ? base::nearest_word(std::string_view(unknown).substr(2), option_names(verb))
                : "";
        return fmt::format("'{}' is not known{}",
                           unknown,
                           guess.empty() ? "" : fmt::format(", did you mean '--{}'?", guess));
    }
    std::string text = error.what();
    const std::size_t colon = text.find(": ");
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && colon != std::string::npos) {
        std::string left_over = text.substr(colon + 2);
        left_over.erase(0, left_over.starts_with("-- ") ? 3 : 0);  // what begins the command
        return fmt::format("'{}' is not known", left_over);
    }
    if (text == "trace is required") {
        return "say which TRACE";
    }
    return text;
}

std::vector<std::string_view> verb_names(const CLI::App& app) {
    std::vector<std::string_view> names;
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(verb->get_name());
    }
    return names;
}

std::string no_verb_text(std::string_view word, const std::vector<std::string_view>& verbs) {
    const std::string_view guess = base::nearest_word(word, verbs);
    return fmt::format(
        "'{}' is no verb{}", word, guess.empty() ? "" : fmt::format(", did you mean '{}'?", guess));
}

// `ps` shows every user the words of a command. What a key, a dye or a redaction says is overwritten there: what stands after the option. Until then,
// for a few milliseconds, it can be seen; @FILE is never.
void hide_secrets(int argc, char** argv) {
    constexpr std::string_view kOptions[] = {"--content-key", "--dye", "--redact"};
    for (int i = 1; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
        for (const std::string_view option : kOptions) {
            const std::string_view word = argv[i];
            char* secret = nullptr;
            if (word == option && i + 1 < argc) {
                secret = argv[i + 1];
            } else if (word.starts_with(option) && word.substr(option.size()).starts_with('=')) {
                secret = argv[i] + option.size() + 1;
            }
            if (secret != nullptr && *secret != '@') {
                std::fill_n(secret, std::strlen(secret), 'x');
            }
        }
    }
}

// To the library `[a,b]` is two words, a and b, wherever several may stand: the command `echo '["a","b"]'` would be another one.
// What ends with this is not in brackets.
constexpr char kNoBracket = '\0';

std::vector<std::string> without_brackets(std::vector<std::string> words) {
    for (std::string& word : words) {
        if (word.starts_with('[') && word.ends_with(']')) {
            word += kNoBracket;
        }
    }
    return words;
}

void give_brackets_back(CLI::App& app) {
    for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
        option->transform([](std::string word) {
            if (word.ends_with(kNoBracket)) {
                word.pop_back();
            }
            return word;
        });
    }
    for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
        give_brackets_back(*verb);
    }
}

}  // namespace

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
    std::string text = "Usage: " + name;
    if (!app->get_subcommands([](const CLI::App*) { return true; }).empty()) {
        return text + " VERB [options]\n";
    }
    text += " [options]";
    for (const CLI::Option* option :
         app->get_options([](const CLI::Option* each) { return each->get_positional(); })) {
        const std::string word =
            takes_many(*option) ? "-- " + value_of(*option) + "..." : value_of(*option);
        text += option->get_required() ? " " + word : " [" + word + "]";
    }
    return text + '\n';
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
    return app->get_description() + "\n";
}

std::string HelpFormatter::make_positionals(const CLI::App* app) const {
    std::string text;
    for (const CLI::Option* option :
         app->get_options([](const CLI::Option* each) { return each->get_positional(); })) {
        text += make_option(option, true);
    }
    return text.empty() ? text : '\n' + text;
}

std::string HelpFormatter::make_subcommands(const CLI::App* app, CLI::AppFormatMode) const {
    std::string text;
    for (const CLI::App* verb : app->get_subcommands([](const CLI::App*) { return true; })) {
        text += two_columns(verb->get_name(), verb->get_description());
    }
    return text.empty() ? text : "\nVerbs:\n" + text;
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
    const std::string value = value_of(*option);
    std::string left = is_positional ? value : names_of(*option);
    if (!is_positional && !value.empty()) {
        left += ' ' + value;
    }
    std::string right = option->get_description();
    if (!option->get_default_str().empty()) {
        right += " (default: " + option->get_default_str() + ")";
    }
    return two_columns(left, right);
}

void speak_plainly(CLI::App& app) {
    app.formatter(std::make_shared<HelpFormatter>());
    app.set_help_flag("-h,--help", "Show this text");
    app.set_version_flag(
        "-V,--version", "dyetrace " + std::string(base::kVersion), "Show the version");
}

int run_command_line(CLI::App& app, int argc, char** argv, const int& exit_status) {
    const std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
    hide_secrets(argc, argv);
    give_brackets_back(app);
    try {
        app.parse(without_brackets(std::vector<std::string>(given.rbegin(), given.rend())));
    } catch (const CLI::Success& asked) {  // --help, --version
        if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-') {
            base::Log::to_stderr().fail(no_verb_text(argv[1], verb_names(app)) +
                                        " (dyetrace --help)");
            return kExitUsage;
        }
        std::ostringstream text;
        const int status = app.exit(asked, text);
        put(text.str());
        return finish_output(status);
    } catch (const CLI::ParseError& error) {
        std::vector<std::string> words = given;
        const CLI::App* verb = &app;
        std::string path;
        while (!verb->get_subcommands().empty()) {  // `dye add` is a verb of a verb
            verb = verb->get_subcommands().front();
            path += verb->get_name() + " ";
            words.erase(words.begin(), std::ranges::find(words, verb->get_name()));
            words.erase(words.begin());
        }
        const std::vector<std::string_view> verbs = verb_names(*verb);
        const bool is_no_verb = !verbs.empty() && !words.empty() && !words[0].starts_with('-');
        const std::string text =
            is_no_verb ? no_verb_text(words[0], verbs) : error_text(error, *verb, words);
        base::Log::to_stderr().fail(fmt::format("{} (dyetrace {}--help)", text, path));
        return kExitUsage;
    } catch (const std::bad_alloc&) {  // what no folder could answer ends here, in one line
        base::Log::to_stderr().fail("not enough memory");
        return kExitFailure;
    } catch (const std::system_error& error) {
        base::Log::to_stderr().fail(
            fmt::format("not enough memory for a thread, or too many of them: {}", error.what()));
        return kExitFailure;
    }
    return finish_output(exit_status);
}

}  // namespace dyetrace::apps
