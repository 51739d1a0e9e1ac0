// What ioctl is handed: the request where it has no name, and what its argument points to.
#include <linux/ioctl.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <array>
#include <cstdint>

#include "format/bytes.h"
#include "format/quote.h"
#include "format/structure.h"
#include "schema/flags.h"

namespace dyetrace::format {

std::string request_text(std::uint64_t request, Constants constants) {
    static constexpr std::array<std::string_view, 4> kDirections{
        "_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE"};
    const auto number = static_cast<std::uint32_t>(request);
    const schema::FlagSet* names = schema::find_flag_set("ioctl_command");
    const std::string_view name = schema::field_word(*names, number);
    if (!name.empty()) {
        return constant_text(hex(number), name, constants);
    }
    return constant_text(hex(number),
                         fmt::format("_IOC({}, {}, {}, {})",
                                     kDirections[_IOC_DIR(number)],
                                     hex(_IOC_TYPE(number)),
                                     hex(_IOC_NR(number)),
                                     hex(_IOC_SIZE(number))),
                         constants);
}

bool append_winsize(std::string& out, std::string_view bytes) {
    const auto size = read_at<winsize>(bytes);
    if (size) {
        print(out,
              "{{ws_row={}, ws_col={}, ws_xpixel={}, ws_ypixel={}}}",
              size->ws_row,
              size->ws_col,
              size->ws_xpixel,
              size->ws_ypixel);
    }
    return size.has_value();
}

bool append_interface(std::string& out,
                      std::string_view bytes,
                      std::string_view request,
                      bool answered) {
    const auto interface = read_at<ifreq>(bytes);
    if (!interface) {
        return false;
    }
    const std::string_view name(interface->ifr_name, sizeof(interface->ifr_name));
    out.append("{ifr_name=");
    append_quoted(out, name.substr(0, name.find('\0')), name.size());
    if (answered && request == "SIOCGIFINDEX") {
        print(out, ", ifr_ifindex={}", interface->ifr_ifindex);
    } else if (answered && request == "SIOCGIFMTU") {
        print(out, ", ifr_mtu={}", interface->ifr_mtu);
    } else if (answered && request == "SIOCGIFFLAGS") {
        const auto flags = static_cast<std::uint16_t>(interface->ifr_flags);
        print(out, ", ifr_flags={}", schema::flags_text("interface_flags", flags));
    } else if (answered) {
        out.append(request == "SIOCGIFNETMASK" ? ", ifr_netmask=" : ", ifr_addr=");
        append_sockaddr(out, bytes.substr(sizeof(interface->ifr_name), sizeof(sockaddr)));
    }
    out.push_back('}');
    return true;
}

}  // namespace dyetrace::format
