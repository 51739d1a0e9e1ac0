#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "base/temporary_folder.h"

namespace dyetrace::base {
namespace {

class File : public testing::Test {
  protected:
    std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

    const TemporaryFolder folder_ = TemporaryFolder::make().value();
};

TEST_F(File, reads_back_what_was_written) {
    const std::string content = std::string("a\0b", 3) + std::string(200'000, 'x');
    write_file_atomically(path("a"), content).value();
    EXPECT_EQ(read_file(path("a"), content.size()).value(), content);
}

TEST_F(File, refuses_to_read_more_than_the_limit) {
    write_file_atomically(path("a"), "12345").value();
    EXPECT_EQ(read_file(path("a"), 5).value(), "12345");
    EXPECT_EQ(read_file(path("a"), 4).error().text(),
              "file '" + path("a") + "' is larger than 4 bytes");
    EXPECT_EQ(read_file(path("a"), 4).error().code(), ErrorCode::kLimitReached);
}

TEST_F(File, reads_a_file_of_proc_whose_size_is_zero) {
    EXPECT_FALSE(read_file("/proc/self/status", 1 << 20).value().empty());
}

TEST_F(File, waits_for_no_pipe_where_a_file_should_be) {
    const std::string pipe = path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(read_regular_file(pipe, 10).error().code(), ErrorCode::kUnsupported);
    EXPECT_EQ(open_regular_file("/dev/zero").error().code(), ErrorCode::kUnsupported);
    EXPECT_EQ(read_regular_file("/proc/self/comm", 100).value(), "base_test\n");
}

TEST_F(File, an_atomic_write_replaces_and_leaves_nothing_else) {
    write_file_atomically(path("a"), "old").value();
    write_file_atomically(path("a"), "new").value();
    EXPECT_EQ(read_file(path("a"), 100).value(), "new");
    EXPECT_EQ(list_folder(folder_.path()).value(), std::vector<std::string>{"a"});
}

TEST_F(File, a_failed_atomic_write_leaves_no_draft) {
    make_folders(path("a/in_the_way")).value();
    EXPECT_FALSE(write_file_atomically(path("a"), "new").ok());
    EXPECT_EQ(list_folder(folder_.path()).value(), std::vector<std::string>{"a"});
}

// Whoever may write to /tmp can guess a draft's name.
TEST_F(File, an_atomic_write_follows_no_link_that_lies_where_its_draft_goes) {
    write_file_atomically(path("victim"), "precious").value();
    constexpr int kDrafts = 1000;  // more than this process has made
    for (int i = 0; i < kDrafts; ++i) {
        const std::string draft =
            path("a") + ".new-" + std::to_string(::getpid()) + "." + std::to_string(i);
        ASSERT_EQ(::symlink(path("victim").c_str(), draft.c_str()), 0);
    }
    write_file_atomically(path("a"), "new").value();
    EXPECT_EQ(read_file(path("a"), 100).value(), "new");
    EXPECT_EQ(read_file(path("victim"), 100).value(), "precious");
    struct stat status {};
    ASSERT_EQ(::lstat(path("a").c_str(), &status), 0);
    EXPECT_TRUE(S_ISREG(status.st_mode));
}

TEST_F(File, threads_that_write_one_file_do_not_disturb_each_other) {
    constexpr int kTimes = 50;
    const auto write_often = [&](char with) {
        const std::string content(100'000, with);
        for (int i = 0; i < kTimes; ++i) {
            write_file_atomically(path("a"), content).value();
        }
    };
    std::thread other(write_often, 'x');
    write_often('y');
    other.join();
    const std::string content = read_file(path("a"), 1'000'000).value();
    EXPECT_EQ(content, std::string(100'000, content[0]));
    EXPECT_EQ(list_folder(folder_.path()).value(), std::vector<std::string>{"a"});
}

TEST_F(File, a_draft_begins_by_removing_those_of_the_dead) {
    const std::string dead = path("a.new-999999999");  // above the largest pid there can be
    for (const std::string& other :
         {dead, path("a.new-1"), path("b.new-999999999"), path("a.new-old")}) {
        write_file_atomically(other, "half").value();
    }
    const std::string begun = begin_draft(path("a"));
    EXPECT_TRUE(begun.starts_with(path("a.new-" + std::to_string(::getpid()) + "."))) << begun;
    EXPECT_NE(begin_draft(path("a")), begun);
    EXPECT_EQ(list_folder(folder_.path()).value(),
              (std::vector<std::string>{"a.new-1", "a.new-old", "b.new-999999999"}));
}

TEST_F(File, reads_at_an_offset_up_to_the_end) {
    write_file_atomically(path("a"), "0123456789").value();
    const Fd file = open_file(path("a"), O_RDONLY).value();
    std::string into(4, ' ');
    EXPECT_EQ(read_up_to_at(file, std::as_writable_bytes(std::span(into)), 3).value(), 4u);
    EXPECT_EQ(into, "3456");
    EXPECT_EQ(read_up_to_at(file, std::as_writable_bytes(std::span(into)), 8).value(), 2u);
}

TEST_F(File, descriptors_do_not_leak_into_child_processes) {
    const Fd file = open_file(path("a"), O_WRONLY | O_CREAT).value();
    EXPECT_TRUE(::fcntl(file.get(), F_GETFD) & FD_CLOEXEC);
}

TEST_F(File, makes_folders_with_parents_twice) {
    make_folders(path("a/b/c")).value();
    make_folders(path("a/b/c/")).value();
    EXPECT_EQ(list_folder(path("a/b")).value(), std::vector<std::string>{"c"});
    write_file_atomically(path("file"), "").value();
    EXPECT_FALSE(make_folders(path("file/x")).ok());
}

TEST_F(File, lists_names_in_order) {
    for (const char* name : {"b", "c", "a"}) write_file_atomically(path(name), "").value();
    EXPECT_EQ(list_folder(folder_.path()).value(), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(list_folder(path("absent")).error().code(), ErrorCode::kNotFound);
}

TEST_F(File, adds_up_what_lies_in_a_folder_and_below) {
    make_folders(path("below")).value();
    write_file_atomically(path("a"), "12345").value();
    write_file_atomically(path("below/b"), "67").value();
    EXPECT_EQ(bytes_in_folder(folder_.path()), 7u);
    EXPECT_EQ(bytes_in_folder(path("absent")), 0u);
}

TEST_F(File, removes_one_file_once) {
    write_file_atomically(path("a"), "").value();
    EXPECT_TRUE(remove_file(path("a")).ok());
    EXPECT_EQ(remove_file(path("a")).error().code(), ErrorCode::kNotFound);
}

TEST_F(File, knows_the_parent_folder_of_a_path) {
    EXPECT_EQ(parent_folder("a/b/c"), "a/b");
    EXPECT_EQ(parent_folder("/a"), "/");
    EXPECT_EQ(parent_folder("a"), ".");
}

TEST_F(File, a_temporary_folder_takes_its_content_along) {
    std::string gone;
    {
        const TemporaryFolder inner = TemporaryFolder::make().value();
        gone = inner.path();
        make_folders(gone + "/x/y").value();
    }
    EXPECT_EQ(list_folder(gone).error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace dyetrace::base
