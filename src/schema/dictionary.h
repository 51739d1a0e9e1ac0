// Who and what the ids in events stand for, while records pass by: the announced tasks, objects and sockets of one host.
//
//   task_context 7 ─► add() ─┐
//   handle 3, socket 3 ─► add() ─┴─► task(7)->comm == "curl", object(3)->socket->remote_port == 443
//
// An announcement may come twice (the same content again), and after the events that use it: ask again then. Ids in the
// answers are those of SQL: process_id, thread_id, parent_process_id and object_id are computed as prelude.sql does.
// One thread at a time. Limits: kTasksMax and kObjectsMax; when full, what was not asked for lately is dropped and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schema/id_table.h"
#include "schema/record.h"
#include "schema/thread_numbers.h"

namespace dyetrace::schema {

// Strings are the bytes as they were, not escaped.
struct Task {
    std::uint64_t process_id = 0;
    std::uint64_t thread_id = 0;
    std::optional<std::uint64_t> parent_process_id;
    std::uint64_t valid_from_ns = 0;
    std::uint64_t thread_start_ns = 0;
    std::uint64_t process_start_ns = 0;
    std::uint64_t parent_start_ns = 0;
    std::uint64_t cgroup_id = 0;
    std::uint32_t context_id = 0;
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    std::uint32_t ppid = 0;
    std::uint32_t pid_in_namespace = 0;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::uint32_t network_namespace = 0;
    std::uint32_t mount_namespace = 0;
    std::uint32_t pid_namespace = 0;
    bool kernel_thread = false;
    std::string comm;
    std::optional<std::string> exe;
    std::optional<std::string> cgroup;
    std::optional<std::string> command;
    std::optional<std::string> container;  // found in the cgroup's path
};

struct SocketEnds {
    std::uint64_t cookie = 0;
    std::uint64_t connection_id = 0;   // 0: not known
    std::uint64_t peer_object_id = 0;  // other end of a unix pair; 0: not known
    std::uint32_t network_namespace = 0;
    std::uint16_t family = 0;
    std::uint16_t socket_type = 0;
    std::uint16_t protocol = 0;
    std::uint16_t state = 0;
    std::uint16_t local_port = 0;   // 0: none
    std::uint16_t remote_port = 0;  // 0: none
    std::string local_address;      // text: "10.0.0.7", "::1"; empty: a family without
    std::string remote_address;
    std::optional<std::string> unix_path;       // own
    std::optional<std::string> unix_peer_path;  // of the other end
};

struct Object {
    std::uint64_t object_id = 0;
    std::uint64_t valid_from_ns = 0;
    std::uint64_t inode = 0;
    std::uint64_t serial = 0;
    std::uint32_t handle_id = 0;
    std::uint32_t device = 0;
    std::uint32_t special_device = 0;  // of a device file; as the kernel numbers them
    std::uint32_t generation = 0;
    std::uint32_t mount_id = 0;
    std::uint32_t mode = 0;
    ObjectType object_type = ObjectType::kUnknown;
    std::uint8_t flags = 0;  // as in the record
    std::string file_system;
    std::optional<std::string> path;  // of the handle
    std::optional<SocketEnds> socket;

    // The public column `path`: a unix socket's own path, else the handle's; nullptr where it is NULL.
    const std::string* name() const {
        if (socket && socket->unix_path) {
            return &*socket->unix_path;
        }
        return path ? &*path : nullptr;
    }
};

// `_task_id` of prelude.sql.
// No id is above it, so that readers who know signed numbers only take them all.
inline constexpr std::uint64_t kIdMax = INT64_MAX;

constexpr std::uint64_t task_id(std::uint16_t host_index,
                                std::uint64_t start_ns,
                                std::uint32_t pid) {
    return (std::uint64_t{host_index} << 54) | (((start_ns >> 26) & 0xffffffffu) << 22) | pid;
}

// `_event_id` of prelude.sql.
constexpr std::uint64_t event_id(std::uint16_t host_index,
                                 std::uint16_t cpu,
                                 std::uint64_t sequence) {
    return (std::uint64_t{host_index} << 54) | (std::uint64_t{cpu} << 42) | sequence;
}

// `_container_of` of prelude.sql; empty: none.
std::string_view container_of(std::string_view cgroup);

class Dictionary {
  public:
    // 65,536 contexts of about 600 bytes: 40 MiB when full; a fork storm of short programs is what fills it.
    static constexpr std::size_t kTasksMax = 65'536;
    // 131,072 names of about 400 bytes: 50 MiB when full.
    static constexpr std::size_t kObjectsMax = 131'072;

    explicit Dictionary(std::uint16_t host_index = 0,
                        std::size_t tasks_max = kTasksMax,
                        std::size_t objects_max = kObjectsMax);

    // False if the record is no announcement of a task, handle, socket or number, or is cut; then nothing changed.
    bool add(RecordBytes record);

    // nullptr if it was not announced (yet), or dropped. Valid until the next add().
    const Task* task(std::uint32_t context_id) const { return tasks_.find(context_id); }
    const Object* object(std::uint32_t handle_id) const;

    const ThreadNumbers& numbers() const { return numbers_; }

    std::uint16_t host_index() const { return host_index_; }
    std::uint64_t tasks_dropped() const { return tasks_.dropped(); }
    std::uint64_t objects_dropped() const { return objects_.dropped(); }

  private:
    struct Entry {
        bool announced = false;  // a handle came; else only a socket
        Object object;
    };

    void add_task(const TaskContext& record);
    void add_handle(const Handle& record);
    void add_socket(const Socket& record);

    std::uint16_t host_index_;
    IdTable<Task> tasks_;
    IdTable<Entry> objects_;
    ThreadNumbers numbers_;
};

}  // namespace dyetrace::schema
