// The SQL that proves a finding: people paste it into `dyetrace sql`, the page links to it.
//
//   proof_of({.kind = "repeated_opens", .proof = {.task = 4711, .path = "/etc/passwd"}})
//   ──►  select * from events where pid = 4711 and path = '/etc/passwd' and name like 'open%' order by start_ns
#pragma once

#include <string>

#include "analysis/findings/report_findings.h"

namespace dyetrace::reports {

std::string proof_of(const analysis::Finding& finding);

}  // namespace dyetrace::reports
