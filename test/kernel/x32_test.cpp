// Calls with the mark of x32. A kernel without x32 answers each with ENOSYS, and what was asked is in the event all the same.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

constexpr long kMark = 0x40000000;  // __X32_SYSCALL_BIT
constexpr long kReadv = 515, kExecve = 520;

class X32 : public RowsTest {};

TEST_F(X32, a_call_has_the_abi_the_name_and_what_it_answered) {
    const std::string file = make_file("data", "0123456789");
    Shared<std::array<long, 6>> answers;
    const Trace trace = record([&] {
        char buffer[8];
        REQUIRE(open(file.c_str(), O_RDONLY) == 3);
        // libc's syscall() says -1 for every error
        const auto ask = [&](std::size_t index, long number, auto... arguments) {
            (*answers)[index] = syscall(kMark | number, arguments...);
        };
        ask(0, SYS_getpid);
        ask(1, SYS_read, 3, buffer, 4);
        ask(2, SYS_openat, AT_FDCWD, at("none").c_str(), O_RDONLY, 0);
        ask(3, kReadv, 99, buffer, 0);
        ask(4, kExecve, 0, 0, 0);
        ask(5, 999);
    });
    const std::array<const char*, 6> names = {
        "getpid", "read", "openat", "readv", "execve", "call_999"};
    ASSERT_GE(trace.events().size(), 7u);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const Event& event = trace.events()[i + 1];
        EXPECT_EQ(event.raw().abi, static_cast<std::uint8_t>(schema::Abi::kX32));
        EXPECT_EQ(event.name(), names[i]);
        EXPECT_EQ(event.result() < 0 ? -1 : event.result(), (*answers)[i]) << names[i];
        EXPECT_NE(event.duration_ns(), std::nullopt);
    }
    const Event& read = trace.events()[2];
    EXPECT_EQ(read.event_class(), schema::Class::kFile);
    EXPECT_EQ(read.fd(), 3);
    EXPECT_EQ(read.requested(), 4);
    EXPECT_EQ(read.path(), file);
    EXPECT_EQ(trace.events()[3].argument_path(), at("none"));
    if ((*answers)[0] == -1) {
        for (std::size_t i = 1; i <= names.size(); ++i) {
            EXPECT_EQ(trace.events()[i].error(), "ENOSYS");
        }
    }
}

}  // namespace
}  // namespace dyetrace::test
