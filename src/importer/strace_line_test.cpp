#include "importer/strace_line.h"

#include <gtest/gtest.h>

#include <string>

namespace dyetrace::importer {
namespace {

TEST(StraceLine, reads_a_call_with_task_time_and_duration) {
    const StraceLine line =
        parse_strace_line("4702  12:56:18.804827 close(3</tmp/x>) = 0 <0.000036>");
    EXPECT_EQ(line.kind, StraceKind::kCall);
    EXPECT_EQ(line.task, 4702u);
    EXPECT_EQ(line.time_is, StraceTime::kDay);
    EXPECT_EQ(line.time_ns, 46578'804'827'000u);
    EXPECT_EQ(line.took_ns, 36'000u);
    EXPECT_EQ(line.name, "close");
    EXPECT_EQ(line.text, "close(3</tmp/x>) = 0");
}

TEST(StraceLine, reads_all_ways_to_begin_a_line) {
    const auto task_and_time = [](const char* text) {
        const StraceLine line = parse_strace_line(text);
        EXPECT_EQ(line.kind, StraceKind::kCall) << text;
        return std::to_string(line.task.value_or(0)) + " " + std::to_string(line.time_ns);
    };
    EXPECT_EQ(task_and_time("getpid() = 1"), "0 0");
    EXPECT_EQ(task_and_time("[pid    12] getpid() = 1"), "12 0");
    EXPECT_EQ(task_and_time("12 getpid() = 1"), "12 0");
    EXPECT_EQ(task_and_time("00:00:01 getpid() = 1"), "0 1000000000");
    EXPECT_EQ(task_and_time("[pid 12] 00:00:01.5 getpid() = 1"), "12 1500000000");
    EXPECT_EQ(task_and_time("12 1669120578.000000001 getpid() = 1"), "12 1669120578000000001");
    EXPECT_EQ(task_and_time("1669120578.25 getpid() = 1"), "0 1669120578250000000");
    EXPECT_EQ(task_and_time("     0.000123 getpid() = 1"), "0 123000");
    EXPECT_EQ(task_and_time("12 00:00:01 [  39] getpid() = 1"), "12 1000000000");
    EXPECT_EQ(task_and_time("12 00:00:01 [00007f0102030405] getpid() = 1"), "12 1000000000");
}

TEST(StraceLine, reads_calls_in_two_halves) {
    const StraceLine begin = parse_strace_line("7 read(3<pipe:[5]>,  <unfinished ...>");
    EXPECT_EQ(begin.kind, StraceKind::kBegins);
    EXPECT_EQ(begin.text, "read(3<pipe:[5]>,  ");
    const StraceLine end = parse_strace_line("7 <... read resumed>\"x\", 10) = 1");
    EXPECT_EQ(end.kind, StraceKind::kEnds);
    EXPECT_EQ(end.name, "read");
    EXPECT_EQ(end.text, "\"x\", 10) = 1");
}

TEST(StraceLine, reads_signals_and_ends) {
    const StraceLine signal = parse_strace_line("7 --- SIGCHLD {si_signo=SIGCHLD, si_pid=8} ---");
    EXPECT_EQ(signal.kind, StraceKind::kSignal);
    EXPECT_EQ(signal.name, "SIGCHLD");
    EXPECT_EQ(signal.text, "{si_signo=SIGCHLD, si_pid=8}");
    EXPECT_EQ(parse_strace_line("7 +++ exited with 3 +++").text, "3");
    EXPECT_EQ(parse_strace_line("7 +++ killed by SIGSEGV (core dumped) +++").kind,
              StraceKind::kKilled);
    EXPECT_EQ(parse_strace_line("7 +++ superseded by execve in pid 8 +++").text, "8");
    EXPECT_EQ(parse_strace_line("7 --- stopped by SIGSTOP ---").kind, StraceKind::kMessage);
    EXPECT_EQ(parse_strace_line("strace: Process 8 attached").kind, StraceKind::kMessage);
}

TEST(StraceLine, finds_the_end_of_arguments_after_anything) {
    for (const std::string& text :
         {std::string(R"(f("a) = \"b", [c) = 1)"),
          std::string(R"(f(3</tmp/a)b>, "x"...) = 1)"),
          std::string("f(4<TCP:[1.2.3.4:5->6.7.8.9:10]>) = 1"),
          std::string("f(1</dev/null<char 1:3>>, {a=1<<3, b=[~[A B]]} /* 2 vars) */) = 1")}) {
        const std::size_t open = 1;
        if (text[3] == 'a') {
            EXPECT_EQ(end_of_arguments(text, open), std::string::npos) << text;  // [ is not closed
            continue;
        }
        EXPECT_EQ(text.substr(end_of_arguments(text, open)), ") = 1") << text;
    }
}

TEST(StraceLine, says_what_it_cannot_read) {
    for (const char* text : {"",
                             "x",
                             "7",
                             "12:56:18.8",
                             "7 12:56:18 read(3",
                             "7 read(3, \"abc",
                             "+++ +++",
                             "--- ---",
                             "<... read",
                             "25:00:00 f() = 1",
                             "{\"type\":8}"}) {
        EXPECT_EQ(parse_strace_line(text).kind, StraceKind::kUnreadable) << text;
    }
}

TEST(StraceLine, survives_a_cut_at_every_byte) {
    const std::string line =
        "4702  12:56:18.804827 sendto(3<TCP:[1.2.3.4:5->6.7.8.9:10]>, \"a\\\"\\\\\", 3, 0, "
        "{sa_family=AF_UNIX, sun_path=\"/x\"}, 16) = 3 <0.000036>";
    for (std::size_t size = 0; size < line.size(); ++size) {
        (void)parse_strace_line(line.substr(0, size));
        (void)parse_strace_line(line.substr(size));
    }
}

}  // namespace
}  // namespace dyetrace::importer
