#include "base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace dyetrace::base {
namespace {

template <class Write>
std::string spoken(bool color, Write write) {
    const TemporaryFolder folder = TemporaryFolder::make().value();
    const std::string path = folder.path() + "/stderr";
    const Fd file = open_file(path, O_WRONLY | O_CREAT | O_APPEND).value();
    write(Log(file.get(), color));
    return read_file(path, 10'000).value();
}

TEST(Log, writes_one_line_each_under_its_name) {
    EXPECT_EQ(spoken(false,
                     [](const Log& log) {
                         log.say("recording 4 CPUs");
                         log.warn("120 events lost");
                         log.fail(Error(ErrorCode::kNotFound, "no file").with_context("trace 'x'"));
                     }),
              "dyetrace: recording 4 CPUs\n"
              "dyetrace: warning: 120 events lost\n"
              "dyetrace: error: trace 'x': no file\n");
}

TEST(Log, colors_only_the_severity) {
    EXPECT_EQ(spoken(true,
                     [](const Log& log) {
                         log.say("plain");
                         log.warn("lost");
                     }),
              "dyetrace: plain\ndyetrace: \x1b[33mwarning: \x1b[0mlost\n");
}

TEST(Log, makes_control_characters_harmless) {
    EXPECT_EQ(spoken(true, [](const Log& log) { log.say("a\nb\x1b[2J\t µ"); }),
              "dyetrace: a\\nb\\x1b[2J\\t µ\n");
    EXPECT_EQ(spoken(true,
                     [](const Log& log) {
                         log.say(
                             "a\xc2\x9b"
                             "2J\xff\u202e");
                     }),
              "dyetrace: a\\u009b2J\\xff\\u202e\n")
        << "what only a terminal that knows C1 obeys, and what is not UTF-8";
}

TEST(Log, a_line_that_is_written_over_is_narrower_than_the_terminal) {
    int near = -1, far = -1;
    const winsize size{24, 20, 0, 0};
    ASSERT_EQ(::openpty(&near, &far, nullptr, nullptr, &size), 0);
    const Fd terminal(near), ours(far);
    Log(far, false).show("12 of 44 segments");
    char shown[100] = {};
    ASSERT_GT(::read(near, shown, sizeof(shown) - 1), 0);
    EXPECT_STREQ(shown, "\r\x1b[Kdyetrace: 12 of 44…");
}

TEST(Log, wants_no_color_away_from_a_terminal) {
    const Fd null = open_file("/dev/null", O_WRONLY).value();
    EXPECT_FALSE(wants_color(null.get()));
}

}  // namespace
}  // namespace dyetrace::base
