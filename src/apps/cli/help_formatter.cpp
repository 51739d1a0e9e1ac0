#include "apps/cli/help_formatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "base/log.h"
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

// CLI11's words, without its "The following argument was not expected: --bogus".
std::string error_text(const CLI::ParseError& error) {
    std::string text = error.what();
    const std::size_t colon = text.find(": ");
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && colon != std::string::npos) {
        std::string words = text.substr(colon + 2);
        words.erase(0, words.starts_with("-- ") ? 3 : 0);  // it counts what begins the command
        return fmt::format("'{}' is not known", words);
    }
    if (text == "trace is required") {
        return "say which TRACE";
    }
    return text;
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
        "--version", "dyetrace " + std::string(base::kVersion), "Show the version");
}

int run_command_line(CLI::App& app, int argc, char** argv, const int& exit_status) {
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked) {  // --help, --version
        return app.exit(asked);
    } catch (const CLI::ParseError& error) {
        const std::vector<CLI::App*> verbs = app.get_subcommands();
        const std::string verb = verbs.empty() ? "" : verbs.front()->get_name() + " ";
        base::Log::to_stderr().fail(fmt::format("{} (dyetrace {}--help)", error_text(error), verb));
        return kExitUsage;
    }
    return exit_status;
}

}  // namespace dyetrace::apps
