// Calls that never return: what they were about is told all the same, when the recording stops and when the thread is killed.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <ctime>
#include <fstream>
#include <string>

#include "kernel/compat.h"
#include "kernel/old_calls.h"
#include "kernel/rows.h"
#include "kernel/socket_address.h"

namespace dyetrace::test {
namespace {

class Unfinished : public RowsTest {
  protected:
    // What the tests make before anybody watches: 3 and 4 a pipe, 5 a locked file, 6 a listening socket whose queue is
    // full with 7, 8 one that is not connected, 9 a directory with a FIFO, 10 the locked file opened again.
    void make_what_blocks() {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        REQUIRE(open(at("lock").c_str(), O_CREAT | O_RDWR, 0600) == 5);
        REQUIRE(flock(5, LOCK_EX) == 0);
        REQUIRE(socket(AF_UNIX, SOCK_STREAM, 0) == 6);
        REQUIRE(Address::unix_path(at("socket")).bind(6) == 0);
        REQUIRE(listen(6, 0) == 0);
        REQUIRE(socket(AF_UNIX, SOCK_STREAM, 0) == 7);
        REQUIRE(Address::unix_path(at("socket")).connect(7) == 0);
        REQUIRE(socket(AF_UNIX, SOCK_STREAM, 0) == 8);
        REQUIRE(mkdir(at("d").c_str(), 0700) == 0);
        REQUIRE(mkfifo(at("d/fifo").c_str(), 0600) == 0);
        REQUIRE(open(at("d").c_str(), O_RDONLY | O_DIRECTORY) == 9);
        REQUIRE(open(at("lock").c_str(), O_RDWR) == 10);
    }

    // Each blocks for ever.
    void block(int which) {
        char byte;
        std::array<iovec, 2> vector = {{{&byte, 1}, {&byte, 1}}};
        const Address address = Address::unix_path(at("socket"));
        switch (which) {
            case 0:
                syscall(SYS_openat, 9, "fifo", O_RDONLY, 0);
                break;
            case 1:
                syscall(SYS_open, at("d/fifo").c_str(), O_RDONLY, 0);
                break;
            case 2:
                syscall(SYS_connect, 8, address.get(), address.length());
                break;
            case 3:
                syscall(SYS_readv, 3, vector.data(), vector.size());
                break;
            case 4:
                syscall(SYS_splice, 3, nullptr, 10, nullptr, 100, 0);
                break;
            case 5:
                syscall(SYS_flock, 10, LOCK_EX);
                break;
            case 6:
                syscall(SYS_recvfrom, 7, &byte, 1, 0, address.get(), nullptr);
                break;
            default:
                call32(number_of("open"), low_path_, O_RDONLY);
        }
    }
    static constexpr int kBlocking = 8;

    // A process for each call, in their order; returns when the last has begun.
    std::array<pid_t, kBlocking> start() {
        std::array<pid_t, kBlocking> children{};
        for (int which = 0; which < kBlocking; ++which) {
            children[static_cast<std::size_t>(which)] = fork();
            if (children[static_cast<std::size_t>(which)] == 0) {
                REQUIRE(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
                block(which);
                _exit(1);
            }
            *awaited_ = children[static_cast<std::size_t>(which)];
            while (*awaited_ != 0) {
                const timespec pause{0, 1'000'000};
                nanosleep(&pause, nullptr);
            }
        }
        return children;
    }
    // Lets start() go on once the process blocks that it waits for.
    void look(pid_t) {
        if (const pid_t child = *awaited_; child != 0 && has_begun_to_wait(child)) {
            *awaited_ = 0;
        }
    }
    static bool has_begun_to_wait(pid_t process) {
        std::ifstream file("/proc/" + std::to_string(process) + "/stat");
        std::string line;
        std::getline(file, line);
        const std::size_t name_end = line.rfind(')');
        return name_end + 2 < line.size() && line[name_end + 2] == 'S' && is_in_some_call(process);
    }
    Unfinished() {
        meanwhile_ = [this](pid_t child) { look(child); };
    }

    std::string unfinished(const Trace& trace) {
        std::string found;
        for (const std::string& row : split_rows(rows(trace))) {
            const bool is_own = row[0] == 'p' && row.find("wait4") == std::string::npos;
            found += is_own && row.find(" unfinished") != std::string::npos ? row : "";
        }
        return found;
    }

    Shared<std::atomic<pid_t>> awaited_;
    LowMemory low_memory_;
    std::uint32_t low_path_ = 0;
};

TEST_F(Unfinished, what_is_under_way_at_the_end_tells_its_path_and_its_address) {
    NEEDS_OLD_CALLS();
    low_path_ = low_memory_.put_text(at("d/fifo"));
    before_ = [&] { make_what_blocks(); };
    EXPECT_EQ(unfinished(record_until_stopped([&] { start(); })), lines(R"(
        pause wait unfinished
        p2 openat file unfinished ~/d/fifo "fifo" {"dfd":9,"flags":"O_RDONLY","mode":"000"}
        p3 open file unfinished ~/d/fifo "~/d/fifo" {"flags":"O_RDONLY","mode":"000"}
        p4 connect network unfinished fd=8 #1 socket [sockfs] socket:[N] O_RDWR - > ~/socket {"addrlen":11}
        p5 readv pipe unfinished fd=3 #2 pipe [pipefs] pipe:[N] O_RDONLY {"vlen":2}
        p6 splice pipe unfinished fd=3 #2 pipe [pipefs] pipe:[N] O_RDONLY -/100 => #3 ~/lock {"fd_out":10,"len":100,"flags":"0"}
        p7 flock file unfinished fd=10 #3 file ~/lock O_RDWR size=0 {"cmd":"LOCK_EX"}
        p8 recvfrom network unfinished fd=7 #4 socket [sockfs] socket:[N] O_RDWR -/1 - > ~/socket {"size":1,"flags":"0"}
        p9 i386 open file unfinished ~/d/fifo "~/d/fifo" {"flags":"O_RDONLY","mode":"000"}
    )"));
}

// A signal that kills makes the call return first, so that nothing has to be guessed.
TEST_F(Unfinished, what_a_process_is_killed_in_is_finished) {
    NEEDS_OLD_CALLS();
    low_path_ = low_memory_.put_text(at("d/fifo"));
    before_ = [&] { make_what_blocks(); };
    const Trace trace = record([&] {
        for (const pid_t child : start()) {
            REQUIRE(kill(child, SIGKILL) == 0);
            REQUIRE(waitpid(child, nullptr, 0) == child);
        }
    });
    EXPECT_EQ(unfinished(trace), "");
    EXPECT_EQ(trace.only("openat").error(), "ERESTARTSYS");
    EXPECT_EQ(trace.only("openat").argument_path(), "fifo");
}

// The programs are detached one after the other; what goes on meanwhile is seen by half of them.
TEST_F(Unfinished, what_begins_while_the_recording_ends_is_no_part_of_it) {
    alone_ = true;  // it ends while its child goes on
    const Trace trace = record([] {
        int ends[2];
        char begun = 0;
        REQUIRE(pipe(ends) == 0);
        if (fork() == 0) {
            constexpr std::clock_t kTime = CLOCKS_PER_SEC / 2;
            close(dup(STDERR_FILENO));
            REQUIRE(write(ends[1], "", 1) == 1);
            while (std::clock() < kTime) {
                close(dup(STDERR_FILENO));
            }
            _exit(0);
        }
        REQUIRE(read(ends[0], &begun, 1) == 1);
    });
    EXPECT_GT(trace.count("dup"), 0u);
    for (const Event& event : trace.events()) {
        EXPECT_FALSE(event.finished() && event.entry_missed()) << event.name();
    }
}

}  // namespace
}  // namespace dyetrace::test
