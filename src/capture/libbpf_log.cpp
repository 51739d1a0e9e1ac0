#include "capture/libbpf_log.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "capture/kernel_types.h"
#include "capture/lockdown.h"

namespace dyetrace::capture {
namespace {

using base::Error;
using base::ErrorCode;

constexpr std::size_t kWarningBytesMax = 512;
constexpr std::size_t kLinesMax = 3;  // the instruction, the registers, what is wrong with them

std::string_view after_mark(std::string_view text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    return at == std::string_view::npos ? std::string_view() : text.substr(at + mark.size());
}

thread_local std::string last_warning;
thread_local std::string refusal;

int keep_warning(libbpf_print_level level, const char* format, va_list arguments) {
    if (level != LIBBPF_WARN) {
        return 0;
    }
    if (std::getenv("DYETRACE_LIBBPF_LOG") != nullptr) {
        return std::vfprintf(stderr, format, arguments);
    }
    char* text = nullptr;  // the verifier's log may have megabytes
    const int length = vasprintf(&text, format, arguments);
    if (length < 0) {
        return 0;
    }
    const std::unique_ptr<char, void (*)(void*)> owner(text, &std::free);
    const std::string_view warning(text, static_cast<std::size_t>(length));
    if (std::string refused = verifier_refusal(warning); !refused.empty()) {
        refusal = std::move(refused);
    }
    last_warning = warning.substr(0, std::min(warning.find('\n'), kWarningBytesMax));
    return 0;
}

}  // namespace

void LibbpfLog::listen() {
    libbpf_set_print(keep_warning);
    refusal.clear();
}

Error LibbpfLog::error(int error_number) {
    if (lockdown_mode() == kLockedDown) {
        return Error(ErrorCode::kUnsupported,
                     fmt::format("nothing can be recorded: {} ({})", kUnlock, kLockedDown));
    }
    if (error_number == EPERM) {  // libbpf has nothing to add
        return Error(ErrorCode::kPermissionDenied,
                     "the kernel refuses BPF to this user: run as root, or give the program "
                     "CAP_BPF and CAP_PERFMON, before Linux 5.11 CAP_SYS_RESOURCE, too");
    }
    if (error_number == ESRCH && access(kKernelTypes, R_OK) != 0) {
        return Error(
            ErrorCode::kUnsupported,
            fmt::format(
                "nothing can be recorded: this kernel has no BTF at {}; one that is built with "
                "CONFIG_DEBUG_INFO_BTF=y has it",
                kKernelTypes));
    }
    if (error_number == ENOMEM) {
        return Error(ErrorCode::kLimitReached,
                     "not enough memory for the BPF programs and their rings: the machine, or the "
                     "memory cgroup that this "
                     "runs in, has too little left; a smaller --ring needs less")
            .with_context(last_warning);
    }
    if (error_number == EMFILE) {  // nothing that this kernel lacks
        return Error::from_errno(error_number, "the BPF programs and their rings");
    }
    const Error failure =
        !refusal.empty()  // with EACCES, mostly, which is no question of rights here
            ? Error(ErrorCode::kUnsupported, "this kernel's verifier refuses " + refusal)
            : Error::from_errno(
                  error_number,
                  "cannot load the BPF programs; `dyetrace doctor` says what this kernel lacks");
    return failure.code() == ErrorCode::kPermissionDenied ? failure
                                                          : failure.with_context(last_warning);
}

std::string verifier_refusal(std::string_view warning) {
    const std::string_view log = after_mark(warning, "-- BEGIN PROG LOAD LOG --\n");
    if (log.empty()) {
        return {};
    }
    const std::string_view quoted = after_mark(warning, "prog '");
    std::vector<std::string_view> lines;
    for (std::size_t at = 0; at < log.size();) {
        const std::size_t end = std::min(log.find('\n', at), log.size());
        const std::string_view line = log.substr(at, end - at);
        if (line.starts_with("processed ") || line.starts_with("-- END")) {
            break;
        }
        if (!line.empty()) {
            lines.push_back(line);
        }
        at = end + 1;
    }
    if (lines.empty()) {
        return {};
    }
    lines.erase(lines.begin(),
                lines.end() - static_cast<std::ptrdiff_t>(std::min(lines.size(), kLinesMax)));
    return fmt::format(
        "BPF program '{}': {}", quoted.substr(0, quoted.find('\'')), fmt::join(lines, "; "));
}

Error LibbpfLog::attach_error(int error_number, const bpf_program* program, std::string_view name) {
    if (error_number == EACCES && bpf_program__type(program) == BPF_PROG_TYPE_TRACEPOINT) {
        return Error(ErrorCode::kPermissionDenied,
                     fmt::format("cannot attach {}: on this kernel CAP_DAC_READ_SEARCH is needed, "
                                 "too, and with kernel.perf_event_paranoid above 2 CAP_SYS_ADMIN",
                                 name));
    }
    return Error::from_errno(error_number, fmt::format("cannot attach {}", name));
}

}  // namespace dyetrace::capture
