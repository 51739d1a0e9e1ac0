// The option --clock of verbs that show times.
#pragma once

#include <string>

namespace CLI {
class App;  // its header takes a file five seconds to compile
}

namespace dyetrace::apps {

// Its value (cluster, wall or raw) goes to `clock`, as use_clock() takes it.
void add_clock_option(CLI::App& verb, std::string& clock);

}  // namespace dyetrace::apps
