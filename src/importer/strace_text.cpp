#include "importer/strace_text.h"

#include <sys/socket.h>

#include <algorithm>
#include <charconv>

#include "importer/addresses.h"
#include "importer/strace_line.h"
#include "importer/syscall_names.h"
#include "importer/words.h"

namespace dyetrace::importer {
namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Reads one escape after its backslash, at `at`; `at` is where it ends afterwards.
char escape_at(std::string_view text, std::size_t& at) {
    const char c = text[at++];
    switch (c) {
        case 'n':
            return '\n';
        case 't':
            return '\t';
        case 'r':
            return '\r';
        case 'v':
            return '\v';
        case 'f':
            return '\f';
        case 'x': {
            unsigned value = 0;
            for (int i = 0; i < 2 && at < text.size() && hex_digit(text[at]) >= 0; ++i) {
                value = value * 16 + static_cast<unsigned>(hex_digit(text[at++]));
            }
            return static_cast<char>(value);
        }
        default:
            break;
    }
    if (c < '0' || c > '7') {
        return c;
    }
    auto value = static_cast<unsigned>(c - '0');
    for (int i = 0; i < 2 && at < text.size() && text[at] >= '0' && text[at] <= '7'; ++i) {
        value = value * 8 + static_cast<unsigned>(text[at++] - '0');
    }
    return static_cast<char>(value);
}

template <typename Number>
bool take_number(std::string_view& text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) {
        return false;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

// "127.0.0.1:80" or "[::1]:80".
bool read_end(std::string_view text, std::string& address, std::uint16_t& port) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return false;
    }
    std::string_view digits = text.substr(colon + 1);
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    }
    std::uint16_t number = 0;
    if (!take_number(digits, number) || !digits.empty() || family_of(std::string(host)) == 0) {
        return false;
    }
    address = host;
    port = number;
    return true;
}

// What is in the brackets of TCP:[…].
void read_ends(std::string_view inside, Decoration& of) {
    const std::size_t arrow = inside.find("->");
    if (arrow != std::string_view::npos) {
        read_end(inside.substr(0, arrow), of.local_address, of.local_port);
        read_end(inside.substr(arrow + 2), of.remote_address, of.remote_port);
    } else if (!read_end(inside, of.local_address, of.local_port)) {
        take_number(inside, of.inode);
    }
}

// UNIX-STREAM:[1->2,"/run/x"]
void read_unix(std::string_view inside, Decoration& of) {
    take_number(inside, of.inode);
    if (inside.starts_with("->")) {
        inside.remove_prefix(2);
        take_number(inside, of.peer_inode);
    }
    if (inside.starts_with(',')) {
        inside.remove_prefix(1);
        const bool is_abstract = inside.starts_with('@');
        inside.remove_prefix(is_abstract ? 1 : 0);
        if (const auto name = quoted_string(inside)) {
            of.unix_path = (is_abstract ? "@" : "") + name->bytes;
        }
    }
}

struct SocketPrefix {
    std::string_view prefix;
    std::uint16_t family, type, protocol;
};

constexpr SocketPrefix kSocketPrefixes[] = {
    {"TCP:", AF_INET, SOCK_STREAM, 6},
    {"TCPv6:", AF_INET6, SOCK_STREAM, 6},
    {"UDP:", AF_INET, SOCK_DGRAM, 17},
    {"UDPv6:", AF_INET6, SOCK_DGRAM, 17},
    {"UNIX-STREAM:", AF_UNIX, SOCK_STREAM, 0},
    {"UNIX-DGRAM:", AF_UNIX, SOCK_DGRAM, 0},
    {"UNIX-SEQPACKET:", AF_UNIX, SOCK_SEQPACKET, 0},
    {"UNIX:", AF_UNIX, 0, 0},
    {"NETLINK:", AF_NETLINK, SOCK_RAW, 0},
    {"socket:", 0, 0, 0},
};

bool read_socket(std::string_view text, Decoration& of) {
    for (const SocketPrefix& known : kSocketPrefixes) {
        if (!text.starts_with(known.prefix)) {
            continue;
        }
        std::string_view inside = text.substr(known.prefix.size());
        if (inside.starts_with('[') && inside.ends_with(']')) {
            inside = inside.substr(1, inside.size() - 2);
        }
        of.type = schema::ObjectType::kSocket;
        of.family = known.family;
        of.socket_type = known.type;
        of.protocol = known.protocol;
        if (known.family == AF_UNIX) {
            read_unix(inside, of);
        } else {
            read_ends(inside, of);
        }
        return true;
    }
    return false;
}

// "/dev/null<char 1:3>"
void read_device(std::string_view& path, Decoration& of) {
    for (const auto& [word, type] : {std::pair<std::string_view, schema::ObjectType>{
                                         "<char ", schema::ObjectType::kCharacterDevice},
                                     {"<block ", schema::ObjectType::kBlockDevice}}) {
        const std::size_t at = path.rfind(word);
        if (at == std::string_view::npos) {
            continue;
        }
        path = path.substr(0, at);
        of.type = type;
        return;
    }
}

Decoration decoration_in(std::string_view text) {
    Decoration of;
    if (text.starts_with("pipe:[")) {
        std::string_view number = text.substr(6);
        take_number(number, of.inode);
        of.type = schema::ObjectType::kPipe;
        return of;
    }
    if (read_socket(text, of)) {
        return of;
    }
    if (text.starts_with("anon_inode:")) {
        of.type = schema::ObjectType::kAnonymous;
        of.path = text.substr(11);
        return of;
    }
    if (!text.starts_with('/')) {
        of.path = unescaped_text(text);
        return of;
    }
    of.type = schema::ObjectType::kFile;
    read_device(text, of);
    of.path = unescaped_text(text);
    return of;
}

std::string ipv6_in(std::string_view text) {
    const std::size_t call = text.find("inet_pton(AF_INET6, ");
    const auto address =
        call == std::string_view::npos ? std::nullopt : quoted_string(text.substr(call + 20));
    return address ? address->bytes : std::string();
}

std::uint16_t port_in(std::string_view text) {
    std::uint16_t port = 0;
    if (text.starts_with("htons(")) {
        text.remove_prefix(6);
        take_number(text, port);
    }
    return port;
}

}  // namespace

std::vector<std::string_view> split_arguments(std::string_view text) {
    std::vector<std::string_view> arguments;
    std::size_t begin = 0, depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '"') {
            for (++at; at < text.size() && text[at] != '"'; ++at) {
                at += text[at] == '\\' ? 1 : 0;
            }
        } else if (c == '<' && at > 0 && is_in_name(text[at - 1]) &&
                   !text.substr(at).starts_with("<<")) {
            at = end_of_decoration(text, at);
        } else if (c == '(' || c == '[' || c == '{') {
            ++depth;
        } else if ((c == ')' || c == ']' || c == '}') && depth > 0) {
            --depth;
        } else if (c == ',' && depth == 0) {
            arguments.push_back(trimmed(text.substr(begin, at - begin)));
            begin = at + 1;
        }
    }
    if (begin > 0 || !trimmed(text).empty()) {
        arguments.push_back(trimmed(text.substr(std::min(begin, text.size()))));
    }
    return arguments;
}

std::string unescaped_text(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at++];
        bytes.push_back(c == '\\' && at < text.size() ? escape_at(text, at) : c);
    }
    return bytes;
}

std::optional<Quoted> quoted_string(std::string_view text) {
    if (!text.starts_with('"')) {
        return std::nullopt;
    }
    std::size_t end = 1;
    while (end < text.size() && text[end] != '"') {
        end += text[end] == '\\' ? 2 : 1;
    }
    if (end >= text.size()) {
        return std::nullopt;
    }
    return Quoted{unescaped_text(text.substr(1, end - 1)), text.substr(end + 1).starts_with("...")};
}

std::vector<std::string_view> elements_of(std::string_view array) {
    if (array.starts_with('[') && array.ends_with(']')) {
        return split_arguments(array.substr(1, array.size() - 2));
    }
    return array.starts_with('{') ? std::vector{array} : std::vector<std::string_view>();
}

std::string_view member_of(std::string_view structure, std::string_view name) {
    if (structure.starts_with('{')) {
        structure = structure.substr(1, structure.size() - (structure.ends_with('}') ? 2 : 1));
    }
    for (const std::string_view member : split_arguments(structure)) {
        if (member.starts_with(name) && member.substr(name.size()).starts_with('=')) {
            return member.substr(name.size() + 1);
        }
    }
    return {};
}

std::optional<Descriptor> descriptor_in(std::string_view text) {
    Descriptor found;
    if (text.starts_with("AT_FDCWD")) {
        found.is_cwd = true;
        found.fd = -100;
        text.remove_prefix(8);
    } else if (!take_number(text, found.fd) || found.fd < 0 || text.starts_with('x')) {
        return std::nullopt;
    }
    if (text.starts_with('<')) {
        const std::size_t end = end_of_decoration(text, 0);
        found.of = decoration_in(text.substr(1, std::min(end, text.size()) - 1));
        found.of->is_deleted = end < text.size() && text.substr(end + 1).starts_with("(deleted)");
    }
    return found;
}

std::string sockaddr_in_text(std::string_view text) {
    const std::string_view family = member_of(text, "sa_family");
    if (family == "AF_INET") {
        const std::string_view address = member_of(text, "sin_addr");
        const auto quoted =
            address.starts_with("inet_addr(") ? quoted_string(address.substr(10)) : std::nullopt;
        return quoted ? sockaddr_of(quoted->bytes, port_in(member_of(text, "sin_port"))) : "";
    }
    if (family == "AF_INET6") {
        return sockaddr_of(ipv6_in(text), port_in(member_of(text, "sin6_port")));
    }
    if (family != "AF_UNIX" && family != "AF_LOCAL") {
        return {};
    }
    std::string_view path = member_of(text, "sun_path");
    const bool is_abstract = path.starts_with('@');
    path.remove_prefix(is_abstract ? 1 : 0);
    const auto name = quoted_string(path);
    return name ? unix_sockaddr_of((is_abstract ? "@" : "") + name->bytes) : "";
}

std::optional<CallResult> call_result(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || !trimmed(text.substr(0, equals)).empty()) {
        return std::nullopt;
    }
    text = trimmed(text.substr(equals + 1));
    CallResult result;
    const std::size_t end = std::min(text.find_first_of(" <"), text.size());
    const std::string_view word = text.substr(0, end);
    if (word == "-1" || word == "?") {
        std::string_view rest = trimmed(text.substr(end));
        const std::string_view name = rest.substr(0, std::min(rest.find(' '), rest.size()));
        if (const auto error = error_number(name)) {
            result.value = -*error;
            rest.remove_prefix(name.size());
        } else if (word == "-1") {
            result.value = -1;
            result.is_known = name.empty();
        }
        result.rest = trimmed(rest);
        return result;
    }
    const auto number = argument_number("long", word);
    if (!number) {
        return std::nullopt;
    }
    result.value = static_cast<std::int64_t>(*number);
    result.descriptor = descriptor_in(text);
    const std::size_t rest = text.substr(end).starts_with('<')
                                 ? std::min(end_of_decoration(text, end) + 1, text.size())
                                 : end;
    result.rest = trimmed(text.substr(rest));
    return result;
}

}  // namespace dyetrace::importer
