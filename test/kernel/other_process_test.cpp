// process_vm_readv, process_vm_writev; message queues of POSIX and System V; open_tree; remap_file_pages.
#include <fcntl.h>
#include <mqueue.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <regex>

#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

class OtherProcess : public RowsTest {};

TEST_F(OtherProcess, what_is_read_and_written_in_it) {
    const std::string shown = rows([] {
        char from[] = "abcdefgh", to[9] = {};
        iovec far{from, 6}, near[2] = {{to, 2}, {to + 4, 4}};
        REQUIRE(syscall(SYS_process_vm_readv, getpid(), near, 2, &far, 1, 0) == 6);
        REQUIRE(syscall(SYS_process_vm_writev, getpid(), near, 1, &far, 1, 0) == 2);
        REQUIRE(syscall(SYS_process_vm_readv, getpid(), near, 2, &far, 1, 1) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        getpid other =p1
        process_vm_readv process =6 6/6 target=p1 {"pid":p1,"liovcnt":2,"riovcnt":1,"flags":0}
        getpid other =p1
        process_vm_writev process =2 2/2 target=p1 {"pid":p1,"liovcnt":1,"riovcnt":1,"flags":0}
        getpid other =p1
        process_vm_readv process =EINVAL -/6 target=p1 {"pid":p1,"liovcnt":2,"riovcnt":1,"flags":1}
    )"));
}

TEST_F(OtherProcess, messages_of_queues_have_their_bytes) {
    const std::string name = "/dyetrace-test-" + std::to_string(getpid());
    const std::string shown = rows([&] {
        mq_attr attributes{};
        attributes.mq_maxmsg = 1;
        attributes.mq_msgsize = 16;
        char room[16];
        const mqd_t queue = mq_open(name.c_str(), O_RDWR | O_CREAT | O_NONBLOCK, 0600, &attributes);
        REQUIRE(queue == 3 && mq_unlink(name.c_str()) == 0);
        REQUIRE(mq_send(queue, "abc", 3, 7) == 0);
        REQUIRE(mq_send(queue, "abc", 3, 7) < 0);
        REQUIRE(mq_receive(queue, room, sizeof(room), nullptr) == 3);
        REQUIRE(mq_receive(queue, room, sizeof(room), nullptr) < 0);
    });
    EXPECT_EQ(std::regex_replace(shown, std::regex(name.substr(1)), "queue"), lines(R"(
        mq_open file =3 fd=3 #1 file [mqueue] /queue O_RDWR|O_NONBLOCK size=80 {"u_name":"queue","oflag":"O_RDWR|O_CREAT|O_NONBLOCK","mode":"0600"}
        mq_unlink other =0 {"u_name":"queue"}
        mq_timedsend file =0 fd=3 #1 file [mqueue] /queue O_RDWR|O_NONBLOCK size=80 3/3 {"msg_len":3,"msg_prio":7}
        mq_timedsend file =EAGAIN fd=3 #1 file [mqueue] /queue O_RDWR|O_NONBLOCK size=80 -/3 {"msg_len":3,"msg_prio":7}
        mq_timedreceive file =3 fd=3 #1 file [mqueue] /queue O_RDWR|O_NONBLOCK size=80 3/16 {"msg_len":16}
        mq_timedreceive file =EAGAIN fd=3 #1 file [mqueue] /queue O_RDWR|O_NONBLOCK size=80 -/16 {"msg_len":16}
    )"));
}

TEST_F(OtherProcess, messages_of_system_v_have_their_bytes_without_their_type) {
    const std::string shown = rows([] {
        struct {
            long type;
            char text[8];
        } message{1, "abcdefg"};
        REQUIRE(syscall(SYS_msgsnd, -1, &message, 8, 0) < 0);
        const int queue = msgget(IPC_PRIVATE, 0600);
        REQUIRE(syscall(SYS_msgsnd, queue, &message, 8, 0) == 0);
        REQUIRE(syscall(SYS_msgrcv, queue, &message, 8, 0, 0) == 8);
        REQUIRE(syscall(SYS_msgrcv, queue, &message, 8, 0, IPC_NOWAIT) < 0);
        REQUIRE(msgctl(queue, IPC_RMID, nullptr) == 0);
    });
    EXPECT_EQ(without_queue_ids(shown), lines(R"(
        msgsnd pipe =EINVAL -/8 {"msqid":-1,"msgsz":8,"msgflg":0}
        msgget other =N {"key":0,"msgflg":384}
        msgsnd pipe =0 8/8 {"msqid":N,"msgsz":8,"msgflg":0}
        msgrcv pipe =8 8/8 {"msqid":N,"msgsz":8,"msgtyp":0,"msgflg":0}
        msgrcv pipe =ENOMSG -/8 {"msqid":N,"msgsz":8,"msgtyp":0,"msgflg":2048}
        msgctl other =0 {"msqid":N,"cmd":0}
    )"));
}

TEST_F(OtherProcess, a_tree_is_opened_and_pages_are_mapped_again) {
    const std::string file = make_file("data", "0123456789");
    const std::string shown = rows([&] {
        REQUIRE(open(file.c_str(), O_RDWR) == 3);
        REQUIRE(syscall(SYS_open_tree, AT_FDCWD, file.c_str(), O_CLOEXEC) == 4);
        REQUIRE(syscall(SYS_open_tree, 99, "nowhere", 0) < 0);
        void* const memory = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
        REQUIRE(memory != MAP_FAILED);
        REQUIRE(syscall(SYS_remap_file_pages, memory, 4096, 0, 1, 0) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDWR size=10 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        open_tree metadata =4 fd=4 #1 file ~/data "~/data" O_RDONLY|O_PATH size=10 {"dfd":"AT_FDCWD","flags":"OPEN_TREE_CLOEXEC"}
        open_tree metadata =EBADF nowhere "nowhere" {"dfd":99,"flags":"0"}
        mmap memory =0x* fd=3 #1 file ~/data O_RDWR @0 size=10 -/8192 {"addr":"0x0","len":8192,"prot":"PROT_READ|PROT_WRITE","flags":"MAP_SHARED","off":0}
        remap_file_pages memory =0 -/4096 {"start":"0x*","size":4096,"prot":"PROT_NONE","pgoff":1,"flags":"0"}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
