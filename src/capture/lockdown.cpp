#include "capture/lockdown.h"

#include <fstream>

namespace dyetrace::capture {

std::string lockdown_mode() {
    std::ifstream file("/sys/kernel/security/lockdown");
    std::string modes;
    std::getline(file, modes);
    return std::string(chosen_mode(modes));
}

std::string_view chosen_mode(std::string_view modes) {
    const std::size_t open = modes.find('['), close = modes.find(']');
    return open < close && close != std::string_view::npos
               ? modes.substr(open + 1, close - open - 1)
               : std::string_view();
}

}  // namespace dyetrace::capture
