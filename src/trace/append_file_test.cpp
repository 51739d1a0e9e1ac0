#include "trace/append_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <vector>

#include "base/temporary_folder.h"

namespace dyetrace::trace {
namespace {

// Lowers the soft limit of this process while it lives.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t bytes) {
        EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
        const rlimit limit{bytes, before_.rlim_max};
        EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    ~FileSizeLimit() { EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0); }

  private:
    rlimit before_{};
};

// At every size of the last block: where it ends just below the limit, too.
TEST(AppendFile, the_trailer_has_room_below_the_largest_file_that_is_allowed) {
    const auto temporary = base::TemporaryFolder::make().value();
    const FileSizeLimit limit(128 * 1024);
    for (std::size_t size = 1000; size < 60'000; size += 1000) {
        const auto file = create_append_file(temporary.path() + "/" + std::to_string(size)).value();
        const std::vector<std::byte> block(size), trailer(kTrailerBytesMax);
        std::size_t blocks = 0;
        Result<void> appended;
        while ((appended = file->append(block)).ok()) {
            ++blocks;
        }
        EXPECT_EQ(blocks, (128 * 1024 - kTrailerBytesMax) / size);
        EXPECT_EQ(appended.error().code(), ErrorCode::kLimitReached) << appended.error().text();
        EXPECT_TRUE(file->append_trailer(trailer).ok()) << "blocks of " << size;
    }
}

}  // namespace
}  // namespace dyetrace::trace
