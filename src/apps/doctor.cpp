// dyetrace doctor: what this machine allows, what will therefore be missing, and how to get it.

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdio>

#include "apps/verbs.h"
#include "base/json.h"
#include "base/text.h"
#include "capture/features.h"

namespace dyetrace::apps {
namespace {

using capture::Availability;
using capture::Feature;

const char* word_of(Availability availability) {
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

void print_text(const std::vector<Feature>& features) {
    utsname system{};
    uname(&system);
    fmt::print(
        " {}  Linux {}  {}\n", base::left_aligned("kernel", 17), system.release, system.machine);
    for (const Feature& feature : features) {
        fmt::print(" {} {} {}\n",
                   base::left_aligned(feature.name, 18),
                   base::left_aligned(word_of(feature.availability), 7),
                   feature.detail);
        if (!feature.remedy.empty()) {
            fmt::print(" {} → {}\n", base::left_aligned("", 26), feature.remedy);
        }
    }
}

void print_json(const std::vector<Feature>& features) {
    for (const Feature& feature : features) {
        base::Json line = base::Json::object();
        line.set("name", feature.name);
        line.set("available", std::string(word_of(feature.availability)));
        line.set("detail", feature.detail);
        line.set("remedy", feature.remedy);
        line.set("needed", feature.needed);
        fmt::print("{}\n", line.text());
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
