#include "recorder/command_lines.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_folder.h"
#include "schema/record_builder.h"

namespace dyetrace::recorder {
namespace {

using schema::Attachment;
using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr std::uint64_t kTicks = 4711;

class CommandLinesTest : public testing::Test {
  protected:
    void process(std::uint32_t pid, std::string_view words, std::uint64_t ticks = kTicks) {
        const std::string folder = fmt::format("{}/{}", proc_.path(), pid);
        std::filesystem::create_directory(folder);
        std::ofstream(folder + "/cmdline") << words;
        std::ofstream(folder + "/stat")
            << pid << " (a ) name) S 1 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 " << ticks
            << " 1000";
    }

    void learn(CommandLines& lines, std::uint32_t pid, std::string_view words) {
        schema::TaskContext task{};
        task.context_id = 100 + pid;
        task.pid = pid;
        task.process_start_ns =
            kTicks * (1'000'000'000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK))) + 1;
        std::vector<std::pair<Attachment, std::string_view>> attached = {
            {Attachment::kExe, "/bin/server"}};
        if (!words.empty()) {
            attached.emplace_back(Attachment::kCommand, words);
        }
        lines.learn(schema::build(task, attached).bytes());
    }

    // "107 /bin/server: words", of each that was written since.
    std::vector<std::string> look(CommandLines& lines, bool all) {
        std::vector<std::string> written;
        FactWriter facts([&](std::span<const std::byte> record) {
            const auto& task = *schema::as<schema::TaskContext>(record);
            written.push_back(fmt::format("{} {}: {}{}",
                                          task.context_id,
                                          *schema::attachment(task, Attachment::kExe),
                                          *schema::attachment(task, Attachment::kCommand),
                                          task.flags & schema::kCommandIsCut ? "…" : ""));
            return Result<void>();
        });
        EXPECT_TRUE(lines.look(all, facts).ok());
        return written;
    }

    base::TemporaryFolder proc_ = base::TemporaryFolder::make().value();
};

using Lines = std::vector<std::string>;

TEST_F(CommandLinesTest, are_read_again_after_a_while_and_at_the_end) {
    CommandLines lines(true, proc_.path());
    process(7, "server\0-d\0"sv);
    learn(lines, 7, "server\0-d\0"sv);
    EXPECT_EQ(look(lines, false), Lines{});
    process(7, "server: worker\0\0\0"sv);
    EXPECT_EQ(look(lines, false), Lines{"107 /bin/server: server: worker"});
    process(7, "server: worker, shutting down");
    EXPECT_EQ(look(lines, false), Lines{});
    EXPECT_EQ(look(lines, true), Lines{"107 /bin/server: server: worker, shutting down"});
}

TEST_F(CommandLinesTest, are_those_of_a_process_that_hangs_too) {
    CommandLines lines(true, proc_.path());
    process(8, "sleep\0001000\0"sv);
    learn(lines, 8, "");
    EXPECT_EQ(look(lines, true), Lines{"108 /bin/server: sleep\0001000"s});
}

TEST_F(CommandLinesTest, are_not_those_of_a_later_process_with_the_same_number) {
    CommandLines lines(true, proc_.path());
    learn(lines, 7, "server");
    process(7, "another", kTicks + 1);
    learn(lines, 9, "ended");
    EXPECT_EQ(look(lines, true), Lines{});
}

TEST_F(CommandLinesTest, are_cut_as_the_kernel_cuts_them) {
    CommandLines lines(true, proc_.path());
    const std::string longest(CommandLines::kCommandBytesMax, 'a');
    process(7, longest + "b");
    learn(lines, 7, longest);
    process(8, longest + "b");
    learn(lines, 8, "");
    EXPECT_EQ(look(lines, true), Lines{fmt::format("108 /bin/server: {}…", longest)});
}

TEST_F(CommandLinesTest, are_left_out_where_arguments_are) {
    CommandLines lines(false, proc_.path());
    process(7, "secret");
    learn(lines, 7, "");
    EXPECT_EQ(look(lines, true), Lines{});
}

TEST_F(CommandLinesTest, are_those_of_so_many_processes) {
    CommandLines lines(true, proc_.path());
    for (std::uint32_t pid = 1; pid <= CommandLines::kProcessesMax + 1; ++pid) {
        learn(lines, pid, "");
    }
    process(1, "first");
    process(CommandLines::kProcessesMax + 1, "one more");
    EXPECT_EQ(look(lines, true), Lines{"101 /bin/server: first"});
}

}  // namespace
}  // namespace dyetrace::recorder
