#include "base/mapping.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace dyetrace::base {
namespace {

TEST(Mapping, shows_the_bytes_of_a_file) {
    const TemporaryFolder folder = TemporaryFolder::make().value();
    const std::string path = folder.path() + "/a";
    write_file_atomically(path, "blue dye").value();
    const Mapping mapping = Mapping::of_file(path).value();
    EXPECT_EQ(text_of(mapping.bytes()), "blue dye");
}

TEST(Mapping, of_an_empty_file_is_empty) {
    const TemporaryFolder folder = TemporaryFolder::make().value();
    write_file_atomically(folder.path() + "/a", "").value();
    EXPECT_TRUE(Mapping::of_file(folder.path() + "/a").value().bytes().empty());
}

TEST(Mapping, of_a_missing_file_is_an_error_with_its_path) {
    EXPECT_EQ(Mapping::of_file("/no/such/file").error().text(),
              "opening '/no/such/file': No such file or directory (ENOENT)");
}

TEST(Mapping, moves_without_unmapping) {
    Mapping first =
        Mapping::make(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0).value();
    first.writable_bytes()[0] = std::byte{7};
    Mapping second;
    second = std::move(first);
    EXPECT_TRUE(first.bytes().empty());
    EXPECT_EQ(second.bytes()[0], std::byte{7});
}

TEST(Mapping, reports_what_the_kernel_refuses) {
    EXPECT_EQ(Mapping::make(4096, PROT_READ, MAP_PRIVATE, -1, 0).error().text(),
              "mapping 4096 bytes: Bad file descriptor (EBADF)");
}

}  // namespace
}  // namespace dyetrace::base
