#include "probes/kernel_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"

namespace dyetrace::probes {

Result<KernelFolder> KernelFolder::tracing() {
    const std::string usual = "/sys/kernel/tracing";
    for (const std::string& path : {usual, std::string("/sys/kernel/debug/tracing")}) {
        if (access((path + "/events").c_str(), X_OK) == 0) {
            return at(path);
        }
    }
    return mounted_for_itself("tracefs", usual);
}

Result<KernelFolder> KernelFolder::debugging() {
    const std::string usual = "/sys/kernel/debug";
    // The folder is there without being mounted; it is empty then.
    if (access((usual + "/kprobes").c_str(), X_OK) == 0) {
        return at(usual);
    }
    return mounted_for_itself("debugfs", usual);
}

Result<KernelFolder> KernelFolder::mounted_for_itself(const char* type, const std::string& usual) {
    const base::Fd context(fsopen(type, FSOPEN_CLOEXEC));
    if (!context.valid() && errno == ENODEV) {
        return Error(ErrorCode::kUnsupported, fmt::format("this kernel has no {}", type));
    }
    base::Fd mount;
    if (context.valid() && fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0) {
        mount = base::Fd(fsmount(context.get(), FSMOUNT_CLOEXEC, 0));
    }
    if (!mount.valid()) {
        return Error::from_errno(errno,
                                 fmt::format("{0} can be read by root only, and if it is mounted: "
                                             "mount -t {0} {0} {1}",
                                             type,
                                             usual));
    }
    std::string path = fmt::format("/proc/self/fd/{}", mount.get());
    return KernelFolder(std::move(path), std::move(mount));
}

Result<std::string> KernelFolder::read(const std::string& file, std::size_t bytes_max) const {
    return base::read_file(path_ + "/" + file, bytes_max);
}

}  // namespace dyetrace::probes
