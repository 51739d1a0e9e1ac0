// dyetrace doctor: what this machine allows, what will therefore be missing, and how to get it.

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "base/json.h"
#include "base/text.h"
#include "capture/features.h"
#include "format/table.h"

namespace dyetrace::apps {
namespace {

using capture::Availability;
using capture::Feature;

const char* availability_text(Availability availability) {
    switch (availability) {
        case Availability::kYes:
            return "yes";
        case Availability::kPartly:
            return "partly";
        case Availability::kNo:
            return "no";
    }
    return "";
}

constexpr std::size_t kNameColumns = 18;
constexpr std::size_t kWordColumns = 7;
constexpr std::size_t kTextColumnsMin = 20;  // on a terminal too narrow for anything

// Prints the name, the word, and the text, which wraps after them.
void print_row(std::string_view name, std::string_view word, const std::string& text) {
    const std::size_t width = format::terminal_width(STDOUT_FILENO);
    const std::string indent(kNameColumns + kWordColumns + 3, ' ');
    const std::size_t room = std::max(width, indent.size() + kTextColumnsMin) - indent.size();
    std::string lines = base::wrapped(text, room, "");
    for (std::size_t at = lines.find('\n'); at != std::string::npos;
         at = lines.find('\n', at + 1)) {
        lines.insert(at + 1, indent);
    }
    put(fmt::format(" {} {} {}\n",
                    base::left_aligned(name, kNameColumns),
                    base::left_aligned(word, kWordColumns),
                    lines));
}

void print_text(const std::vector<Feature>& features) {
    utsname system{};
    uname(&system);
    print_row("kernel", "", fmt::format("Linux {}  {}", system.release, system.machine));
    for (const Feature& feature : features) {
        print_row(feature.name, availability_text(feature.availability), feature.detail);
        if (!feature.remedy.empty()) {
            print_row("", "", "→ " + feature.remedy);
        }
    }
}

void print_json(const std::vector<Feature>& features) {
    for (const Feature& feature : features) {
        base::Json line = base::Json::object();
        line.set("name", feature.name);
        line.set("available", std::string(availability_text(feature.availability)));
        line.set("detail", feature.detail);
        line.set("remedy", feature.remedy);
        line.set("needed", feature.needed);
        put(fmt::format("{}\n", line.text()));
    }
}

// 1 when something is missing without which nothing can be recorded.
int run_doctor(bool json) {
    const std::vector<Feature> features = capture::probe_features();
    json ? print_json(features) : print_text(features);
    for (const Feature& feature : features) {
        if (feature.needed && feature.availability == Availability::kNo) {
            return 1;
        }
    }
    return 0;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_status) {
    auto json = std::make_shared<bool>(false);
    CLI::App* verb =
        app.add_subcommand("doctor", "Say what this machine allows and what will be missing");
    verb->add_flag("--json", *json, "One JSON object per line");
    verb->footer("Examples:\n  dyetrace doctor\n  dyetrace doctor --json | grep '\"no\"'");
    verb->callback([json, &exit_status] { exit_status = run_doctor(*json); });
}

}  // namespace dyetrace::apps
