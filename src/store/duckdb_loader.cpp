#include "store/duckdb_loader.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>

extern "C" {
extern void* duckdb_slots[];  // hidden, in the stubs
// One after another; an empty one ends them.
extern const char duckdb_slot_names[];  // NOLINT(readability-identifier-naming): a C name
}

namespace dyetrace::store {
namespace {

Result<void> load() {
    void* const library = ::dlopen("libduckdb.so", RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
        return Error(ErrorCode::kNotFound,
                     fmt::format("DuckDB's library is missing: {}", ::dlerror()));
    }
    void** slot = duckdb_slots;
    for (const char* name = duckdb_slot_names; *name != '\0'; name += std::strlen(name) + 1) {
        *slot = ::dlsym(library, name);
        if (*slot == nullptr) {
            return Error(ErrorCode::kUnsupported,
                         fmt::format("DuckDB's library is another version: it has no {}", name));
        }
        ++slot;
    }
    return {};
}

}  // namespace

Result<void> load_duckdb() {
    static const Result<void> kLoaded = load();
    return kLoaded;
}

}  // namespace dyetrace::store
