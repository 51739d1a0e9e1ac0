#include "apps/cli/help_formatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
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

// To the library `[a,b]` is two words, a and b, wherever several may stand: the command `echo '["a","b"]'` would be another one.
// What ends with this is not in brackets.
constexpr char kNoBracket = '\0';

std::string without_mark(std::string word) {
    if (word.ends_with(kNoBracket)) {
        word.pop_back();
    }
    return word;
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

std::string unknown_text(const std::string& option, const CLI::App& verb) {
    const std::string_view guess =
        option.starts_with("--")
            ? base::nearest_word(std::string_view(option).substr(2), option_names(verb))
            : "";
    return fmt::format("'{}' is not known{}",
                       option,
                       guess.empty() ? "" : fmt::format(", did you mean '--{}'?", guess));
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

using Halves = std::optional<std::pair<std::string_view, std::string_view>>;

// What stands before `mark` and after it.
Halves halves(std::string_view text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    return at == std::string_view::npos
               ? Halves()
               : std::pair(text.substr(0, at), text.substr(at + mark.size()));
}

std::string missing_text(std::string_view value) {
    return fmt::format("a {} is missing", value);
}

// The library's "--format: xml not in {table,csv}" and its kin, as this program speaks.
std::string in_our_words(std::string_view text) {
    if (const Halves named = halves(text, "Could not convert: ")) {
        const Halves value = halves(named->second, " = ");
        return fmt::format("{}: '{}' is no number that it takes",
                           value ? value->first : named->second,
                           value ? value->second : "");
    }
    const Halves named = halves(text, ": ");
    if (!named) {
        return std::string(text);
    }
    const auto& [option, reason] = *named;
    if (reason.starts_with("1 required ") && reason.ends_with(" missing")) {
        return fmt::format(
            "{}: {}",
            option,
            missing_text(halves(halves(reason, " required ")->second, " missing")->first));
    }
    if (reason.starts_with("At Most 1 required")) {
        return fmt::format("{} may be given once", option);
    }
    if (const Halves range = halves(reason, " not in range ");
        range && reason.starts_with("Value ")) {
        return fmt::format("{}: '{}' is not from {}",
                           option,
                           halves(range->first, "Value ")->second,
                           range->second);
    }
    if (const Halves words = halves(reason, " not in {"); words && reason.ends_with('}')) {
        return fmt::format("{}: '{}' is none of {}",
                           option,
                           words->first,
                           words->second.substr(0, words->second.size() - 1));
    }
    return std::string(text);
}

// The library names all that is left over, the last first; whoever typed `report t x y` means the first.
std::string left_over_text(const CLI::App& verb) {
    for (std::string word : verb.remaining()) {
        if (word != "--") {
            return fmt::format("'{}' is not known", without_mark(std::move(word)));
        }
    }
    return "'--' is not known";
}

// What was not understood of a verb's words.
std::string error_text(const CLI::ParseError& error,
                       const CLI::App& verb,
                       const std::vector<std::string>& words) {
    const std::vector<std::string_view> verbs = verb_names(verb);
    if (!verbs.empty() && !words.empty() && words[0] == "--") {
        return "a verb stands before '--'";
    }
    if (!verbs.empty() && !words.empty() && !words[0].starts_with('-')) {
        return no_verb_text(words[0], verbs);
    }
    if (const std::string unknown = unknown_option(verb, words); !unknown.empty()) {
        return unknown_text(unknown, verb);
    }
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
        return left_over_text(verb);
    }
    const std::string_view text = error.what();
    const Halves required = halves(text, " is required");
    if (required && required->first == "A subcommand") {
        return fmt::format("say which: {}", fmt::join(verbs, ", "));
    }
    const CLI::Option* const option =
        required ? verb.get_option_no_throw(std::string(required->first)) : nullptr;
    return option != nullptr && option->get_positional() ? "say which " + value_of(*option)
                                                         : in_our_words(text);
}

// Of words in front of a verb, which are none of its: `dyetrace --where x record`.
std::string misplaced_text(const std::string& word, const CLI::App& app, const CLI::App& verb) {
    const std::string name = word.substr(0, word.find('='));
    if (word.starts_with('-') && verb.get_option_no_throw(name) != nullptr) {
        return fmt::format("'{}' stands after its verb, '{}'", name, verb.get_name());
    }
    return word.starts_with('-') ? unknown_text(name, app) : no_verb_text(word, verb_names(app));
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

std::vector<std::string> without_brackets(std::vector<std::string> words) {
    for (std::string& word : words) {
        if (word.starts_with('[') && word.ends_with(']')) {
            word += kNoBracket;
        }
    }
    return words;
}

// Brackets come back, and an option's value is something: `--comm -- true` has none, and `--where "$unset"` selects everything.
void look_at_values(CLI::App& app) {
    for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
        option->transform(&without_mark);
        if (!option->get_positional() && option->get_type_size() != 0) {
            option->check([missing = missing_text(value_of(*option))](const std::string& word) {
                return word.empty() || word == "--" ? missing : "";
            });
        }
    }
    for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
        look_at_values(*verb);
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
    for (const CLI::App* verb :
         app->get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
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
    look_at_values(app);
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
        std::string path, text;
        while (text.empty() && !verb->get_subcommands().empty()) {  // `dye add` is a verb of a verb
            const CLI::App* const inner = verb->get_subcommands().front();
            const auto at = std::ranges::find(words, inner->get_name());
            if (at != words.begin()) {
                text = misplaced_text(words.front(), *verb, *inner);
            }
            words.erase(words.begin(), at == words.end() ? at : at + 1);
            verb = inner;
            path += verb->get_name() + " ";
        }
        if (text.empty()) {
            text = error_text(error, *verb, words);
        }
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
