#include "probes/probe_names.h"

#include <gtest/gtest.h>

#include <string>

namespace dyetrace::probes {
namespace {

std::string read_again(std::string_view text) {
    const auto name = parse_probe_name(text);
    return name.ok() ? to_text(name.value()) : name.error().text();
}

TEST(ProbeNames, are_the_same_as_text_and_as_values) {
    for (const std::string text : {"kernel_function('vfs_read')",
                                   "tracepoint('sched:sched_switch')",
                                   "user_function('/usr/bin/it''s', 'main')",
                                   "usdt('postgres', 'transaction__start')",
                                   "usdt('postgres', 'postgresql', 'transaction__start')",
                                   "timer('10ms')",
                                   "sample(99)"}) {
        const auto name = parse_probe_name(text);
        ASSERT_TRUE(name.ok()) << name.error().text();
        EXPECT_EQ(to_text(name.value()), text);
        EXPECT_EQ(parse_probe_name(to_text(name.value())).value(), name.value());
    }
}

TEST(ProbeNames, are_read_as_sql_is_written) {
    EXPECT_EQ(read_again(" Kernel_Function ( 'vfs_*'\n) "), "kernel_function('vfs_*')");
    EXPECT_EQ(read_again("tracepoint('sched','sched_switch')"), "tracepoint('sched:sched_switch')");
    EXPECT_EQ(read_again("sample('099')"), "sample(99)");
    EXPECT_EQ(read_again("timer(5)"), "timer('5')");
    EXPECT_EQ(parse_probe_name("user_function('a''b','c')").value().arguments[0], "a'b");
}

TEST(ProbeNames, tell_their_numbers) {
    EXPECT_EQ(timer_period(parse_probe_name("timer('10ms')").value()),
              std::chrono::milliseconds(10));
    EXPECT_EQ(timer_period(parse_probe_name("timer(5)").value()), std::chrono::seconds(5));
    EXPECT_EQ(sample_hz(parse_probe_name("sample(99)").value()), 99u);
}

TEST(ProbeNames, say_what_is_wrong_with_them) {
    EXPECT_EQ(read_again(""), "a probe begins with its kind, as in kernel_function('vfs_read')");
    EXPECT_EQ(read_again("kernel_funktion('x')"),
              "there is no probe 'kernel_funktion', did you mean 'kernel_function'?");
    EXPECT_EQ(read_again("brew('x')"),
              "there is no probe 'brew': it is one of kernel_function, tracepoint, user_function, "
              "usdt, timer, sample");
    EXPECT_EQ(read_again("timer '10ms'"), "at character 7: ( is missing, as in timer('10ms')");
    EXPECT_EQ(read_again("timer()"),
              "at character 7: a text in single quotes is missing, as in timer('10ms')");
    EXPECT_EQ(read_again("timer('10ms)"),
              "at character 13: a text in single quotes is missing, as in timer('10ms')");
    EXPECT_EQ(read_again("timer('10ms'"), "at character 13: ) is missing, as in timer('10ms')");
    EXPECT_EQ(read_again("timer('10ms') x"), "at character 15: something stands after the probe");
    EXPECT_EQ(read_again("kernel_function('a', 'b')"),
              "kernel_function takes one argument, as in kernel_function('vfs_read')");
    EXPECT_EQ(read_again("usdt('postgres')"),
              "usdt takes two or three arguments, as in usdt('postgres', 'transaction__start')");
    EXPECT_EQ(read_again("tracepoint('sched_switch')"),
              "a tracepoint has a category and a name, as in tracepoint('sched:sched_switch')");
    EXPECT_EQ(read_again("tracepoint('a:b', 'c')"), read_again("tracepoint('sched_switch')"));
    EXPECT_EQ(read_again("tracepoint('a:b:c')"), read_again("tracepoint('sched_switch')"));
    EXPECT_EQ(read_again("kernel_function('')"), "'' is no name: it is empty");
    EXPECT_EQ(read_again("kernel_function('a\x1b')"),
              "'a\\x1b' is no name: it has characters that cannot be seen");
    EXPECT_EQ(read_again("timer('soon')"), "'soon' is no duration: write 500ms, 90s, 5m or 2h");
    EXPECT_EQ(read_again("timer('10us')"), "a timer of '10us' is not between 1ms and 24h");
    EXPECT_EQ(read_again("timer('25h')"), "a timer of '25h' is not between 1ms and 24h");
    for (const char* text :
         {"sample(0)", "sample(10000)", "sample('fast')", "sample(99999999999)"}) {
        EXPECT_NE(read_again(text).find("is no frequency"), std::string::npos) << text;
    }
    EXPECT_EQ(read_again(std::string(kProbeNameBytesMax + 1, 'x')),
              "a probe's name has at most 8192 bytes");
}

}  // namespace
}  // namespace dyetrace::probes
