#include "api/request_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "base/text.h"

namespace dyetrace::api {
namespace {

bool is_port(std::string_view text) {
    return !text.empty() && text.size() <= 5 &&
           std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "127.0.0.1:40123", "localhost", "[::1]:80": the whole of it. Which port does not matter: a tunnel has another.
bool is_loopback_host(std::string_view host) {
    for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"}) {
        if (host.starts_with(name)) {
            const std::string_view rest = host.substr(name.size());
            return rest.empty() || (rest.front() == ':' && is_port(rest.substr(1)));
        }
    }
    return false;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    return begin == std::string_view::npos
               ? std::string_view()
               : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// The values of the headers that say who asks. One that is there twice could be read in two ways.
struct Head {
    std::string_view target;
    std::optional<std::string_view> host, origin, site;
    bool is_sound = false;
};

Head head_of(std::string_view text) {
    Head head;
    const std::size_t line_end = text.find("\r\n");
    const std::string_view first = text.substr(0, line_end);
    const std::size_t begin = first.find(' ');
    head.target = begin == std::string_view::npos
                      ? std::string_view()
                      : first.substr(begin + 1, first.find(' ', begin + 1) - begin - 1);
    text.remove_prefix(line_end + 2);
    bool is_sound = std::ranges::find(first, '\n') == first.end();
    while (!text.empty()) {
        const std::size_t end = text.find("\r\n");
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 2);
        is_sound = is_sound && line.find_first_of(std::string_view("\r\n\0", 3)) == line.npos;
        const std::size_t colon = line.find(':');
        const std::string name = base::lower(line.substr(0, colon));
        std::optional<std::string_view>* const value = name == "host"             ? &head.host
                                                       : name == "origin"         ? &head.origin
                                                       : name == "sec-fetch-site" ? &head.site
                                                                                  : nullptr;
        if (value != nullptr) {
            is_sound = is_sound && !value->has_value();
            *value = colon == line.npos ? std::string_view() : trimmed(line.substr(colon + 1));
        }
    }
    head.is_sound = is_sound;
    return head;
}

}  // namespace

int refusal_of(std::string_view text, std::string_view prefix) {
    const Head head = head_of(text);
    if (!head.is_sound) {
        return 400;
    }
    if (!is_loopback_host(head.host.value_or(""))) {
        return 403;
    }
    if (!head.target.starts_with(prefix)) {
        return 404;
    }
    // What a browser says of the page that asks: this one, or nobody but who typed the address.
    const bool is_foreign = (head.origin && *head.origin != fmt::format("http://{}", *head.host)) ||
                            (head.site && *head.site != "same-origin" && *head.site != "none");
    return is_foreign ? 403 : 0;
}

}  // namespace dyetrace::api
