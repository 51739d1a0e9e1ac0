// dyetrace dye: makes dyes, and changes those that a running recording looks for.

#include "capture/dye.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <string>

#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "base/log.h"
#include "recorder/dye_control.h"

namespace dyetrace::apps {
namespace {

constexpr std::size_t kRandomLetters = 20;  // 100 bits: no window of it turns up by chance

struct DyeArguments {
    std::string prefix = "dye";
    std::string trace, spec, name;
    std::string forms = "plain";
};

// Small letters and digits are the same in URLs, JSON and file names.
Result<std::string> new_dye(const std::string& prefix) {
    constexpr std::string_view kLetters = "abcdefghijkmnpqrstuvwxyz23456789";  // no l1, no o0
    static_assert(kLetters.size() == 32);
    std::array<unsigned char, kRandomLetters> random{};
    if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
        return Error(ErrorCode::kIo, "the kernel gave no random bytes");
    }
    std::string dye = prefix.empty() ? "" : prefix + "-";
    for (const unsigned char byte : random) {
        dye.push_back(kLetters[byte % kLetters.size()]);
    }
    if (dye.size() > DYE_BYTES_MAX) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("with this prefix the dye has {} bytes, at most {} can be looked "
                                 "for",
                                 dye.size(),
                                 static_cast<int>(DYE_BYTES_MAX)));
    }
    return dye;
}

Result<void> print_new(const DyeArguments& arguments) {
    TRY(const std::string dye, new_dye(arguments.prefix));
    put(fmt::format("{}\n", dye));
    return {};
}

Result<void> add(const DyeArguments& arguments) {
    TRY(const capture::DyeForms forms, capture::parse_dye_forms(arguments.forms));
    TRY(const capture::Dye dye, capture::parse_dye(arguments.spec, forms));
    TRY(recorder::ask_recorder(arguments.trace,
                               {"add", fmt::format("{}", forms), dye.name, dye.text}));
    return {};
}

Result<void> remove(const DyeArguments& arguments) {
    TRY(recorder::ask_recorder(arguments.trace, {"remove", arguments.name}));
    return {};
}

Result<void> list(const DyeArguments& arguments) {
    for (std::string next = "0";;) {
        TRY(const recorder::ControlMessage fields,
            recorder::ask_recorder(arguments.trace, {"list", next}));
        for (std::size_t i = 1; i < fields.size(); ++i) {
            put(fmt::format("{}\n", fields[i]));
        }
        if (fields.empty() || fields[0] == "0") {
            return {};
        }
        next = fields[0];
    }
}

using Action = Result<void> (*)(const DyeArguments&);

int run(Action action, const DyeArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    const Result<void> done = action(arguments);
    if (!done.ok()) {
        log.fail(done.error());
        return exit_status_of(done.error());
    }
    return 0;
}

}  // namespace

void add_dye(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<DyeArguments>();
    CLI::App* verb = app.add_subcommand(
        "dye", "Make texts to look for, and change what a running recording looks for");
    verb->require_subcommand(1);
    const auto add_action = [&](const char* name, const char* description, Action action) {
        CLI::App* sub = verb->add_subcommand(name, description);
        sub->callback([arguments, action, &exit_status] { exit_status = run(action, *arguments); });
        return sub;
    };
    CLI::App* fresh = add_action("new", "Print a text that nobody else has", &print_new);
    fresh->add_option("--prefix", arguments->prefix, "What it begins with")
        ->capture_default_str()
        ->type_name("TEXT");
    CLI::App* added = add_action("add", "Look for one more from now on", &add);
    added->add_option("trace", arguments->trace, "Folder of the recording")
        ->required()
        ->type_name("TRACE");
    added->add_option("dye", arguments->spec, "NAME=TEXT, NAME=hex:DIGITS or NAME=@FILE")
        ->required()
        ->type_name("DYE");
    added
        ->add_option("--dye-forms",
                     arguments->forms,
                     "How else it may be written: nocase, base64, hex, utf16, url, json, all")
        ->capture_default_str()
        ->type_name("FORMS");
    CLI::App* removed = add_action("remove", "Look for this one no longer", &remove);
    removed->add_option("trace", arguments->trace, "Folder of the recording")
        ->required()
        ->type_name("TRACE");
    removed->add_option("name", arguments->name, "Name of the dye")->required()->type_name("NAME");
    CLI::App* listed = add_action("list", "Names, lengths and forms of all of them", &list);
    listed->add_option("trace", arguments->trace, "Folder of the recording")
        ->required()
        ->type_name("TRACE");
    verb->footer(
        "Examples:\n"
        "  dyetrace dye new --prefix order\n"
        "  dyetrace record -a --later-dyes -o t &\n"
        "  dyetrace dye add t password=@secret.txt --dye-forms base64,url\n"
        "  dyetrace dye list t\n"
        "  dyetrace dye remove t password");
}

}  // namespace dyetrace::apps
