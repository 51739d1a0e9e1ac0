#include "format/line.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "format/test_events.h"

namespace dyetrace::format {
namespace {

using schema::Attachment;
using schema::SyscallEvent;

constexpr LineStyle kPaths{.names = Names::kPaths};
constexpr LineStyle kEnds{.names = Names::kAll};

schema::Dictionary dictionary() {
    schema::Dictionary known;
    known.add(task_record(7, 4711, 4712, "x").bytes());
    known.add(handle_record(3, "/home/a/b").bytes());
    known.add(handle_record(4, "/home").bytes());
    known.add(handle_record(5, "socket:[77]", schema::ObjectType::kSocket, 77).bytes());
    known.add(handle_record(6, "pipe:[9]", schema::ObjectType::kPipe, 9).bytes());
    schema::Socket socket{};
    socket.handle_id = 5;
    socket.family = AF_INET;
    socket.socket_type = SOCK_STREAM;
    socket.protocol = IPPROTO_TCP;
    socket.local_port = 33;
    socket.remote_port = 80;
    socket.local_address[0] = socket.remote_address[0] = 127;
    socket.local_address[3] = socket.remote_address[3] = 1;
    known.add(schema::build(socket).bytes());
    return known;
}

TEST(Line, shows_a_call_with_its_flags_and_its_result) {
    EXPECT_EQ(Call("openat").arguments({kAtFdcwd, 0x7000, 02000000}).result(3).path("a/b").line(),
              R"(openat(AT_FDCWD, "a/b", O_RDONLY|O_CLOEXEC) = 3)");
    EXPECT_EQ(Call("open").arguments({0x7000, 01101, 0644}).result(3).path("x").line(),
              R"(open("x", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3)");
    EXPECT_EQ(Call("close").arguments({3}).result(0).line(),
              "close(3)                                = 0");
    EXPECT_EQ(
        Call("mmap").arguments({0, 8192, 3, 0x22, 0xffffffff, 0}).result(0x7f0000001000).line(),
        "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = "
        "0x7f0000001000");
    EXPECT_EQ(Call("exit_group").arguments({1}).line(),
              "exit_group(1)                           = ?");
    EXPECT_EQ(Call("umask").arguments({022}).result(077).line(),
              "umask(022)                              = 077");
}

TEST(Line, says_why_a_call_failed) {
    EXPECT_EQ(Call("stat").arguments({0x7000, 0x8000}).result(-2).path("none").line(),
              R"(stat("none", 0x8000)                    = -1 ENOENT (No such file or directory))");
    EXPECT_EQ(Call("read").arguments({0, 0x7000, 1}).result(-512).line(),
              "read(0, 0x7000, 1)                      = ? ERESTARTSYS (To be restarted if "
              "SA_RESTART is set)");
    EXPECT_EQ(Call("getpid").result(-4000).line(),
              "getpid()                                = -1 E4000 (errno 4000)");
}

TEST(Line, names_descriptors_when_asked) {
    const auto known = dictionary();
    EXPECT_EQ(Call("read").arguments({3, 0x7000, 5}).result(5).fd(3, 3).line(kPaths, known),
              "read(3</home/a/b>, 0x7000, 5)           = 5");
    EXPECT_EQ(Call("openat")
                  .arguments({kAtFdcwd, 0x7000, 0})
                  .result(3)
                  .fd(3, 3)
                  .path("a/b")
                  .line(kPaths, known),
              R"(openat(AT_FDCWD, "a/b", O_RDONLY)       = 3</home/a/b>)");
    EXPECT_EQ(Call("unlinkat")
                  .arguments({kAtFdcwd, 0x7000, 0x200})
                  .result(0)
                  .fd(-100, 4)
                  .bit(SyscallEvent::kHasNamesBase)
                  .path("d")
                  .line(kPaths, known),
              R"(unlinkat(AT_FDCWD</home>, "d", AT_REMOVEDIR) = 0)");
    EXPECT_EQ(Call("write").arguments({5, 0x7000, 5}).result(5).fd(5, 5).line(kPaths, known),
              "write(5<socket:[77]>, 0x7000, 5)        = 5");
    EXPECT_EQ(Call("write").arguments({5, 0x7000, 5}).result(5).fd(5, 5).line(kEnds, known),
              "write(5<TCP:[127.0.0.1:33->127.0.0.1:80]>, 0x7000, 5) = 5");
    EXPECT_EQ(Call("write").arguments({5, 0x7000, 5}).result(5).fd(5, 6).line(kEnds, known),
              "write(5<pipe:[9]>, 0x7000, 5)           = 5");
}

TEST(Line, shows_the_time_the_thread_and_the_duration) {
    const auto known = dictionary();
    const Call call = Call("getpid").result(4711).took(50'000'120'381'000, 12'345);
    const auto shown = [&](LineStyle style) {
        style.duration_digits = 6;
        style.pid = true;
        style.wall_offset_ns = 1'000'000'000;
        return call.line(style, known);
    };
    const std::string rest = "getpid()                    = 4711 <0.000012>";
    EXPECT_EQ(shown({}), "[pid  4712] " + rest);
    EXPECT_EQ(call.line({.result_column = 1}, known), "getpid() = 4711");
    EXPECT_EQ(shown({.time = TimeStyle::kClock}),
              "[pid  4712] 13:53:21 getpid()           = 4711 <0.000012>");
    EXPECT_EQ(shown({.time = TimeStyle::kClock, .time_digits = 6}),
              "[pid  4712] 13:53:21.120381 getpid()    = 4711 <0.000012>");
    EXPECT_EQ(shown({.time = TimeStyle::kUnix, .time_digits = 9}),
              "[pid  4712] 50001.120381000 getpid()    = 4711 <0.000012>");
    EXPECT_EQ(shown({.relative_digits = 6}),
              "[pid  4712]      0.000000 getpid()      = 4711 <0.000012>");
    EXPECT_EQ(shown({.time = TimeStyle::kClock, .relative_digits = 0}),
              "[pid  4712] 13:53:21 (+     0) getpid() = 4711 <0.000012>");
    EXPECT_EQ(call.line({.duration_digits = 9, .number = true, .result_column = 1}, known),
              "[  39] getpid() = 4711 <0.000012345>");
}

TEST(Line, says_how_a_thread_ended) {
    const schema::Dictionary nobody;
    const auto shown = [&](std::int32_t exit_code) {
        schema::ThreadEnd end{};
        end.tid = 4712;
        end.exit_code = exit_code;
        std::string out;
        LineWriter writer({.pid = true, .pid_bare = true}, nobody);
        EXPECT_TRUE(writer.append(out, schema::build(end).bytes()));
        return out;
    };
    EXPECT_EQ(shown(0x300), "4712  +++ exited with 3 +++");
    EXPECT_EQ(shown(9), "4712  +++ killed by SIGKILL +++");
    EXPECT_EQ(shown(11 | 0x80), "4712  +++ killed by SIGSEGV (core dumped) +++");
}

TEST(Line, shows_arguments_raw_and_structures_not_or_whole) {
    const auto known = dictionary();
    struct stat stat {};
    stat.st_mode = S_IFREG | 0644;
    stat.st_size = 7;
    stat.st_nlink = 2;
    stat.st_dev = 0xfe00;
    const Call call =
        Call("newfstatat", schema::kNativeAbi)
            .arguments({kAtFdcwd, 0x7000, 0x8000, 0})
            .result(0)
            .path("x")
            .structure(2, std::string(reinterpret_cast<const char*>(&stat), sizeof(stat)));
    const auto shown = [&](const CallDetail& detail) {
        const Details details(detail);
        return call.line({.result_column = 1, .details = &details}, known);
    };
    EXPECT_EQ(shown({.raw = true}), "newfstatat(0xffffff9c, 0x7000, 0x8000, 0) = 0");
    EXPECT_EQ(shown({.verbose = false}), R"(newfstatat(AT_FDCWD, "x", 0x8000, 0) = 0)");
    EXPECT_EQ(shown({}),
              R"(newfstatat(AT_FDCWD, "x", {st_mode=S_IFREG|0644, st_size=7, ...}, 0) = 0)");
    EXPECT_EQ(
        shown({.whole = true}),
        R"(newfstatat(AT_FDCWD, "x", {st_dev=makedev(0xfe, 0), st_ino=0, st_mode=S_IFREG|0644, )"
        "st_nlink=2, st_uid=0, st_gid=0, st_blksize=0, st_blocks=0, st_size=7, st_atime=0, "
        "st_atime_nsec=0, st_mtime=0, st_mtime_nsec=0, st_ctime=0, st_ctime_nsec=0}, 0) = 0");
}

TEST(Line, names_the_directory_that_a_path_starts_from) {
    const auto known = dictionary();
    // of the file that was opened the directory is the second object
    EXPECT_EQ(Call("openat")
                  .arguments({kAtFdcwd, 0x7000, 0})
                  .result(3)
                  .fd(3, 3)
                  .base2(4)
                  .path("a/b")
                  .line(kPaths, known),
              R"(openat(AT_FDCWD</home>, "a/b", O_RDONLY) = 3</home/a/b>)");
    // an empty path is the descriptor itself
    EXPECT_EQ(Call("readlinkat")
                  .arguments({3, 0x7000, 0x8000, 9})
                  .result(-22)
                  .fd(3, 3)
                  .path("")
                  .line(kPaths, known),
              R"(readlinkat(3</home/a/b>, "", 0x8000, 9) = -1 EINVAL (Invalid argument))");
    EXPECT_EQ(Call("openat2")
                  .arguments({kAtFdcwd, 0x7000, 0x8000, 24})
                  .result(-14)
                  .fd(0, 4)
                  .without(SyscallEvent::kHasFd)
                  .path("")
                  .line(kPaths, known),
              R"(openat2(AT_FDCWD</home>, "", 0x8000, 24) = -1 EFAULT (Bad address))");
    // what dup2 closes is the second object
    Call dup = Call("dup2").arguments({3, 5}).result(5).fd(5, 3);
    dup.event().handle2_id = 4;
    EXPECT_EQ(dup.bit(SyscallEvent::kHasHandle2).line(kPaths, known),
              "dup2(3</home/a/b>, 5</home>)            = 5</home/a/b>");
}

TEST(Line, shows_a_call_that_never_returned) {
    EXPECT_EQ(Call("read").arguments({0, 0x7000, 1024}).unfinished().line(),
              "read(0, 0x7000, 1024 <unfinished ...>)  = ?");
    EXPECT_EQ(Call("exit_group").arguments({2}).unfinished().line(),
              "exit_group(2)                           = ?");
}

TEST(Line, shows_data_up_to_the_limit) {
    EXPECT_EQ(Call("write").arguments({1, 0x7000, 6}).result(6).preview(1, "hello\n").line(),
              R"(write(1, "hello\n", 6)                  = 6)");
    EXPECT_EQ(Call("read")
                  .arguments({0, 0x7000, 1024})
                  .result(40)
                  .preview(1, std::string(40, 'a'))
                  .line(),
              R"(read(0, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"..., 1024) = 40)");
    EXPECT_EQ(Call("read").arguments({0, 0x7000, 9}).result(0).preview(1, "").line(),
              R"(read(0, "", 9)                          = 0)");
    EXPECT_EQ(Call("write").arguments({1, 0x7000, 900}).result(900).preview(1, "ab").line(),
              R"(write(1, "ab"..., 900)                  = 900)");
    const std::string vectors = bytes_of(iovec{nullptr, 2}) + bytes_of(iovec{nullptr, 3});
    EXPECT_EQ(Call("writev")
                  .arguments({1, 0x7000, 2})
                  .result(5)
                  .structure(1, vectors)
                  .parts(1, {"ab", "cde"})
                  .line(),
              R"(writev(1, [{iov_base="ab", iov_len=2}, {iov_base="cde", iov_len=3}], 2) = 5)");
}

TEST(Line, shows_the_beginning_of_each_part_of_a_vector) {
    const auto part = [](std::uintptr_t base, std::size_t bytes) {
        return bytes_of(iovec{reinterpret_cast<void*>(base), bytes});
    };
    LineStyle style;
    style.limits.text_max = 3;
    const std::string vectors = part(0x1000, 5) + part(0x2000, 2) + part(0x3000, 4);
    const Call call =
        Call("writev").arguments({1, 0x7000, 3}).structure(1, vectors).parts(1, {"abc", "", "xyz"});
    const std::string shown =
        R"(writev(1, [{iov_base="abc"..., iov_len=5}, {iov_base=0x2000, iov_len=2}, )";
    EXPECT_EQ(Call(call).result(11).line(style),
              shown + R"({iov_base="xyz"..., iov_len=4}], 3) = 11)");
    EXPECT_EQ(Call(call).result(-14).line(style),
              shown + R"({iov_base="xyz"..., iov_len=4}], 3) = -1 EFAULT (Bad address))");
}

TEST(Line, adds_up_no_lengths_of_what_is_given_away) {
    const auto part = [](std::size_t bytes) {
        return bytes_of(iovec{reinterpret_cast<void*>(0x1000), bytes});
    };
    const std::size_t huge = ~std::size_t{0} / 2 + 9;
    LineStyle style{.result_column = 0};
    EXPECT_EQ(Call("writev")
                  .arguments({1, 0x7000, 3})
                  .structure(1, part(huge) + part(huge) + part(3))
                  .result(-22)
                  .line(style),
              "writev(1, [{iov_base=0x1000, iov_len=9223372036854775816}, {iov_base=0x1000, "
              "iov_len=9223372036854775816}, {iov_base=0x1000, iov_len=3}], 3) = -1 EINVAL "
              "(Invalid argument)");
}

TEST(Line, says_what_room_there_was_for_the_name_of_a_message) {
    const auto header = [](std::uint32_t name_bytes) {
        msghdr message{};
        message.msg_name = reinterpret_cast<void*>(0x9000);
        message.msg_namelen = name_bytes;
        message.msg_iovlen = 1;
        return bytes_of(message);
    };
    const std::string vector = bytes_of(iovec{reinterpret_cast<void*>(0xa000), 3});
    const Call call = Call("recvmsg").arguments({3, 0x7000, 0});
    const auto received = [&](std::uint32_t room) {
        return Call(call)
            .result(2)
            .structure(1, header(room))
            .structure(1 | PREVIEW_AFTER, header(5) + vector)
            .parts(1 | PREVIEW_AFTER, {"ab"})
            .attach(Attachment::kAddress, std::string("\1\0/a\0", 5))
            .line();
    };
    const std::string after =
        R"(5, msg_iov=[{iov_base="ab", iov_len=3}], msg_iovlen=1, msg_controllen=0, )"
        R"(msg_flags=0}, 0) = 2)";
    const std::string before =
        R"(recvmsg(3, {msg_name={sa_family=AF_UNIX, sun_path="/a"}, msg_namelen=)";
    EXPECT_EQ(received(110), before + "110 => " + after);
    EXPECT_EQ(received(5), before + after);
    EXPECT_EQ(Call(call).result(-11).structure(1, header(110)).line(),
              "recvmsg(3, {msg_namelen=110}, 0)        = -1 EAGAIN (Resource temporarily "
              "unavailable)");
    EXPECT_EQ(Call(call).result(-14).line(),
              "recvmsg(3, 0x7000, 0)                   = -1 EFAULT (Bad address)");
}

TEST(Line, shows_addresses_of_sockets) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(80);
    in.sin_addr.s_addr = htonl(0x7f000001);
    EXPECT_EQ(
        Call("connect")
            .arguments({3, 0x7000, 16})
            .result(-115)
            .attach(Attachment::kAddress, bytes_of(in))
            .line(),
        R"(connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = -1 EINPROGRESS (Operation now in progress))");
    EXPECT_EQ(Call("bind")
                  .arguments({3, 0x7000, 5})
                  .result(0)
                  .attach(Attachment::kAddress, std::string("\1\0\0ab", 5))
                  .line(),
              R"(bind(3, {sa_family=AF_UNIX, sun_path=@"ab"}, 5) = 0)");
    EXPECT_EQ(Call("accept").arguments({3, 0, 0}).result(4).line(),
              "accept(3, NULL, NULL)                   = 4");
    EXPECT_EQ(Call("socket").arguments({2, 0x80001, 6}).result(3).line(),
              "socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP) = 3");
    EXPECT_EQ(Call("socket").arguments({1, 1, 0}).result(3).line(),
              "socket(AF_UNIX, SOCK_STREAM, 0)         = 3");
}

TEST(Line, shows_the_arguments_of_a_program_and_counts_its_environment) {
    const auto list = [](std::uint64_t count, std::string_view texts) {
        return bytes_of(count) + std::string(texts);
    };
    const auto exec = [&](const std::string& arguments, std::uint64_t variables) {
        return Call("execve")
            .path("/x")
            .arguments({0x7000, 0x7008, 0x7010})
            .result(0)
            .structure(1, arguments)
            .structure(2, list(variables, ""))
            .line();
    };
    using namespace std::literals;
    EXPECT_EQ(exec(list(3, "x\0\0a\nb\0"sv), 1),
              R"(execve("/x", ["x", "", "a\nb"], 0x7010 /* 1 var */) = 0)");
    EXPECT_EQ(exec(list(0, ""), 0), R"(execve("/x", [], 0x7010 /* 0 vars */)   = 0)");
    EXPECT_EQ(exec(list(5, "x\0y\0"sv), 12),
              R"(execve("/x", ["x", "y", ...], 0x7010 /* 12 vars */) = 0)");
    EXPECT_EQ(exec("", 2), R"(execve("/x", 0x7008, 0x7010 /* 2 vars */) = 0)");
    EXPECT_EQ(Call("execve").path("/x").arguments({0x7000, 0, 0}).result(-2).line(),
              R"(execve("/x", NULL, NULL)                = -1 ENOENT (No such file or directory))");
}

TEST(Line, shows_structures_that_came_with_the_event) {
    struct stat stat {};
    stat.st_mode = S_IFREG | 0644;
    stat.st_size = 1234;
    EXPECT_EQ(Call("fstat", schema::kNativeAbi)
                  .arguments({3, 0x7000})
                  .result(0)
                  .structure(1, bytes_of(stat))
                  .line(),
              "fstat(3, {st_mode=S_IFREG|0644, st_size=1234, ...}) = 0");
    EXPECT_EQ(Call("nanosleep")
                  .arguments({0x7000, 0})
                  .result(0)
                  .structure(0, bytes_of(timespec{1, 5}))
                  .line(),
              "nanosleep({tv_sec=1, tv_nsec=5}, NULL)  = 0");
    const std::string set = bytes_of(pollfd{3, POLLIN, POLLIN}) + bytes_of(pollfd{4, POLLOUT, 0});
    EXPECT_EQ(Call("poll").arguments({0x7000, 2, 100}).result(1).structure(0, set).line(),
              "poll([{fd=3, events=POLLIN}, {fd=4, events=POLLOUT}], 2, 100) = 1 ([{fd=3, "
              "revents=POLLIN}])");
    EXPECT_EQ(Call("wait4")
                  .arguments({0xffffffff, 0x7000, 0, 0})
                  .result(9)
                  .structure(1, bytes_of(int{256}))
                  .line(),
              "wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 1}], 0, NULL) = 9");
    EXPECT_EQ(Call("pipe2")
                  .arguments({0x7000, 02000000})
                  .result(0)
                  .structure(0, bytes_of(std::array{3, 4}))
                  .line(),
              "pipe2([3, 4], O_CLOEXEC)                = 0");
    EXPECT_EQ(Call("pipe2")
                  .arguments({0x7ffd0000, 02000001})
                  .structure(0, bytes_of(std::array{77, 78}))
                  .result(-22)
                  .line(kTight),
              "pipe2(0x7ffd0000, O_CLOEXEC|0x1) = -1 EINVAL (Invalid argument)");
    EXPECT_EQ(Call("openat2")
                  .arguments({kAtFdcwd, 0x7000, 0x8000, 24})
                  .result(3)
                  .path("x")
                  .structure(2, bytes_of(std::array<std::uint64_t, 3>{0, 0, 8}))
                  .line(),
              R"(openat2(AT_FDCWD, "x", {flags=O_RDONLY, resolve=RESOLVE_BENEATH}, 24) = 3)");
}

TEST(Line, knows_what_fcntl_was_given_and_returned) {
    EXPECT_EQ(
        Call("fcntl").arguments({3, 3, 0}).result(0x8402).line(),
        "fcntl(3, F_GETFL)                       = 0x8402 (flags O_RDWR|O_APPEND|O_LARGEFILE)");
    EXPECT_EQ(Call("fcntl").arguments({3, 2, 1}).result(0).line(),
              "fcntl(3, F_SETFD, FD_CLOEXEC)           = 0");
    EXPECT_EQ(Call("fcntl").arguments({3, 4, 04002}).result(0).line(),
              "fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK)    = 0");
}

TEST(Line, reads_registers_of_a_32_bit_call) {
    EXPECT_EQ(Call("lseek", schema::Abi::kI386).arguments({3, 0xfffffffb, 2}).result(7).line(),
              "lseek(3, -5, SEEK_END)                  = 7");
    EXPECT_EQ(Call("pread64", schema::Abi::kI386).arguments({3, 0x7000, 5, 1, 2}).result(5).line(),
              "pread64(3, 0x7000, 5, 8589934593)       = 5");
}

TEST(Line, shows_a_call_without_a_name_by_its_registers) {
    Call call("none");
    call.event().syscall = 999;
    EXPECT_EQ(call.arguments({1, 2}).result(-38).line(),
              "syscall_0x3e7(0x1, 0x2, 0x0, 0x0, 0x0, 0x0) = -38");
}

TEST(Line, numbers_devices_where_strace_does) {
    schema::Dictionary known = dictionary();
    const auto add = [&](std::uint32_t id, const char* path, schema::ObjectType type) {
        auto handle = handle_record(id, path, type);
        schema::Handle fact{};
        std::memcpy(&fact, handle.bytes().data(), sizeof(fact));
        fact.special_device = id == 20 ? 0 : 7u << 20 | 259;
        known.add(schema::build(fact, {{Attachment::kPath, path}}).bytes());
    };
    add(20, "/dev/old", schema::ObjectType::kCharacterDevice);
    add(21, "/dev/full", schema::ObjectType::kCharacterDevice);
    add(22, "/dev/loop3", schema::ObjectType::kBlockDevice);
    const auto line = [&](std::uint32_t id, Names names) {
        LineStyle style{.names = names};
        style.result_column = 0;
        return Call("fsync").arguments({4}).result(0).fd(4, id).line(style, known);
    };
    EXPECT_EQ(line(21, Names::kAll), "fsync(4</dev/full<char 7:259>>) = 0");
    EXPECT_EQ(line(22, Names::kAll), "fsync(4</dev/loop3<block 7:259>>) = 0");
    EXPECT_EQ(line(21, Names::kPaths), "fsync(4</dev/full>) = 0");
    EXPECT_EQ(line(20, Names::kAll), "fsync(4</dev/old>) = 0");  // of a trace that does not say
}

TEST(Line, never_holds_a_control_character) {
    std::string all;
    for (int c = 1; c < 256; ++c) {
        all.push_back(static_cast<char>(c));
    }
    schema::Dictionary known = dictionary();
    known.add(handle_record(9, all).bytes());
    LineStyle style{.names = Names::kAll};
    style.limits.text_max = 1000;
    for (const std::string& line :
         {Call("open").arguments({1}).result(3).fd(3, 9).path(all).line(style, known),
          Call("write").arguments({1, 2, 255}).result(255).preview(1, all).line(style, known),
          Call("bind")
              .arguments({3, 1, 100})
              .result(0)
              .attach(Attachment::kAddress, std::string("\1\0", 2) + all)
              .line(style, known),
          Call("bind")
              .arguments({3, 1, 100})
              .result(0)
              .attach(Attachment::kAddress, std::string("\x63\0", 2) + all)
              .line(style, known)}) {
        for (const char c : line) {
            EXPECT_TRUE(c >= 0x20 && c < 0x7f) << line;
        }
    }
}

TEST(Line, survives_structures_of_any_length) {
    for (const schema::SyscallInfo& info : schema::syscalls()) {
        for (std::uint8_t index = 0; index < info.argument_count; ++index) {
            for (const std::size_t size : {0u, 1u, 7u, 16u, 100u, 300u}) {
                Call call(info.name, info.abi);
                call.arguments({1, 2, 3, 4, 5, 6})
                    .result(3)
                    .structure(index, std::string(size, '\x7f'))
                    .preview(index, std::string(size, '\x01'));
                EXPECT_FALSE(call.line().empty());
            }
        }
    }
}

}  // namespace
}  // namespace dyetrace::format
