// What a verb that hands SQL of its user's to the database ends with.
#pragma once

#include <string>

#include "apps/cli/exit_status.h"

namespace dyetrace::apps {

// For an error that was said. To the database all that is wrong with a statement is one; a name may be in another trace, what is no SQL was not understood.
inline int exit_status_of_sql(const Error& error) {
    const std::string text = error.text();
    const bool is_of_database = text.find(" Error: ") != std::string::npos;
    return is_of_database && text.find("Parser Error: ") == std::string::npos
               ? kExitFailure
               : exit_status_of(error);
}

}  // namespace dyetrace::apps
