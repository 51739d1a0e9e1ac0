#include "importer/strace_tasks.h"

#include <algorithm>
#include <utility>

namespace dyetrace::importer {

LogThread* LogTasks::find(std::uint32_t tid) {
    const auto found = threads_.find(tid);
    return found != threads_.end() ? found->second.get() : nullptr;
}

LogThread* LogTasks::parent_of_newcomer() {
    for (const std::uint32_t tid : cloning_) {
        LogThread* const parent = find(tid);
        if (parent != nullptr && parent->call && !parent->call->child) {
            return parent;
        }
    }
    return nullptr;
}

LogThread& LogTasks::at(std::uint32_t tid, std::uint64_t time_ns) {
    std::unique_ptr<LogThread>& place = threads_[tid];
    if (place != nullptr && !place->has_ended) {
        return *place;
    }
    place = std::make_unique<LogThread>();  // its number came again, if there was one
    LogThread& thread = *place;
    thread.tid = tid;
    thread.start_ns = time_ns;
    if (LogThread* const parent = parent_of_newcomer()) {
        parent->call->child = tid;
        make_child(thread, *parent, parent->call->text);
        return thread;
    }
    thread.process = std::make_shared<LogProcess>();
    thread.process->pid = tid;
    thread.process->start_ns = time_ns;
    return thread;
}

// What the words of the call say: CLONE_THREAD, CLONE_FILES. fork and vfork say nothing.
void LogTasks::make_child(LogThread& child, const LogThread& parent, std::string_view clone) {
    child.comm = parent.comm;
    if (clone.find("CLONE_THREAD") != std::string_view::npos) {
        child.process = parent.process;
        return;
    }
    child.process = std::make_shared<LogProcess>(*parent.process);
    LogProcess& process = *child.process;
    process.pid = child.tid;
    process.start_ns = child.start_ns;
    process.ppid = parent.process->pid;
    process.parent_start_ns = parent.process->start_ns;
    if (clone.find("CLONE_FILES") == std::string_view::npos) {
        process.files = std::make_shared<FileTable>(*parent.process->files);
    }
}

LogThread& LogTasks::clone_returns(LogThread& parent, const CallUnderWay& call, std::uint32_t tid) {
    clone_fails(parent);
    if (tid == parent.tid) {  // a damaged log
        return parent;
    }
    LogThread* const known = find(tid);
    if (known != nullptr && !known->has_ended &&
        (call.child == tid || known->start_ns >= call.start_ns)) {
        if (call.child != tid) {  // taken for another one's child
            make_child(*known, parent, call.text);
        }
        return *known;
    }
    std::unique_ptr<LogThread>& place = threads_[tid];
    place = std::make_unique<LogThread>();
    place->tid = tid;
    place->start_ns = call.start_ns;
    make_child(*place, parent, call.text);
    return *place;
}

void LogTasks::clone_fails(const LogThread& parent) {
    const auto here = std::find(cloning_.begin(), cloning_.end(), parent.tid);
    if (here != cloning_.end()) {
        cloning_.erase(here);
    }
}

std::uint32_t LogTasks::context_of(LogThread& thread, std::uint64_t time_ns) {
    const LogProcess& process = *thread.process;
    const std::string& comm = thread.comm.empty() ? process.comm : thread.comm;
    const TaskFacts& known = thread.announced;
    if (thread.context != 0 && known.pid == process.pid && known.tid == thread.tid &&
        known.ppid == process.ppid && known.comm == comm && known.exe == process.exe &&
        known.command == process.command) {
        return thread.context;
    }
    thread.announced = {.pid = process.pid,
                        .tid = thread.tid,
                        .ppid = process.ppid,
                        .process_start_ns = process.start_ns,
                        .thread_start_ns = thread.start_ns,
                        .parent_start_ns = process.parent_start_ns,
                        .comm = comm,
                        .exe = process.exe,
                        .command = process.command};
    thread.context = writer_->announce(thread.announced, time_ns);
    return thread.context;
}

std::vector<LogThread*> LogTasks::all() {
    std::vector<LogThread*> threads;
    for (const auto& [tid, thread] : threads_) {
        threads.push_back(thread.get());
    }
    std::sort(threads.begin(), threads.end(), [](const LogThread* a, const LogThread* b) {
        return a->tid < b->tid;
    });
    return threads;
}

}  // namespace dyetrace::importer
