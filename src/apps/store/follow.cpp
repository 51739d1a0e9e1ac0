// dyetrace follow: where bytes went, or where they came from.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>

#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "apps/store/confine_reader.h"
#include "base/file.h"
#include "base/log.h"
#include "content/content_key.h"
#include "content/dye_table.h"
#include "format/colour.h"
#include "format/table.h"
#include "query/clock/derived_clock_map.h"
#include "query/damages.h"
#include "query/flows/derived_flows.h"
#include "reports/follow/follow_output.h"
#include "reports/follow/follow_reader.h"
#include "reports/question_arguments.h"
#include "store/database.h"

namespace dyetrace::apps {
namespace {

constexpr std::size_t kTextBytesMax = 64u << 20;  // of --text @FILE

struct FollowArguments {
    std::string trace;
    std::string path, event, hash, dye, text, key;
    std::string min_certainty = "likely";
    bool forward = false, back = false, json = false, dot = false, table = false;
};

Result<void> take_text(const FollowArguments& arguments, reports::FollowQuestion& question) {
    question.text = arguments.text;
    if (arguments.text.starts_with('@')) {
        TRY(question.text, base::read_file(arguments.text.substr(1), kTextBytesMax));
    }
    if (question.text->size() < DYE_BYTES_MIN) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("a text of {} bytes is everywhere: it has {} at least",
                                 question.text->size(),
                                 static_cast<int>(DYE_BYTES_MIN)));
    }
    if (!arguments.key.empty()) {
        TRY(question.key, content::content_key(arguments.key));
    }
    return {};
}

Result<reports::FollowQuestion> question_of(const FollowArguments& arguments) {
    reports::FollowQuestion question;
    const std::string* const given[] = {
        &arguments.path, &arguments.event, &arguments.hash, &arguments.dye, &arguments.text};
    if (std::count_if(std::begin(given), std::end(given), [](const auto* text) {
            return !text->empty();
        }) != 1) {
        return Error(ErrorCode::kInvalidArgument,
                     "what to follow is one of --path, --event, --hash, --dye and --text");
    }
    if (!arguments.path.empty()) {
        TRY(const reports::FileRange range, reports::file_range_in(arguments.path));
        question.path = range.path;
        question.begin = range.begin;
        question.end = range.end;
    } else if (!arguments.event.empty()) {
        TRY(question.event, reports::number_in(arguments.event, "event"));
    } else if (!arguments.hash.empty()) {
        TRY(question.hash, reports::fingerprint_in(arguments.hash));
    } else if (!arguments.dye.empty()) {
        question.dye = arguments.dye;
    } else {
        TRY(take_text(arguments, question));
    }
    question.direction =
        arguments.back ? analysis::Direction::kBack : analysis::Direction::kForward;
    TRY(question.min_certainty, reports::certainty_in(arguments.min_certainty));
    return question;
}

Result<reports::FollowTrail> read(const FollowArguments& arguments,
                                  const reports::FollowQuestion& question) {
    TRY(const std::unique_ptr<store::Database> database,
        store::Database::open(arguments.trace, {}));
    query::say_damages(*database, base::Log::to_stderr());
    query::offer_flows(*database);
    query::use_clock(*database, "cluster");
    return reports::read_trail(*database, question);
}

int run_follow(const FollowArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    confine_reader(log, {arguments.trace});
    const Result<reports::FollowQuestion> question = question_of(arguments);
    if (!question.ok()) {
        log.fail(question.error());
        return kExitUsage;
    }
    const Result<reports::FollowTrail> trail = read(arguments, question.value());
    if (!trail.ok()) {
        log.fail(trail.error());
        return kExitFailure;
    }
    const reports::FollowStyle style{
        format::terminal_width(STDOUT_FILENO),
        format::wants_colour(format::ColourMode::kAuto, STDOUT_FILENO)};
    const std::string text = arguments.json    ? reports::follow_json(trail.value())
                             : arguments.dot   ? reports::follow_dot(trail.value())
                             : arguments.table ? reports::follow_table(trail.value(), style)
                                               : reports::follow_text(trail.value(), style);
    put(text);
    return 0;
}

}  // namespace

void add_follow(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<FollowArguments>();
    CLI::App* verb = app.add_subcommand("follow", "Show where bytes went, or where they came from");
    verb->add_option("trace", arguments->trace, "Folder of the trace; it may still be recorded")
        ->required()
        ->type_name("TRACE");
    verb->add_option(
            "--path",
            arguments->path,
            "The file that had this name; PATH:FROM-TO is its bytes FROM to TO, TO not included")
        ->type_name("PATH");
    verb->add_option("--event", arguments->event, "The bytes that one event moved: its event_id")
        ->type_name("ID");
    verb->add_option(
            "--hash",
            arguments->hash,
            "Bytes with this fingerprint, as `dyetrace hash` prints it, or 0x and hex digits")
        ->type_name("HASH");
    verb->add_option("--dye", arguments->dye, "A dye that was looked for (record --dye): its name")
        ->type_name("NAME");
    verb->add_option("--text",
                     arguments->text,
                     "These bytes, or with @FILE what is in it, as far as fingerprints and anchors "
                     "know them")
        ->type_name("TEXT|@FILE");
    verb->add_option("--content-key", arguments->key, "For --text: the key of the recording")
        ->type_name("hex:DIGITS|@FILE");
    auto* const forward =
        verb->add_flag("--forward", arguments->forward, "Where the bytes went (default)");
    verb->add_flag("--back", arguments->back, "Where the bytes came from")->excludes(forward);
    verb->add_option("--min-certainty",
                     arguments->min_certainty,
                     "Follow flows that are at least: certain, likely, possible")
        ->check(CLI::IsMember({"certain", "likely", "possible"}))
        ->capture_default_str()
        ->type_name("CERTAINTY");
    auto* const json =
        verb->add_flag("--json", arguments->json, "One JSON object, the whole trail");
    auto* const dot =
        verb->add_flag("--dot", arguments->dot, "A graph for Graphviz")->excludes(json);
    verb->add_flag("--table", arguments->table, "Time downwards, a column per process")
        ->excludes(json)
        ->excludes(dot);
    verb->footer(
        "Examples:\n"
        "  dyetrace follow trace --path secrets.txt\n"
        "  dyetrace follow trace --path report.pdf --back\n"
        "  dyetrace follow trace --path data.db:4096-8192 --min-certainty possible\n"
        "  dyetrace follow trace --hash $(dyetrace hash x | cut -d' ' -f1) --json\n"
        "  dyetrace follow trace --dye card --table\n"
        "  dyetrace follow trace --text @leaked.pdf --back\n"
        "  dyetrace follow trace --event 4711 --dot | dot -Tsvg -o trail.svg");
    verb->callback([arguments, &exit_status] { exit_status = run_follow(*arguments); });
}

}  // namespace dyetrace::apps
