#include "schema/dictionary.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>

#include "schema/record_builder.h"

namespace dyetrace::schema {
namespace {

TaskContext curl() {
    TaskContext task{};
    task.context_id = 7;
    task.pid = 812;
    task.tid = 813;
    task.ppid = 377;
    task.process_start_ns = std::uint64_t{5} << 26;
    task.thread_start_ns = std::uint64_t{6} << 26;
    std::memcpy(task.comm, "curl", 4);
    return task;
}

Handle named_handle(std::uint32_t id) {
    Handle handle{};
    handle.handle_id = id;
    handle.object_id = id + 100;
    handle.inode = 12;
    handle.object_type = static_cast<std::uint8_t>(ObjectType::kFile);
    std::memcpy(handle.file_system, "ext4", 4);
    return handle;
}

TEST(Dictionary, knows_a_task_by_the_id_that_events_carry) {
    Dictionary dictionary(2);
    EXPECT_EQ(dictionary.task(7), nullptr);
    ASSERT_TRUE(dictionary.add(build(curl(), {{Attachment::kExe, "/usr/bin/curl"}}).bytes()));
    const Task* task = dictionary.task(7);
    ASSERT_NE(task, nullptr);
    EXPECT_EQ(task->comm, "curl");
    EXPECT_EQ(task->exe, "/usr/bin/curl");
    EXPECT_EQ(task->cgroup, std::nullopt);
    EXPECT_EQ(task->process_id, (std::uint64_t{2} << 54) | (std::uint64_t{5} << 22) | 812);
    EXPECT_EQ(task->thread_id, (std::uint64_t{2} << 54) | (std::uint64_t{6} << 22) | 813);
    EXPECT_EQ(task->parent_process_id, std::nullopt);
}

TEST(Dictionary, keeps_a_comm_of_sixteen_bytes_without_a_nul) {
    TaskContext task = curl();
    std::memset(task.comm, 'x', sizeof(task.comm));
    Dictionary dictionary;
    dictionary.add(build(task).bytes());
    EXPECT_EQ(dictionary.task(7)->comm, "xxxxxxxxxxxxxxxx");
}

TEST(Dictionary, joins_a_socket_that_was_announced_before_its_handle) {
    Socket socket{};
    socket.handle_id = 3;
    socket.family = AF_INET;
    socket.remote_port = 443;
    socket.remote_address[0] = 10;
    socket.remote_address[3] = 7;
    Dictionary dictionary;
    ASSERT_TRUE(dictionary.add(build(socket).bytes()));
    EXPECT_EQ(dictionary.object(3), nullptr) << "ends alone are not an object";
    ASSERT_TRUE(
        dictionary.add(build(named_handle(3), {{Attachment::kPath, "socket:[12]"}}).bytes()));
    const Object* object = dictionary.object(3);
    ASSERT_NE(object, nullptr);
    ASSERT_TRUE(object->socket);
    EXPECT_EQ(object->socket->remote_address, "10.0.0.7");
    EXPECT_EQ(object->socket->remote_port, 443);
    EXPECT_EQ(*object->name(), "socket:[12]");
    EXPECT_EQ(object->object_id, 103u);
    EXPECT_EQ(object->file_system, "ext4");
}

TEST(Dictionary, keeps_a_connection_id_that_a_repeated_announcement_lost) {
    Socket socket{};
    socket.handle_id = 3;
    socket.connection_id = 99;
    Dictionary dictionary;
    dictionary.add(build(named_handle(3)).bytes());
    dictionary.add(build(socket).bytes());
    socket.connection_id = 0;
    dictionary.add(build(socket, {{Attachment::kPath, "/run/x.sock"}}).bytes());
    EXPECT_EQ(dictionary.object(3)->socket->connection_id, 99u);
    EXPECT_EQ(*dictionary.object(3)->name(), "/run/x.sock");
}

TEST(Dictionary, refuses_what_is_cut_or_no_announcement) {
    const OwnedRecord whole = build(curl(), {{Attachment::kExe, "/bin/x"}});
    Dictionary dictionary;
    for (std::size_t size = 0; size < whole.bytes().size(); ++size) {
        EXPECT_FALSE(dictionary.add(whole.bytes().first(size)));
    }
    EXPECT_FALSE(dictionary.add(build(Gap{}).bytes()));
    EXPECT_EQ(dictionary.task(7), nullptr);
}

TEST(Dictionary, drops_what_was_not_asked_for_when_it_is_full) {
    Dictionary dictionary(0, 8, 100);
    for (std::uint32_t id = 0; id < 10'000; ++id) {
        dictionary.add(build(named_handle(id * 7)).bytes());
        ASSERT_NE(dictionary.object(0), nullptr) << "in use, after " << id;
    }
    EXPECT_EQ(dictionary.objects_dropped(), 9'900u);
    std::size_t known = 0;
    for (std::uint32_t id = 0; id < 70'000; ++id) {
        const Object* object = dictionary.object(id);
        known += object != nullptr;
        EXPECT_TRUE(object == nullptr || object->object_id == id + 100);
    }
    EXPECT_EQ(known, 100u);
}

TEST(Dictionary, finds_the_container_in_the_path_of_a_cgroup) {
    const std::string id(64, 'a');
    EXPECT_EQ(container_of("/system.slice/docker-" + id + ".scope"), id);
    EXPECT_EQ(container_of("/lxc/web/init.scope"), "lxc/web");
    EXPECT_EQ(container_of("/machine.slice/machine-db\\x2d1.scope/x"), "machine-db\\x2d1.scope");
    EXPECT_EQ(container_of("/user.slice/lxc/"), "");
    EXPECT_EQ(container_of("/machine-.scope"), "");
}

}  // namespace
}  // namespace dyetrace::schema
