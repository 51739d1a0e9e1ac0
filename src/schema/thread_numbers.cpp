#include "schema/thread_numbers.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace dyetrace::schema {
namespace {

std::uint64_t key_of(std::uint32_t pid_namespace, std::uint32_t number) {
    return std::uint64_t{pid_namespace} << 32 | number;
}

}  // namespace

void ThreadNumbers::add(const ThreadNumber& record) {
    if (!threads_.contains(record.tid)) {
        if (threads_.size() == kThreadsMax) {
            forget_first();
        }
        order_.push_back(record.tid);
    }
    Thread& thread = threads_[record.tid];
    if (thread.start_ns != record.thread_start_ns) {
        forget_numbers(record.tid, thread);
        thread.start_ns = record.thread_start_ns;
    }
    thread.numbers[record.pid_namespace] = record.number;
    tids_[key_of(record.pid_namespace, record.number)] = record.tid;
    const char* comm = reinterpret_cast<const char*>(record.comm);
    keep_name(thread, record.time_ns, {comm, strnlen(comm, sizeof(record.comm))});
}

void ThreadNumbers::keep_name(Thread& thread, std::uint64_t from_ns, std::string text) {
    const auto after = std::upper_bound(
        thread.names.begin(), thread.names.end(), from_ns, [](std::uint64_t at, const Name& name) {
            return at < name.from_ns;
        });
    if (after != thread.names.begin() && std::prev(after)->text == text) {
        return;
    }
    thread.names.insert(after, {from_ns, std::move(text)});
    if (thread.names.size() > kNamesMax) {
        thread.names.erase(thread.names.begin());
    }
}

void ThreadNumbers::forget_numbers(std::uint32_t tid, Thread& thread) {
    for (const auto& [pid_namespace, number] : thread.numbers) {
        const auto at = tids_.find(key_of(pid_namespace, number));
        if (at != tids_.end() && at->second == tid) {
            tids_.erase(at);
        }
    }
    thread.numbers.clear();
}

void ThreadNumbers::forget_first() {
    const auto first = threads_.find(order_.front());
    forget_numbers(first->first, first->second);
    threads_.erase(first);
    order_.pop_front();
}

std::uint32_t ThreadNumbers::thread(std::uint32_t pid_namespace, std::uint32_t number) const {
    const auto at = tids_.find(key_of(pid_namespace, number));
    return at == tids_.end() ? 0 : at->second;
}

std::uint32_t ThreadNumbers::number(std::uint32_t tid, std::uint32_t pid_namespace) const {
    const auto thread = threads_.find(tid);
    if (thread == threads_.end()) {
        return 0;
    }
    const auto at = thread->second.numbers.find(pid_namespace);
    return at == thread->second.numbers.end() ? 0 : at->second;
}

const std::string* ThreadNumbers::name(std::uint32_t tid, std::uint64_t at_ns) const {
    const auto thread = threads_.find(tid);
    if (thread == threads_.end() || thread->second.names.empty()) {
        return nullptr;
    }
    const std::vector<Name>& names = thread->second.names;
    const auto after = std::find_if(
        names.begin(), names.end(), [&](const Name& name) { return name.from_ns > at_ns; });
    return &(after == names.begin() ? after : std::prev(after))->text;
}

}  // namespace dyetrace::schema
