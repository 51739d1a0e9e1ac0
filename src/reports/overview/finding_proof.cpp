#include "reports/overview/finding_proof.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/sql_literal.h"
#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::reports {
namespace {

namespace sql = query::sql;

// pid = 4711; of several hosts host = 'db1' and pid = 4711.
query::SqlPiece who(const analysis::Finding& finding) {
    const analysis::Proof& proof = finding.proof;
    const std::string host =
        proof.host ? fmt::format("host = {} and ", base::quoted_sql(*proof.host)) : "";
    return {fmt::format(
        "{}{} = {}", host, finding.kind == "blocked_thread" ? "tid" : "pid", proof.task)};
}

// What asks for nothing but whose events they are.
constexpr std::pair<std::string_view, const std::string_view*> kOfProcess[] = {
    {"sent_again", &sql::kFindingSentAgain},
    {"blocked_thread", &sql::kFindingBlockedThread},
    {"unseen_ring", &sql::kFindingUnseenRing},
    {"polled_ring", &sql::kFindingPolledRing},
};

}  // namespace

std::string proof_of(const analysis::Finding& finding) {
    const analysis::Proof& proof = finding.proof;
    const std::string& kind = finding.kind;
    if (kind == "killed_by_signal") {
        return query::filled(sql::kFindingKilledBySignal,
                             {{"who", who(finding)}, {"signal", proof.signal}});
    }
    if (kind == "failing_calls") {
        return query::filled(sql::kFindingFailingCalls,
                             {{"who", who(finding)}, {"call", proof.call}, {"error", proof.error}});
    }
    for (const auto& [each, statement] : kOfProcess) {
        if (kind == each) {
            return query::filled(*statement, {{"who", who(finding)}});
        }
    }
    const bool is_sync = kind == "sync_share", is_small = kind == "small_transfers";
    CHECK(is_sync || is_small || kind == "repeated_opens", kind);
    return query::filled(is_sync    ? sql::kFindingSyncShare
                         : is_small ? sql::kFindingSmallTransfers
                                    : sql::kFindingRepeatedOpens,
                         {{"who", who(finding)}, {"path", proof.path}});
}

}  // namespace dyetrace::reports
