#include "api/page/page_token.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "api/http_server.h"
#include "base/fd.h"
#include "base/file.h"

namespace dyetrace::api {
namespace {

constexpr std::size_t kTokenBytesMax = 100;

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string state_folder() {
    const std::string state = variable("XDG_STATE_HOME"), home = variable("HOME");
    if (!state.empty()) {
        return state + "/dyetrace";
    }
    return home.empty() ? "" : home + "/.local/state/dyetrace";
}

bool is_token(const std::string& text) {
    return text.size() >= 32 && std::all_of(text.begin(), text.end(), [](unsigned char letter) {
               return std::isxdigit(letter) != 0;
           });
}

}  // namespace

Result<std::string> page_token(std::uint16_t port) {
    const std::string folder = state_folder();
    if (port == 0 || folder.empty()) {
        return api::make_token();
    }
    const std::string path = fmt::format("{}/ui-{}", folder, port);
    if (const Result<std::string> kept = base::read_file(path, kTokenBytesMax);
        kept.ok() && is_token(kept.value())) {
        return kept.value();
    }
    TRY(std::string token, api::make_token());
    TRY(base::make_folders(folder));
    const base::Fd file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.valid()) {
        return Error::from_errno(errno, "keeping the page's address in " + path);
    }
    TRY(base::write_all(file, std::as_bytes(std::span(token))));
    return token;
}

}  // namespace dyetrace::api
