#include "analysis/verify/shorter_copies.h"

#include <gtest/gtest.h>

#include "analysis/verify/copy_cases.h"

namespace dyetrace::analysis {
namespace {

using schema::FlowRule;

const std::string kWhole = random_bytes(30'000, 4);

// A file that is read, and copies of it, each by a process of its own.
class ShorterCopiesTest : public ::testing::Test {
  protected:
    ShorterCopiesTest() { add(kWhole, 100, 0); }

    void add_file(const std::string& bytes, std::uint64_t object, std::uint64_t first = 0) {
        add(bytes, 0, object, first);
        links_.push_back({0, copies_.size() - 1, FlowRule::kAnchor});
    }
    // Copied from file to file by the kernel, so much farther on.
    void add_put_after(const std::string& bytes,
                       std::uint64_t from,
                       std::uint64_t to,
                       std::uint64_t shift2,
                       std::uint64_t first = 0) {
        add(bytes, from, to, first);
        copies_.back().shift2 = shift2;
        if (from == copies_[0].object) {
            links_.push_back({0, copies_.size() - 1, FlowRule::kFile});
        }
    }
    CopyVerdict verdict() const { return verify(copies_, links_, {}); }

  private:
    void add(const std::string& bytes,
             std::uint64_t from,
             std::uint64_t to,
             std::uint64_t first = 0) {
        copies_.push_back({.process = copies_.size() + 1,
                           .object = from,
                           .object2 = to,
                           .first_ns = copies_.size() + 1,
                           .in_file = true,
                           .strip = moved_.strip(bytes, {4096}, first)});
    }

    Moved moved_;
    std::vector<Copy> copies_;
    std::vector<CopyLink> links_;
};

TEST_F(ShorterCopiesTest, end_before_what_they_are_copies_of) {
    add_file(kWhole, 200);
    add_file(kWhole.substr(0, 20'000), 201);
    const CopyVerdict found = verdict();
    EXPECT_TRUE(found.changes.empty());
    EXPECT_EQ(found.shorter, (std::vector<ShorterCopy>{{0, 2, 20'000, 30'000}}));
    EXPECT_EQ(found.sameness(), Sameness::kNotAllCompared);
}

TEST_F(ShorterCopiesTest, are_not_those_that_another_process_went_on_with) {
    add_file(kWhole.substr(0, 20'000), 201);
    add_file(kWhole.substr(20'000), 201, 20'000);
    EXPECT_TRUE(verdict().shorter.empty());
}

// `cat a b > file` where cat lets the kernel copy, and the disk is full.
TEST_F(ShorterCopiesTest, are_known_where_others_were_put_before_them_by_the_kernel) {
    add_put_after(random_bytes(40'000, 5), 102, 201, 0);
    add_put_after(kWhole.substr(0, 20'000), 100, 201, 40'000);
    EXPECT_EQ(verdict().shorter, (std::vector<ShorterCopy>{{0, 2, 20'000, 30'000}}));
    add_put_after(kWhole.substr(20'000), 100, 201, 40'000, 20'000);
    EXPECT_TRUE(verdict().shorter.empty());
}

TEST_F(ShorterCopiesTest, are_not_those_that_have_a_later_part) {
    add_file(kWhole.substr(8192, 8192), 201);
    EXPECT_TRUE(verdict().shorter.empty());
}

TEST_F(ShorterCopiesTest, are_not_those_with_more_in_them) {
    add_file("a header, and " + kWhole.substr(0, 29'990), 201);
    add_file(kWhole + "more", 202);
    EXPECT_TRUE(verdict().shorter.empty());
}

}  // namespace
}  // namespace dyetrace::analysis
