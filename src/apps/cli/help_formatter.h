// What --help prints, for a terminal of 80 columns: options to the left, what they do to the right, wrapped.
//
//   Usage: dyetrace record [options] [-- CMD...]
//
//   Options:
//     -o, --output TRACE      Folder of the trace (default: dyetrace-<time>)
//     --ring SIZE             Memory per CPU for events not yet read: 512K, 16M, 1G
//                             (default: 16M)
//
// The man pages and the completions are made from this text (packaging/help_text.py reads it).
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "apps/cli/exit_status.h"

namespace dyetrace::apps {

inline constexpr std::size_t kHelpColumns = 80;
inline constexpr std::size_t kHelpLeftColumns =
    26;  // two blanks, the longest usual option, two blanks

class HelpFormatter : public CLI::Formatter {
  public:
    HelpFormatter() { column_width(kHelpLeftColumns); }

    std::string make_usage(const CLI::App* app, std::string name) const override;
    std::string make_description(const CLI::App* app) const override;
    std::string make_positionals(const CLI::App* app) const override;
    std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
    std::string make_option(const CLI::Option* option, bool is_positional) const override;
};

// The words of all programs' --help and --version; verbs that are added afterwards speak them too.
void speak_plainly(CLI::App& app);

// Parses, which runs the chosen verb; says what was not understood, and where the verb's --help is. The exit status: that of
// the verb, or kExitUsage.
int run_command_line(CLI::App& app, int argc, char** argv, const int& exit_status);

}  // namespace dyetrace::apps
