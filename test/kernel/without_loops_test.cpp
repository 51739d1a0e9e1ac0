// The programs for kernels that have no bpf_loop record what the others do, but for the bytes of calls; whatever the kernel here has.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "kernel/old_calls.h"
#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

class WithoutLoops : public KernelTest {
  protected:
    WithoutLoops() { options_.lack = capture::Lack::kLoops; }
};

TEST_F(WithoutLoops, files_have_names_and_offsets_wherever_they_are) {
    std::vector<std::string> folders{at("deep")};
    while (folders.size() < 60) {
        folders.push_back(folders.back() + "/deeper");
    }
    const std::string file = folders.back() + "/file";
    const Trace trace = record([&] {
        for (const std::string& folder : folders) {
            REQUIRE(mkdir(folder.c_str(), 0700) == 0);
        }
        const int fd = open(file.c_str(), O_CREAT | O_RDWR, 0600);
        REQUIRE(write(fd, "abc", 3) == 3);
        REQUIRE(rename(file.c_str(), at("other").c_str()) == 0);
        REQUIRE(unlink(at("other").c_str()) == 0);
    });
    const Event written = trace.only("write");
    EXPECT_EQ(written.path(), file);
    EXPECT_EQ(written.file_offset(), 0);
    EXPECT_EQ(trace.only("rename").object_id(), written.object_id());
    EXPECT_EQ(trace.only("unlink").object_id(), written.object_id());
}

// All that a loop walks over is listed.
TEST_F(WithoutLoops, a_poll_lists_its_descriptors_and_a_vector_its_bytes) {
    constexpr int kPolled = 40;
    const Trace trace = record([&] {
        std::array<int, 2> ends{};
        REQUIRE(pipe(ends.data()) == 0);
        std::vector<pollfd> set(kPolled, pollfd{ends[1], POLLOUT, 0});
        REQUIRE(poll(set.data(), set.size(), 0) == kPolled);
        std::array<iovec, 5> parts{};
        char bytes[10] = {};
        for (iovec& part : parts) {
            part = {bytes, sizeof(bytes)};
        }
        REQUIRE(writev(ends[1], parts.data(), parts.size()) == 50);
    });
    EXPECT_EQ(trace.only(kHasOldCalls ? "poll" : "ppoll").touched().size(), std::size_t{kPolled});
    EXPECT_EQ(trace.only("writev").requested(), 50u);
}

// Threads and processes are kept by their addresses, which come again.
TEST_F(WithoutLoops, every_child_is_recorded_and_forgotten) {
    constexpr int kChildren = 200;
    const Trace trace = record([&] {
        for (int child = 0; child < kChildren; ++child) {
            const pid_t pid = fork();
            if (pid == 0) {
                std::thread([] { access("/in/a/thread", F_OK); }).join();
                _exit(access("/in/a/child", F_OK) == 0);
            }
            int status = 0;
            REQUIRE(waitpid(pid, &status, 0) == pid);
        }
    });
    EXPECT_EQ(trace.all(kHasOldCalls ? "access" : "faccessat").size(), 2u * kChildren);
}

}  // namespace
}  // namespace dyetrace::test
