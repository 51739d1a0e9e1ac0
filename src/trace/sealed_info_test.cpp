#include "trace/sealed_info.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace dyetrace::trace {
namespace {

class SealedInfoTest : public testing::Test {
  protected:
    SealedInfo sample() const {
        SealedInfo info;
        info.number = 7;
        info.events = 1'000'000;
        info.facts = 12;
        info.begin_ns = 5;
        info.end_ns = UINT64_MAX;
        info.complete_ns = UINT64_MAX;
        info.recorder_died = true;
        info.columns = UINT64_MAX - 1;
        info.files = {{"gap", 1, 2, 3}, {"handle", 4, 5, UINT64_MAX}};
        return info;
    }
    void write(const std::string& content) const {
        base::write_file_atomically(folder() + "/gap.parquet", content).value();
    }
    std::string folder() const { return temporary_.path(); }

    base::TemporaryFolder temporary_ = base::TemporaryFolder::make().value();
};

TEST_F(SealedInfoTest, is_read_as_it_was_written) {
    for (const SealedInfo& info : {sample(), SealedInfo()}) {
        write_sealed_info(folder(), info).value();
        EXPECT_EQ(read_sealed_info(folder()).value(), info);
    }
}

TEST_F(SealedInfoTest, refuses_every_change_of_itself) {
    write_sealed_info(folder(), sample()).value();
    const std::string path = folder() + "/segment.json";
    const std::string good = base::read_file(path, 4096).value();
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::string flipped = good;
        flipped[at] = static_cast<char>(flipped[at] ^ 1);
        base::write_file_atomically(path, flipped).value();
        EXPECT_FALSE(read_sealed_info(folder()).ok()) << flipped;
        base::write_file_atomically(path, good.substr(0, at)).value();
        EXPECT_FALSE(read_sealed_info(folder()).ok()) << at;
    }
}

TEST_F(SealedInfoTest, tells_each_kind_of_damage_of_a_file) {
    const std::string good(300'000, 'x');  // more than one piece
    write(good);
    const SealedFile file = describe_sealed_file(folder(), "gap", 9).value();
    EXPECT_EQ(file.rows, 9u);
    EXPECT_EQ(file.bytes, good.size());
    EXPECT_EQ(damage_of(folder(), file, FileCheck::kContent), std::nullopt);
    write(good.substr(1));
    EXPECT_EQ(damage_of(folder(), file, FileCheck::kSize), "cut: 299,999 of 300,000 bytes");
    write(good + "x");
    EXPECT_EQ(damage_of(folder(), file, FileCheck::kSize), "changed: 300,001 of 300,000 bytes");
    std::string flipped = good;
    flipped[299'999] ^= 1;
    write(flipped);
    EXPECT_EQ(damage_of(folder(), file, FileCheck::kSize), std::nullopt);
    EXPECT_EQ(damage_of(folder(), file, FileCheck::kContent), "changed: another checksum");
    base::remove_file(folder() + "/gap.parquet").value();
    EXPECT_EQ(damage_of(folder(), file, FileCheck::kSize), "missing");
}

TEST_F(SealedInfoTest, does_not_leave_its_folder) {
    SealedInfo info;
    info.files = {{"../gap", 1, 2, 3}};
    write_sealed_info(folder(), info).value();
    EXPECT_FALSE(read_sealed_info(folder()).ok());
}

}  // namespace
}  // namespace dyetrace::trace
