// How far a host of a session is, in words.
#pragma once

#include <string>

#include "transport/fleet.pb.h"

namespace dyetrace::apps {

// "records", "ships its rest (not connected)"
inline std::string phase_text(const fleet::HostProgress& host) {
    const std::string word = [&]() -> std::string {
        switch (host.phase()) {
            case fleet::PREPARING:
                return "prepares";
            case fleet::READY:
                return "is ready";
            case fleet::RECORDING:
                return "records";
            case fleet::SHIPPING:
                return "ships its rest";
            case fleet::ENDED:
                return "ended";
            case fleet::FAILED:
                return "failed: " + host.text();
            default:
                return "is lost: " + host.text();
        }
    }();
    const bool is_awaited = host.phase() <= fleet::SHIPPING;
    return word + (is_awaited && !host.connected() ? " (not connected)" : "");
}

}  // namespace dyetrace::apps
