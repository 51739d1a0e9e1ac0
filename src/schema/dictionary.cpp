#include "schema/dictionary.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "schema/text.h"

namespace dyetrace::schema {
namespace {

template <std::size_t Size>
std::string text_of(const std::uint8_t (&bytes)[Size]) {
    const char* begin = reinterpret_cast<const char*>(bytes);
    return {begin, strnlen(begin, Size)};
}

template <typename Record>
std::optional<std::string> content(const Record& record, Attachment kind) {
    const auto found = attachment(record, kind);
    return found ? std::optional<std::string>(*found) : std::nullopt;
}

bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// What matches at the beginning of `s`: 64 hex digits, lxc/NAME or machine-NAME.scope; empty: nothing.
std::string_view container_at(std::string_view s) {
    constexpr std::size_t kIdLength = 64;  // Docker, containerd, CRI-O
    if (s.size() >= kIdLength && std::all_of(s.begin(), s.begin() + kIdLength, is_hex)) {
        return s.substr(0, kIdLength);
    }
    const auto component_end = [&](std::size_t from) {
        return std::min(s.find('/', from), s.size());
    };
    constexpr std::string_view kLxc = "lxc/";
    if (s.starts_with(kLxc) && component_end(kLxc.size()) > kLxc.size()) {
        return s.substr(0, component_end(kLxc.size()));
    }
    constexpr std::string_view kMachine = "machine-";
    constexpr std::string_view kScope = ".scope";
    if (s.starts_with(kMachine)) {
        const std::string_view component = s.substr(0, component_end(0));
        const std::size_t at = component.rfind(kScope);
        if (at != std::string_view::npos && at > kMachine.size()) {
            return component.substr(0, at + kScope.size());
        }
    }
    return {};
}

// Empty for a socket that has no such end yet, of which the kernel shows zeros.
std::string known_address(const std::string& address, std::uint16_t port) {
    return port == 0 && (address == "0.0.0.0" || address == "::") ? std::string() : address;
}

// `_unix_name` of prelude.sql: @ stands for the NUL of an abstract name; a path ends at its NUL.
std::optional<std::string> unix_name(std::optional<std::string> bytes) {
    if (!bytes || bytes->empty()) {
        return std::nullopt;
    }
    if (bytes->front() == '\0') {
        bytes->front() = '@';
        return bytes;
    }
    return bytes->substr(0, bytes->find('\0'));
}

constexpr unsigned kPathIsCut = 4;  // Handle::flags: its beginning did not fit into PATH_MAX

// `_readable_name` of prelude.sql: what has no place in a file system is named by its inode.
std::optional<std::string> readable_name(const Object& object, std::optional<std::string> path) {
    const std::string inode = ":[" + std::to_string(object.inode) + "]";
    if (object.file_system == "pidfs") {
        return "pidfd" + inode;
    }
    if (object.file_system == "nsfs") {
        return path.value_or("namespace") + inode;
    }
    switch (object.object_type) {
        case ObjectType::kSocket:
            return path && path->starts_with('/') ? path : "socket" + inode;
        case ObjectType::kPipe:
            return path && path->starts_with('/') ? path : "pipe" + inode;
        case ObjectType::kAnonymous:
            return "anon_inode:" + path.value_or("");
        default:
            return path;
    }
}

}  // namespace

std::string_view container_of(std::string_view cgroup) {
    for (std::size_t at = 0; at < cgroup.size(); ++at) {
        if (const std::string_view found = container_at(cgroup.substr(at)); !found.empty()) {
            return found;
        }
    }
    return {};
}

Dictionary::Dictionary(std::uint16_t host_index, std::size_t tasks_max, std::size_t objects_max)
    : host_index_(host_index), tasks_(tasks_max), objects_(objects_max) {}

bool Dictionary::add(RecordBytes record) {
    if (record.size() < sizeof(RecordHeader) || header_of(record).size != record.size()) {
        return false;
    }
    if (const auto* task = as<TaskContext>(record)) {
        add_task(*task);
    } else if (const auto* handle = as<Handle>(record)) {
        add_handle(*handle);
    } else if (const auto* socket = as<Socket>(record)) {
        add_socket(*socket);
    } else if (const auto* number = as<ThreadNumber>(record)) {
        numbers_.add(*number);
    } else {
        return false;
    }
    return true;
}

const Object* Dictionary::object(std::uint32_t handle_id) const {
    const Entry* entry = objects_.find(handle_id);
    return entry != nullptr && entry->announced ? &entry->object : nullptr;
}

void Dictionary::add_task(const TaskContext& record) {
    Task& task = tasks_.insert(record.context_id);
    task.process_id = task_id(host_index_, record.process_start_ns, record.pid);
    task.thread_id = task_id(host_index_, record.thread_start_ns, record.tid);
    task.parent_process_id.reset();
    if (record.parent_start_ns > 0) {
        task.parent_process_id = task_id(host_index_, record.parent_start_ns, record.ppid);
    }
    task.valid_from_ns = record.valid_from_ns;
    task.thread_start_ns = record.thread_start_ns;
    task.process_start_ns = record.process_start_ns;
    task.parent_start_ns = record.parent_start_ns;
    task.cgroup_id = record.cgroup_id;
    task.context_id = record.context_id;
    task.pid = record.pid;
    task.tid = record.tid;
    task.ppid = record.ppid;
    task.pid_in_namespace = record.pid_in_namespace;
    task.uid = record.uid;
    task.gid = record.gid;
    task.network_namespace = record.network_namespace;
    task.mount_namespace = record.mount_namespace;
    task.pid_namespace = record.pid_namespace;
    task.kernel_thread = (record.flags & 1u) != 0;
    task.comm = text_of(record.comm);
    task.exe = content(record, Attachment::kExe);
    task.cgroup = content(record, Attachment::kCgroup);
    task.command = content(record, Attachment::kCommand);
    task.container.reset();
    if (task.cgroup && !container_of(*task.cgroup).empty()) {
        task.container = container_of(*task.cgroup);
    }
}

void Dictionary::add_handle(const Handle& record) {
    Entry& entry = objects_.insert(record.handle_id);
    entry.announced = true;
    Object& object = entry.object;
    object.object_id = (std::uint64_t{host_index_} << 54) | record.object_id;
    object.valid_from_ns = record.valid_from_ns;
    object.inode = record.inode;
    object.serial = record.serial;
    object.handle_id = record.handle_id;
    object.device = record.device;
    object.special_device = record.special_device;
    object.generation = record.generation;
    object.mount_id = record.mount_id;
    object.mode = record.mode;
    object.object_type = static_cast<ObjectType>(record.object_type);
    object.flags = record.flags;
    object.file_system = text_of(record.file_system);
    object.path = readable_name(object, content(record, Attachment::kPath));
    if ((object.flags & kPathIsCut) != 0 && object.path && object.path->starts_with('/')) {
        object.path->insert(0, "…");
    }
}

void Dictionary::add_socket(const Socket& record) {
    Entry& entry = objects_.insert(record.handle_id);
    if (!entry.object.socket) {
        entry.object.socket.emplace();
    }
    SocketEnds& ends = *entry.object.socket;
    ends.cookie = record.cookie;
    ends.connection_id =
        std::max(ends.connection_id, record.connection_id);  // as prelude.sql: it is known late
    ends.peer_object_id =
        record.peer_object_id == 0 ? 0 : (std::uint64_t{host_index_} << 54) | record.peer_object_id;
    ends.network_namespace = record.network_namespace;
    ends.family = record.family;
    ends.socket_type = record.socket_type;
    ends.protocol = record.protocol;
    ends.state = record.state;
    ends.local_port = record.local_port;
    ends.remote_port = record.remote_port;
    ends.local_address =
        known_address(ip_text(record.family, record.local_address), record.local_port);
    ends.remote_address =
        known_address(ip_text(record.family, record.remote_address), record.remote_port);
    ends.unix_path = unix_name(content(record, Attachment::kPath));
    ends.unix_peer_path = unix_name(content(record, Attachment::kPath2));
}

}  // namespace dyetrace::schema
