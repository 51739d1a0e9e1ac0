#include "schema/thread_numbers.h"

#include <gtest/gtest.h>

#include <cstring>

#include "schema/dictionary.h"
#include "schema/record_builder.h"

namespace dyetrace::schema {
namespace {

constexpr std::uint32_t kHost = 4026531836, kInner = 4026532001;

ThreadNumber named(std::uint32_t tid,
                   std::uint32_t pid_namespace,
                   std::uint32_t number,
                   std::string_view comm,
                   std::uint64_t time_ns,
                   std::uint64_t start_ns = 1) {
    ThreadNumber record{};
    record.time_ns = time_ns;
    record.thread_start_ns = start_ns;
    record.tid = tid;
    record.pid_namespace = pid_namespace;
    record.number = number;
    std::memcpy(record.comm, comm.data(), comm.size());
    return record;
}

TEST(ThreadNumbers, translate_between_namespaces) {
    ThreadNumbers numbers;
    numbers.add(named(12345, kHost, 12345, "sh", 10));
    numbers.add(named(12345, kInner, 5, "sh", 10));
    EXPECT_EQ(numbers.thread(kInner, 5), 12345u);
    EXPECT_EQ(numbers.number(12345, kHost), 12345u);
    EXPECT_EQ(numbers.number(12345, kInner), 5u);
    EXPECT_EQ(numbers.thread(kInner, 12345), 0u);
    EXPECT_EQ(numbers.number(5, kInner), 0u);
}

TEST(ThreadNumbers, know_a_name_by_its_time_in_whatever_order_names_come) {
    ThreadNumbers numbers;
    EXPECT_EQ(numbers.name(7, 10), nullptr);
    numbers.add(named(7, kHost, 7, "cat", 12));
    numbers.add(named(7, kHost, 7, "sh", 10));
    EXPECT_EQ(*numbers.name(7, 9), "sh");
    EXPECT_EQ(*numbers.name(7, 11), "sh");
    EXPECT_EQ(*numbers.name(7, 12), "cat");
    for (std::uint64_t at = 20; at < 20 + 2 * ThreadNumbers::kNamesMax; ++at) {
        numbers.add(named(7, kHost, 7, std::to_string(at), at));
    }
    EXPECT_EQ(*numbers.name(7, 51), "51");
    EXPECT_EQ(*numbers.name(7, 11), "36") << "the oldest are forgotten";
}

TEST(ThreadNumbers, a_number_that_is_given_again_means_the_new_thread) {
    ThreadNumbers numbers;
    numbers.add(named(7, kHost, 7, "old", 10));
    numbers.add(named(7, kInner, 2, "old", 10));
    numbers.add(named(7, kHost, 7, "new", 20, 2));
    EXPECT_EQ(numbers.thread(kInner, 2), 0u);
    EXPECT_EQ(*numbers.name(7, 20), "new");
    numbers.add(named(8, kHost, 8, "other", 30));
    numbers.add(named(8, kInner, 2, "other", 30));
    EXPECT_EQ(numbers.thread(kInner, 2), 8u);
}

TEST(ThreadNumbers, forget_whom_they_heard_of_first_when_they_are_full) {
    ThreadNumbers numbers;
    for (std::uint32_t tid = 1; tid <= ThreadNumbers::kThreadsMax + 1; ++tid) {
        numbers.add(named(tid, kHost, tid, "x", 1));
    }
    EXPECT_EQ(numbers.thread(kHost, 1), 0u);
    EXPECT_EQ(numbers.name(1, 1), nullptr);
    EXPECT_EQ(numbers.thread(kHost, 2), 2u);
    EXPECT_EQ(numbers.thread(kHost, ThreadNumbers::kThreadsMax + 1),
              ThreadNumbers::kThreadsMax + 1);
}

TEST(ThreadNumbers, come_into_a_dictionary_with_other_facts) {
    Dictionary dictionary;
    EXPECT_TRUE(dictionary.add(build(named(7, kInner, 2, "sh", 10)).bytes()));
    EXPECT_EQ(dictionary.numbers().thread(kInner, 2), 7u);
}

}  // namespace
}  // namespace dyetrace::schema
