// Values that calls are handed by address: sets of descriptors, limits, options and control data of sockets.
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>

#include "format/bytes.h"
#include "format/quote.h"
#include "format/structure.h"
#include "schema/errors.h"
#include "schema/flags.h"

namespace dyetrace::format {
namespace {

template <typename T>
std::optional<T> exactly(std::string_view bytes) {
    T value{};
    if (bytes.size() != sizeof(T)) {
        return std::nullopt;
    }
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
}

std::string limit_text(std::uint64_t limit) {
    if (limit == ~std::uint64_t{0}) {
        return "RLIM64_INFINITY";
    }
    return limit > 1024 && limit % 1024 == 0 ? fmt::format("{}*1024", limit / 1024)
                                             : fmt::format("{}", limit);
}

// {pid=4711, uid=0, gid=0}, of which getsockopt may ask for the beginning only.
void append_credentials(std::string& out, std::string_view bytes, const Limits& limits) {
    static constexpr std::string_view kNames[] = {"pid", "uid", "gid"};
    out.push_back('{');
    for (std::size_t i = 0; i < std::size(kNames) && i * sizeof(int) < bytes.size(); ++i) {
        const std::string_view field = bytes.substr(i * sizeof(int), sizeof(int));
        print(out, "{}{}=", i > 0 ? ", " : "", kNames[i]);
        if (field.size() < sizeof(int)) {
            append_quoted(out, field, field.size(), false, Quotes::kHex);
        } else if (i == 0) {
            limits.pids.append(out, *exactly<std::int32_t>(field));
        } else {
            schema::append_argument(out, "id", *exactly<std::uint32_t>(field));
        }
    }
    out.push_back('}');
}

void append_passed(std::string& out, std::string_view descriptors) {
    out.push_back('[');
    for (std::size_t at = 0; at + sizeof(int) <= descriptors.size(); at += sizeof(int)) {
        print(out, "{}{}", at > 0 ? ", " : "", *exactly<int>(descriptors.substr(at, sizeof(int))));
    }
    out.push_back(']');
}

void append_control_data(std::string& out,
                         const cmsghdr& header,
                         std::string_view data,
                         const Limits& limits) {
    const bool of_socket = header.cmsg_level == SOL_SOCKET;
    if (of_socket && header.cmsg_type == SCM_RIGHTS) {
        out.append("SCM_RIGHTS, cmsg_data=");
        append_passed(out, data);
        return;
    }
    if (of_socket && header.cmsg_type == SCM_CREDENTIALS && data.size() == sizeof(ucred)) {
        out.append("SCM_CREDENTIALS, cmsg_data=");
        append_credentials(out, data, limits);
        return;
    }
    print(out, "{}, cmsg_data=", hex(static_cast<unsigned>(header.cmsg_type)));
    append_quoted(out, data, limits.text_max, false, limits.quotes);
}

}  // namespace

bool append_fd_set(std::string& out, std::string_view bits, std::size_t count) {
    bool first = true;
    out.push_back('[');
    for (std::size_t fd = 0; fd < std::min(bits.size() * 8, count); ++fd) {
        if ((static_cast<unsigned char>(bits[fd / 8]) >> (fd % 8) & 1) != 0) {
            print(out, "{}{}", first ? "" : " ", fd);
            first = false;
        }
    }
    out.push_back(']');
    return true;
}

bool append_rlimit(std::string& out, std::string_view bytes) {
    struct Limit {
        std::uint64_t current, most;
    };
    const auto limit = exactly<Limit>(bytes);
    if (limit) {
        print(out,
              "{{rlim_cur={}, rlim_max={}}}",
              limit_text(limit->current),
              limit_text(limit->most));
    }
    return limit.has_value();
}

namespace {

// Numbers of one type, as many as are there: {tp_packets=1, tp_drops=0}
template <typename Number>
void append_numbers(std::string& out,
                    std::string_view bytes,
                    std::span<const std::string_view> names) {
    out.push_back('{');
    for (std::size_t i = 0; i < names.size() && i * sizeof(Number) < bytes.size(); ++i) {
        const std::string_view field = bytes.substr(i * sizeof(Number), sizeof(Number));
        print(out, "{}{}=", i > 0 ? ", " : "", names[i]);
        if (const auto number = exactly<Number>(field)) {
            print(out, "{}", *number);
        } else {
            append_quoted(out, field, field.size(), false, Quotes::kHex);
        }
    }
    out.push_back('}');
}

// False for an option that has no such numbers.
bool append_packet_option(std::string& out, std::uint64_t option, std::string_view bytes) {
    static constexpr std::string_view kRing[] = {
        "tp_block_size", "tp_block_nr", "tp_frame_size", "tp_frame_nr"};
    static constexpr std::string_view kStatistics[] = {"tp_packets", "tp_drops", "tp_freeze_q_cnt"};
    const bool is_ring = option == PACKET_RX_RING || option == PACKET_TX_RING;
    if (is_ring) {
        append_numbers<std::uint32_t>(out, bytes, kRing);
    } else if (option == PACKET_STATISTICS) {
        append_numbers<std::uint32_t>(out, bytes, kStatistics);
    }
    return is_ring || option == PACKET_STATISTICS;
}

}  // namespace

bool append_socket_option(std::string& out,
                          std::uint64_t level,
                          std::uint64_t option,
                          std::string_view bytes,
                          bool given,
                          const Limits& limits) {
    constexpr std::size_t kOptionMax = 64;
    const auto number = exactly<int>(bytes);
    const auto time = exactly<timeval>(bytes);
    static constexpr std::string_view kLinger[] = {"l_onoff", "l_linger"};
    const bool is_linger = level == SOL_SOCKET && option == SO_LINGER;
    const bool is_ring =
        level == SOL_PACKET && (option == PACKET_RX_RING || option == PACKET_TX_RING);
    if (bytes.empty() || (is_linger && given && bytes.size() < sizeof(linger)) ||
        (is_ring && bytes.size() != sizeof(tpacket_req))) {
        return false;  // the kernel looks at none of it
    }
    if (level == SOL_PACKET && append_packet_option(out, option, bytes)) {
        return true;
    }
    if (is_linger) {
        append_numbers<std::int32_t>(out, bytes, kLinger);
    } else if (level == SOL_SOCKET && option == SO_ERROR && !given) {
        if (number) {
            const std::string name = schema::error_name(-*number);
            print(out, "[{}]", *number == 0 || name.empty() ? fmt::format("{}", *number) : name);
        } else {
            append_quoted(out, bytes, kOptionMax, false, Quotes::kHex);
        }
    } else if (level == SOL_SOCKET && option == SO_PEERCRED && !given) {
        append_credentials(out, bytes.substr(0, sizeof(ucred)), limits);
    } else if (number) {
        print(out, "[{}]", *number);
    } else if (level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO) && time) {
        return append_timeval(out, bytes);
    } else {
        append_quoted(out, bytes, kOptionMax);
    }
    return true;
}

bool append_control(std::string& out, std::string_view bytes, const Limits& limits) {
    std::size_t count = 0;
    const std::size_t begin = out.size();
    out.push_back('[');
    while (bytes.size() >= sizeof(cmsghdr)) {
        cmsghdr header{};
        std::memcpy(&header, bytes.data(), sizeof(header));
        if (header.cmsg_len < sizeof(header) || header.cmsg_len > bytes.size()) {
            break;
        }
        print(out,
              "{}{{cmsg_len={}, cmsg_level={}, cmsg_type=",
              count > 0 ? ", " : "",
              header.cmsg_len,
              constant_text(
                  "socket_level", static_cast<unsigned>(header.cmsg_level), limits.constants));
        append_control_data(
            out, header, bytes.substr(sizeof(header), header.cmsg_len - sizeof(header)), limits);
        out.push_back('}');
        bytes.remove_prefix(std::min(bytes.size(), CMSG_ALIGN(header.cmsg_len)));
        ++count;
    }
    out.push_back(']');
    if (count == 0) {
        out.resize(begin);
    }
    return count > 0;
}

}  // namespace dyetrace::format
