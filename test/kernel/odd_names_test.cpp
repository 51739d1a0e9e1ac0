// Names at the limits, names that are no text, and objects whose names change.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/old_calls.h"
#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

class OddNames : public RowsTest {};

TEST_F(OddNames, a_path_of_4095_bytes) {
    NEEDS_OLD_CALLS();
    make_file("data", "123");
    std::string path = at("");
    while (path.size() + 4 < 4095) {
        path += path.size() % 2 == 4095 % 2 ? "./" : "/";
    }
    path += "data";
    ASSERT_EQ(path.size(), 4095u);
    const Trace trace = record([&] {
        REQUIRE(open(path.c_str(), O_RDONLY) == 3);
        REQUIRE(access(path.c_str(), F_OK) == 0);
        REQUIRE(access((path + "x").c_str(), F_OK) < 0);
    });
    EXPECT_EQ(trace.only("openat").argument_path(), path);
    EXPECT_EQ(trace.only("openat").path(), at("data"));
    EXPECT_EQ(trace.first("access").argument_path(), path);
    EXPECT_EQ(trace.last("access").error(), "ENAMETOOLONG");
}

// A mount has a path and two names: all that any of them may hold, and a type that is longer than any.
TEST_F(OddNames, names_of_a_mount_beside_the_longest_path) {
    const std::string folder = std::string(4094, '/') + "x", source = folder;
    const std::string type(254, 't'), endless(256, 't');
    const Trace trace = record([&] {
        for (const std::string& name : {type, endless}) {
            REQUIRE(mount(source.c_str(), folder.c_str(), name.c_str(), 0, nullptr) < 0);
        }
        REQUIRE(mount("none", "/none", endless.c_str(), 0, nullptr) < 0);
    });
    const auto text = [&](std::size_t call, schema::Attachment kind) {
        return schema::attachment(trace.nth("mount", call).raw(), kind);
    };
    for (const std::size_t call : {0u, 1u}) {
        EXPECT_EQ(text(call, schema::Attachment::kPath2), folder);
        EXPECT_EQ(text(call, schema::Attachment::kName), source);
    }
    EXPECT_EQ(text(0, schema::Attachment::kName2), type);
    EXPECT_EQ(text(1, schema::Attachment::kName2), std::nullopt);
    EXPECT_EQ(text(2, schema::Attachment::kName2), endless);
}

TEST_F(OddNames, sixteen_folders_with_the_longest_names) {
    const std::string name(255, 'n');
    std::string path = at("");
    path.pop_back();
    ASSERT_EQ(chdir(path.c_str()), 0);
    while (path.size() + 1 + name.size() < 4096) {
        ASSERT_EQ(mkdir(name.c_str(), 0755), 0);
        ASSERT_EQ(chdir(name.c_str()), 0);
        path += "/" + name;
    }
    const Trace trace = record([&] {
        REQUIRE(open("data", O_CREAT | O_WRONLY, 0600) == 3);
        REQUIRE(open((name + "n").c_str(), O_CREAT | O_WRONLY, 0600) < 0);
        REQUIRE(open(path.c_str(), O_DIRECTORY) == 4);
    });
    ASSERT_EQ(chdir("/"), 0);
    EXPECT_EQ(trace.nth("openat", 0).path(), path + "/data");
    EXPECT_EQ(trace.nth("openat", 1).error(), "ENAMETOOLONG");
    EXPECT_EQ(trace.nth("openat", 1).argument_path(), name + "n");
    EXPECT_EQ(trace.nth("openat", 2).path(), path);
}

// The kernel has names for more than PATH_MAX; what is left out is not taken for the root.
TEST_F(OddNames, a_path_that_is_too_long_says_that_its_head_is_missing) {
    const std::string name(255, 'n');
    std::string path = at("");
    path.pop_back();
    ASSERT_EQ(chdir(path.c_str()), 0);
    for (int depth = 0; depth < 20; ++depth) {
        ASSERT_EQ(mkdir(name.c_str(), 0755), 0);
        ASSERT_EQ(chdir(name.c_str()), 0);
    }
    const Trace trace = record([&] { REQUIRE(open("data", O_CREAT | O_WRONLY, 0600) == 3); });
    ASSERT_EQ(chdir("/"), 0);
    const std::string shown = trace.only("openat").path();
    EXPECT_TRUE(shown.starts_with("…/" + name + "/")) << shown;
    EXPECT_TRUE(shown.ends_with(name + "/data")) << shown;
}

TEST_F(OddNames, bytes_that_are_no_text_are_escaped) {
    NEEDS_OLD_CALLS();
    const std::string shown = rows([&] {
        REQUIRE(open(at("latin\xe4").c_str(), O_CREAT | O_WRONLY, 0600) == 3);
        REQUIRE(open(at("\x1b[31mred\a").c_str(), O_CREAT | O_WRONLY, 0600) == 4);
        REQUIRE(open(at("line\nbreak\\").c_str(), O_CREAT | O_WRONLY, 0600) == 5);
        REQUIRE(open(at("日本").c_str(), O_CREAT | O_WRONLY, 0600) == 6);
        REQUIRE(rename(at("latin\xe4").c_str(), at("\xff\xfe").c_str()) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/latin\xe4 "~/latin\xe4" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY|O_CREAT","mode":"0600"}
        openat file =4 fd=4 #2 file ~/<1b>[31mred<07> "~/<1b>[31mred<07>" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY|O_CREAT","mode":"0600"}
        openat file =5 fd=5 #3 file ~/line<0a>break\\ "~/line<0a>break\\" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY|O_CREAT","mode":"0600"}
        openat file =6 fd=6 #4 file ~/日本 "~/日本" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY|O_CREAT","mode":"0600"}
        rename metadata =0 #1 file ~/latin\xe4 "~/latin\xe4" => #1 ~/\xff\xfe
    )"));
}

TEST_F(OddNames, a_rename_keeps_the_object_and_its_new_path_counts) {
    NEEDS_OLD_CALLS();
    ASSERT_EQ(mkdir(at("a").c_str(), 0755), 0);
    ASSERT_EQ(mkdir(at("a/b").c_str(), 0755), 0);
    make_file("a/b/data", "");
    const std::string shown = rows([&] {
        REQUIRE(open(at("a/b/data").c_str(), O_WRONLY) == 3);
        REQUIRE(write(3, "1", 1) == 1);
        REQUIRE(rename(at("a/b/data").c_str(), at("a/b/other").c_str()) == 0);
        REQUIRE(write(3, "2", 1) == 1);
        REQUIRE(rename(at("a").c_str(), at("z").c_str()) == 0);
        REQUIRE(write(3, "3", 1) == 1);
        REQUIRE(open(at("z/b/other").c_str(), O_WRONLY) == 4);
        REQUIRE(rename(at("z/b/other").c_str(), at("up").c_str()) == 0);
        REQUIRE(close(3) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/a/b/data "~/a/b/data" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY","mode":"000"}
        write file =1 fd=3 #1 file ~/a/b/data O_WRONLY @0 size=1 1/1 {"count":1}
        rename metadata =0 #1 file ~/a/b/data "~/a/b/data" => #1 ~/a/b/other
        write file =1 fd=3 #1 file ~/a/b/other O_WRONLY @1 size=2 1/1 {"count":1}
        rename metadata =0 #2 directory ~/a "~/a" => #2 ~/z
        write file =1 fd=3 #1 file ~/z/b/other O_WRONLY @2 size=3 1/1 {"count":1}
        openat file =4 fd=4 #1 file ~/z/b/other "~/z/b/other" O_WRONLY size=3 {"dfd":"AT_FDCWD","flags":"O_WRONLY","mode":"000"}
        rename metadata =0 #1 file ~/z/b/other "~/z/b/other" => #1 ~/up
        close file =0 fd=3 #1 file ~/up O_WRONLY
    )"));
}

TEST_F(OddNames, of_two_that_are_exchanged_both_are_seen) {
    make_file("a", "");
    make_file("b", "");
    const Trace trace = record([&] {
        REQUIRE(open(at("a").c_str(), O_RDONLY) >= 0);
        REQUIRE(open(at("b").c_str(), O_RDONLY) >= 0);
        REQUIRE(renameat2(AT_FDCWD, at("a").c_str(), AT_FDCWD, at("b").c_str(), RENAME_EXCHANGE) ==
                0);
    });
    const std::vector<Touched> touched = trace.only("renameat2").touched();
    EXPECT_EQ(trace.only("renameat2").object_id(), trace.nth("openat", 0).object_id());
    ASSERT_EQ(touched.size(), 1u);
    EXPECT_EQ(touched[0].role, schema::EventRole::kExchanged);
    EXPECT_EQ(touched[0].object->object_id, trace.nth("openat", 1).object_id());
}

TEST_F(OddNames, hard_links_are_one_object_with_several_names) {
    NEEDS_OLD_CALLS();
    make_file("a", "");
    ASSERT_EQ(link(at("a").c_str(), at("b").c_str()), 0);
    const std::string shown = rows([&] {
        REQUIRE(open(at("a").c_str(), O_WRONLY) == 3);
        REQUIRE(open(at("b").c_str(), O_WRONLY) == 4);
        REQUIRE(write(3, "1", 1) == 1);
        REQUIRE(write(4, "2", 1) == 1);
        REQUIRE(unlink(at("a").c_str()) == 0);
        REQUIRE(write(3, "3", 1) == 1);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/a "~/a" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY","mode":"000"}
        openat file =4 fd=4 #1 file ~/b "~/b" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY","mode":"000"}
        write file =1 fd=3 #1 file ~/a O_WRONLY @0 size=1 1/1 {"count":1}
        write file =1 fd=4 #1 file ~/b O_WRONLY @0 size=1 1/1 {"count":1}
        unlink metadata =0 #1 file ~/a "~/a"
        write file =1 fd=3 #1 file ~/a O_WRONLY @1 size=2 1/1 {"count":1}
    )"));
}

TEST_F(OddNames, a_symbolic_link_leads_to_the_object) {
    make_file("a", "");
    ASSERT_EQ(symlink("a", at("link").c_str()), 0);
    const std::string shown = rows([&] {
        REQUIRE(open(at("link").c_str(), O_WRONLY) == 3);
        REQUIRE(open(at("a").c_str(), O_WRONLY) == 4);
        REQUIRE(open(at("link").c_str(), O_WRONLY | O_NOFOLLOW) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/a "~/link" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY","mode":"000"}
        openat file =4 fd=4 #1 file ~/a "~/a" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY","mode":"000"}
        openat file =ELOOP ~/link "~/link" {"dfd":"AT_FDCWD","flags":"O_WRONLY|O_NOFOLLOW","mode":"000"}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
