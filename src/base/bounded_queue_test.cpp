#include "base/bounded_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace dyetrace::base {
namespace {

TEST(BoundedQueue, gives_back_in_order) {
    BoundedQueue<int> queue(3);
    for (int i : {1, 2, 3}) ASSERT_TRUE(queue.try_push(i));
    queue.close();
    EXPECT_EQ(queue.pop(), 1);
    EXPECT_EQ(queue.pop(), 2);
    EXPECT_EQ(queue.pop(), 3);
    EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, leaves_a_refused_element_with_the_caller) {
    BoundedQueue<std::unique_ptr<int>> queue(1);
    auto first = std::make_unique<int>(1), second = std::make_unique<int>(2);
    EXPECT_TRUE(queue.try_push(first));
    EXPECT_FALSE(queue.try_push(second)) << "full";
    EXPECT_TRUE(second);
    queue.close();
    EXPECT_FALSE(queue.push(second)) << "closed";
    EXPECT_TRUE(second);
}

TEST(BoundedQueue, wakes_a_waiting_consumer_on_close) {
    BoundedQueue<int> queue(1);
    std::thread consumer([&] { EXPECT_EQ(queue.pop(), std::nullopt); });
    queue.close();
    consumer.join();
}

TEST(BoundedQueue, delivers_each_element_once_between_many_threads) {
    constexpr int kThreads = 3, kElements = 1000;
    BoundedQueue<int> queue(7);
    std::vector<std::thread> producers, consumers;
    std::vector<int64_t> sums(kThreads, 0);
    for (int thread = 0; thread < kThreads; ++thread) {
        producers.emplace_back([&] {
            for (int i = 1; i <= kElements; ++i) {
                int element = i;
                ASSERT_TRUE(queue.push(element));
            }
        });
        consumers.emplace_back([&queue, &sum = sums[static_cast<size_t>(thread)]] {
            while (const std::optional<int> element = queue.pop()) sum += *element;
        });
    }
    for (std::thread& producer : producers) producer.join();
    queue.close();
    for (std::thread& consumer : consumers) consumer.join();
    EXPECT_EQ(sums[0] + sums[1] + sums[2], int64_t{kThreads} * kElements * (kElements + 1) / 2);
}

}  // namespace
}  // namespace dyetrace::base
