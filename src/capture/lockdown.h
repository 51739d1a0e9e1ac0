// Whether the kernel is locked down (kernel_lockdown.7), and how far.
#pragma once

#include <string>
#include <string_view>

namespace dyetrace::capture {

// "none", "integrity" or "confidentiality"; empty where the kernel does not say.
std::string lockdown_mode();
// Finds "integrity" in "none [integrity] confidentiality", as /sys/kernel/security/lockdown has it.
std::string_view chosen_mode(std::string_view modes);

// In this mode no BPF program may read the kernel's memory, and nothing can be recorded.
inline constexpr std::string_view kLockedDown = "confidentiality";
inline constexpr std::string_view kUnlock =
    "the kernel lets no BPF program read its memory: boot with lockdown=integrity";

}  // namespace dyetrace::capture
