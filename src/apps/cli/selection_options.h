// The options that say which events are kept, and the condition that they make together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "filter/predicate.h"

namespace CLI {
class App;  // its header takes a file five seconds to compile
}

namespace dyetrace::apps {

// The options as the user wrote them.
struct SelectionOptions {
    std::string where;
    std::vector<std::string> comms;
    std::vector<std::string> paths;
    std::vector<std::uint16_t> ports;
    bool errors = false;
    std::string longer;

    // Selects everything if none was given.
    Result<filter::Predicate> predicate() const;
};

void add_selection_options(CLI::App& verb, SelectionOptions& options);

}  // namespace dyetrace::apps
