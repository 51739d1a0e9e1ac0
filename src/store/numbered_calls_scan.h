// _numbered_calls() in SQL: the rows of internal.numbered_calls (prelude.sql), which are the same in every trace (trace_frame.h). For this folder's sources only.
#pragma once

#include "base/result.h"
#include "store/duckdb_engine.h"

namespace dyetrace::store {

Result<void> register_numbered_calls(const Engine& engine);

}  // namespace dyetrace::store
