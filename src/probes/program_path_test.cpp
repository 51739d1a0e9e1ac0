#include "probes/program_path.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "probes/elf_fixture.h"

namespace dyetrace::probes {
namespace {

class ProgramPath : public testing::Test {
  protected:
    ProgramPath() {
        base::make_folders(folder_ + "/bin").value();
        base::make_folders(folder_ + "/lib").value();
        for (const char* name :
             {"/bin/shop", "/lib/libshop.so.9", "/lib/libshop.so.10.2", "/lib/libonly.so.1"}) {
            base::write_file_atomically(folder_ + name, ElfFixture().bytes()).value();
        }
        base::write_file_atomically(folder_ + "/bin/text", "text").value();
        base::write_file_atomically(folder_ + "/lib/libshop.so", "GROUP ( libshop.so.9 )").value();
        ::chmod((folder_ + "/bin/shop").c_str(), 0755);
        ::symlink("shop", (folder_ + "/bin/link").c_str());
    }
    std::string path_of(std::string_view name) {
        const auto path =
            program_path(name, {{"/nonexistent", folder_ + "/bin"}, {folder_ + "/lib"}});
        if (!path.ok()) return path.error().text();
        return path.value().substr(std::min(folder_.size(), path.value().size()));
    }

    base::TemporaryFolder temporary_ = base::TemporaryFolder::make().value();
    std::string folder_ = std::filesystem::canonical(temporary_.path());
};

TEST_F(ProgramPath, is_the_one_that_the_shell_would_run) {
    EXPECT_EQ(path_of("shop"), "/bin/shop");
    EXPECT_EQ(path_of("link"), "/bin/shop");
    EXPECT_EQ(path_of(folder_ + "/bin/../bin/link"), "/bin/shop");
}

TEST_F(ProgramPath, is_the_newest_library_where_no_program_has_the_name) {
    EXPECT_EQ(path_of("only"), "/lib/libonly.so.1");
    EXPECT_EQ(path_of("libshop.so.9"), "/lib/libshop.so.9");
    EXPECT_EQ(path_of("libshop.so"), "/lib/libshop.so.10.2");
}

TEST_F(ProgramPath, is_not_found_in_one_line) {
    EXPECT_EQ(path_of("text"),
              "no program and no library 'text' is found by PATH and where the loader looks: say "
              "its path");
    EXPECT_EQ(path_of("/nonexistent/a"),
              "looking for '/nonexistent/a': No such file or directory (ENOENT)");
    EXPECT_EQ(path_of(""), "no program is named");
}

TEST(UsualFolders, have_the_library_of_c) {
    const auto path = program_path("libc.so.6");
    ASSERT_TRUE(path.ok()) << path.error().text();
    EXPECT_EQ(program_path("c").value(), path.value());
}

}  // namespace
}  // namespace dyetrace::probes
