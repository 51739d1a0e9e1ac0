// Which thread a number means in a pid namespace, and what it was called when: from schema::ThreadNumber, as they pass by.
//
//   (namespace 4026532001, 5) ─► thread 12345 ─► in namespace 4026531836: 12345
//                                           └──► "sh" from 10 s on, "cat" from 12 s on
//
// A number that is given again means the new thread from then on. One thread at a time. Limit: kThreadsMax; when full, the thread
// that was heard of first gives way. kNamesMax names of a thread are remembered, the latest ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "schema/generated/records.h"

namespace dyetrace::schema {

class ThreadNumbers {
  public:
    static constexpr std::size_t kThreadsMax = 262'144;  // 60 MiB when full
    static constexpr std::size_t kNamesMax = 16;

    void add(const ThreadNumber& record);

    // The thread, in the host's pid namespace, that has this number in another one; 0: not known.
    std::uint32_t thread(std::uint32_t pid_namespace, std::uint32_t number) const;
    // Its number there; 0: not known, or it has none.
    std::uint32_t number(std::uint32_t tid, std::uint32_t pid_namespace) const;
    // Its name then, else the first that is known; nullptr: none is.
    const std::string* name(std::uint32_t tid, std::uint64_t at_ns) const;

  private:
    struct Name {
        std::uint64_t from_ns;
        std::string text;
    };
    struct Thread {
        std::uint64_t start_ns = 0;
        std::map<std::uint32_t, std::uint32_t> numbers;  // by namespace
        std::vector<Name> names;                         // by time
    };

    void keep_name(Thread& thread, std::uint64_t from_ns, std::string text);
    void forget_numbers(std::uint32_t tid, Thread& thread);
    void forget_first();

    std::unordered_map<std::uint32_t, Thread> threads_;
    std::unordered_map<std::uint64_t, std::uint32_t> tids_;  // by namespace << 32 | number
    std::deque<std::uint32_t> order_;                        // of arrival
};

}  // namespace dyetrace::schema
