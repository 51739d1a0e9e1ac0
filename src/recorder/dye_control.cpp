#include "recorder/dye_control.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/file.h"

namespace dyetrace::recorder {
namespace {

constexpr const char* kName = "control";
constexpr std::size_t kCallersMax = 8;
constexpr std::int64_t kRequestTimeoutNs = 5'000'000'000;
constexpr int kAnswerTimeoutMs = 30'000;  // a recorder that is busy with a full disk

// A socket's address has 107 bytes; a path may have more.
sockaddr_un address_in(const base::Fd& folder) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = fmt::format("/proc/self/fd/{}/{}", folder.get(), kName);
    std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
    return address;
}

std::string packed(const ControlMessage& fields) {
    std::string packet;
    for (const std::string& field : fields) {
        packet += (packet.empty() ? std::string() : std::string(1, '\0')) + field;
    }
    return packet;
}

// At most `fields_max`: the last one keeps its NULs.
ControlMessage unpacked(std::string_view packet, std::size_t fields_max) {
    ControlMessage fields;
    for (;;) {
        const std::size_t end = packet.find('\0');
        if (end == std::string_view::npos || fields.size() + 1 == fields_max) {
            fields.emplace_back(packet);
            return fields;
        }
        fields.emplace_back(packet.substr(0, end));
        packet.remove_prefix(end + 1);
    }
}

bool may_ask(const base::Fd& caller) {
    ucred who{};
    socklen_t size = sizeof(who);
    return getsockopt(caller.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
           (who.uid == 0 || who.uid == geteuid());
}

constexpr std::size_t kRequestFieldsMax = 4;

}  // namespace

Result<DyeControl> DyeControl::listen(const std::string& folder) {
    TRY(base::Fd opened, base::open_file(folder, O_PATH | O_DIRECTORY));
    base::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_un address = address_in(opened);
    // the file gets the mode that the socket has when it is bound
    if (!socket.valid() || fchmod(socket.get(), S_IRUSR | S_IWUSR) != 0 ||
        bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        ::listen(socket.get(), static_cast<int>(kCallersMax)) != 0) {
        return Error::from_errno(errno, fmt::format("cannot listen in {}", folder));
    }
    return DyeControl(std::move(opened), std::move(socket));
}

DyeControl::~DyeControl() {
    if (folder_.valid()) {
        unlinkat(folder_.get(), kName, 0);
    }
}

void DyeControl::accept_callers() {
    while (callers_.size() < kCallersMax) {
        base::Fd caller(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!caller.valid()) {
            return;
        }
        if (may_ask(caller)) {
            callers_.push_back({std::move(caller), base::boot_time_ns()});
        }
    }
}

void DyeControl::serve(const std::function<ControlMessage(const ControlMessage&)>& answer) {
    accept_callers();
    std::erase_if(callers_, [&](const Caller& caller) {
        char request[kControlRequestMax];
        const ssize_t size = recv(caller.socket.get(), request, sizeof(request), MSG_TRUNC);
        if (size < 0 && errno == EAGAIN) {
            return base::boot_time_ns() - caller.since_ns > kRequestTimeoutNs;
        }
        if (size > 0 && static_cast<std::size_t>(size) <= sizeof(request)) {
            const std::string packet = packed(
                answer(unpacked({request, static_cast<std::size_t>(size)}, kRequestFieldsMax)));
            (void)send(caller.socket.get(), packet.data(), packet.size(), MSG_NOSIGNAL);
        }
        return true;
    });
}

Result<ControlMessage> ask_recorder(const std::string& folder, const ControlMessage& request) {
    TRY(const base::Fd opened, base::open_file(folder, O_PATH | O_DIRECTORY));
    const base::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const sockaddr_un address = address_in(opened);
    if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        if (errno == ENOENT || errno == ECONNREFUSED) {
            return Error(ErrorCode::kNotFound,
                         fmt::format("nobody looks for dyes in {}: the recording has ended, or was "
                                     "started with neither --dye nor --later-dyes",
                                     folder));
        }
        return Error::from_errno(errno, fmt::format("cannot reach the recorder of {}", folder));
    }
    const std::string packet = packed(request);
    if (packet.size() > kControlRequestMax) {
        return Error(ErrorCode::kInvalidArgument, "that is too long for a dye");
    }
    std::string answer(kControlAnswerMax, 0);
    pollfd waiting{socket.get(), POLLIN, 0};
    if (send(socket.get(), packet.data(), packet.size(), MSG_NOSIGNAL) < 0 ||
        poll(&waiting, 1, kAnswerTimeoutMs) <= 0) {
        return Error(ErrorCode::kUnavailable,
                     fmt::format("the recorder of {} does not answer", folder));
    }
    const ssize_t size = recv(socket.get(), answer.data(), answer.size(), 0);
    if (size <= 0) {
        return Error(ErrorCode::kUnavailable,
                     fmt::format("the recorder of {} ended before it answered", folder));
    }
    ControlMessage fields = unpacked({answer.data(), static_cast<std::size_t>(size)}, SIZE_MAX);
    const bool ok = fields.front() == "ok";
    fields.erase(fields.begin());
    if (!ok) {
        return Error(ErrorCode::kUnavailable, fields.empty() ? "refused" : fields.front());
    }
    return fields;
}

}  // namespace dyetrace::recorder
