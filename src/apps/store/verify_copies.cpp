// dyetrace verify-copies: whether the copies of some content are the same, and if not, who held it when it changed.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "apps/store/confine_reader.h"
#include "base/log.h"
#include "format/colour.h"
#include "format/table.h"
#include "query/clock/derived_clock_map.h"
#include "query/damages.h"
#include "query/flows/derived_flows.h"
#include "reports/verify/verify_reader.h"
#include "store/database.h"

namespace dyetrace::apps {
namespace {

// The exit statuses are those of cmp, and one more.
constexpr int kExitDifferent = 1;
constexpr int kExitTrouble = 2;
constexpr int kExitNotAllCompared = 3;

int status_of(analysis::Sameness sameness) {
    switch (sameness) {
        case analysis::Sameness::kDifferent:
            return kExitDifferent;
        case analysis::Sameness::kNotAllCompared:
            return kExitNotAllCompared;
        case analysis::Sameness::kSame:
        case analysis::Sameness::kReplaced:
            break;
    }
    return 0;
}

struct VerifyArguments {
    std::string trace;
    std::string path, event, dye;
    bool json = false;
};

Result<reports::VerifyQuestion> question_of(const VerifyArguments& arguments) {
    reports::VerifyQuestion question;
    const int given = !arguments.path.empty() + !arguments.event.empty() + !arguments.dye.empty();
    if (given != 1) {
        return Error(ErrorCode::kInvalidArgument,
                     "what to verify is one of --path, --event and --dye");
    }
    if (!arguments.path.empty()) {
        TRY(question.path, reports::file_range_in(arguments.path));
    } else if (!arguments.event.empty()) {
        TRY(question.event, reports::number_in(arguments.event, "event"));
    } else {
        question.dye = arguments.dye;
    }
    return question;
}

Result<reports::VerifyAnswer> read(const VerifyArguments& arguments) {
    TRY(const reports::VerifyQuestion question, question_of(arguments));
    TRY(const std::unique_ptr<store::Database> database,
        store::Database::open(arguments.trace, {}));
    query::say_damages(*database, base::Log::to_stderr());
    query::offer_flows(*database);
    query::use_clock(*database, "cluster");
    return reports::read_copies(*database, question);
}

int run_verify(const VerifyArguments& arguments) {
    confine_reader(base::Log::to_stderr(), {arguments.trace});
    const Result<reports::VerifyAnswer> answer = read(arguments);
    if (!answer.ok()) {
        base::Log::to_stderr().fail(answer.error());
        return kExitTrouble;
    }
    const reports::VerifyStyle style{
        format::terminal_width(STDOUT_FILENO),
        format::wants_colour(format::ColourMode::kAuto, STDOUT_FILENO)};
    const std::string text = arguments.json ? reports::verify_json(answer.value())
                                            : reports::verify_text(answer.value(), style);
    put(text);
    if (!is_output_written()) {  // a status of its own: 1 means that they differ
        return kExitTrouble;
    }
    return status_of(answer.value().verdict.sameness());
}

}  // namespace

void add_verify_copies(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<VerifyArguments>();
    CLI::App* verb = app.add_subcommand(
        "verify-copies", "Say whether copies of bytes are the same, and who held them when not");
    verb->add_option("trace", arguments->trace, "Folder of the trace; it may still be recorded")
        ->required()
        ->type_name("TRACE");
    verb->add_option("--path",
                     arguments->path,
                     "What was in the file that had this name; PATH:FROM-TO is its bytes FROM to "
                     "TO, TO not included")
        ->type_name("PATH");
    verb->add_option("--event", arguments->event, "What one event moved: its event_id")
        ->type_name("ID");
    verb->add_option("--dye", arguments->dye, "What this dye was seen in first")->type_name("NAME");
    verb->add_flag("--json", arguments->json, "One JSON object, all copies and changes");
    verb->footer(
        "A trace that was recorded with --content=anchors tells the piece that changed,\n"
        "one with --content=bytes the bytes too.\n\n"
        "Exit status: 0 all is the same, or other bytes were put in its place by a call\n"
        "that is known, 1 something differs, 2 trouble,\n"
        "3 nothing differs in what could be compared, but not all could be.\n\n"
        "Examples:\n"
        "  dyetrace verify-copies trace --path data.db\n"
        "  dyetrace verify-copies trace --path data.db:4096-8192 --json\n"
        "  dyetrace verify-copies trace --event 4711");
    verb->callback([arguments, &exit_status] { exit_status = run_verify(*arguments); });
}

}  // namespace dyetrace::apps
