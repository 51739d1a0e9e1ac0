// Says on stderr which files of a trace cannot be read.
#pragma once

#include "base/log.h"
#include "store/database.h"

namespace dyetrace::query {

// A line each, up to a screen of them.
void say_damages(const store::Database& database, const base::Log& log);

}  // namespace dyetrace::query
