// dyetrace pki: a small authority for the certificates of agents, collectors and operators.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "apps/cli/verbs.h"
#include "apps/fleet/fleet_options.h"
#include "base/log.h"
#include "transport/authority.h"
#include "transport/names.h"

namespace dyetrace::apps {
namespace {

constexpr int kDaysMax = transport::kAuthorityDays;

struct PkiArguments {
    std::string folder;
    std::string host;
    std::string collector;
    std::string operator_name;
    std::vector<std::string> may = {"read"};
    int days = transport::kCertificateDays;
};

// What the certificate is for, and whose: exactly one of the three was said.
Result<std::pair<std::string, std::string>> owner_of(const PkiArguments& arguments) {
    std::vector<std::pair<std::string, std::string>> owners = {
        {"host", arguments.host},
        {"collector", arguments.collector},
        {"operator", arguments.operator_name}};
    std::erase_if(owners, [](const auto& owner) { return owner.second.empty(); });
    if (owners.size() != 1) {
        return Error(ErrorCode::kInvalidArgument,
                     "say whose it is: one of --host, --collector and --operator");
    }
    return owners.front();
}

Result<void> issue(const PkiArguments& arguments, const base::Log& log) {
    TRY(const auto owner, owner_of(arguments));
    const auto& [kind, name] = owner;
    if (!transport::is_plain_name(name)) {
        return Error(
            ErrorCode::kInvalidArgument,
            fmt::format("'{}' is no name: up to 64 letters, digits, '.', '_' and '-'", name));
    }
    std::vector<std::string> uris = {fmt::format("dyetrace://{}/{}", kind, name)};
    for (const std::string& right : arguments.may) {
        if (kind == "operator") {
            uris.push_back("dyetrace://may/" + right);
        }
    }
    const std::string folder = kind + "-" + name;
    TRY(transport::issue(arguments.folder, folder, uris, arguments.days));
    log.say(
        fmt::format("{}/{} is for {} '{}', {} days: carry the folder there and keep key.pem "
                    "secret",
                    arguments.folder,
                    folder,
                    kind,
                    name,
                    arguments.days));
    return {};
}

void add_init(CLI::App& pki, const std::shared_ptr<PkiArguments>& arguments, int& exit_status) {
    CLI::App* verb = pki.add_subcommand("init", "Make an authority");
    verb->add_option("folder", arguments->folder, "Where it is kept; ca.key must stay there")
        ->required()
        ->type_name("FOLDER");
    verb->callback([arguments, &exit_status] {
        const base::Log log = base::Log::to_stderr();
        const Result<void> made = transport::make_authority(arguments->folder);
        if (made.ok()) {
            log.say(arguments->folder +
                    " has an authority: whoever reads its ca.key may be anybody");
        }
        exit_status = exit_status_of(made);
    });
}

void add_issue(CLI::App& pki, const std::shared_ptr<PkiArguments>& arguments, int& exit_status) {
    CLI::App* verb = pki.add_subcommand("issue", "Make a certificate, or renew one");
    verb->add_option("folder", arguments->folder, "Of the authority")
        ->required()
        ->type_name("FOLDER");
    verb->add_option("--host", arguments->host, "For the agent of this host, to write as it")
        ->type_name("NAME");
    verb->add_option("--collector", arguments->collector, "For a collector")->type_name("NAME");
    auto* const operators =
        verb->add_option("--operator", arguments->operator_name, "For a person or a program")
            ->type_name("NAME");
    verb->add_option("--may", arguments->may, "What an operator may: record, read")
        ->delimiter(',')
        ->check(CLI::IsMember({"record", "read"}))
        ->needs(operators)
        ->default_str("read")
        ->type_name("RIGHTS");
    verb->add_option("--days", arguments->days, "How long it is valid")
        ->check(CLI::Range(0, kDaysMax))
        ->capture_default_str()
        ->type_name("DAYS");
    verb->callback([arguments, &exit_status] {
        const base::Log log = base::Log::to_stderr();
        exit_status = exit_status_of(issue(*arguments, log));
    });
}

}  // namespace

void add_pki(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<PkiArguments>();
    CLI::App* verb =
        app.add_subcommand("pki", "Make the certificates of agents, collectors and operators");
    verb->require_subcommand(1);
    add_init(*verb, arguments, exit_status);
    add_issue(*verb, arguments, exit_status);
    verb->footer(
        "Examples:\n"
        "  dyetrace pki init authority\n"
        "  dyetrace pki issue authority --host db1\n"
        "  dyetrace pki issue authority --collector main\n"
        "  dyetrace pki issue authority --operator eve --may record,read");
}

}  // namespace dyetrace::apps
