// Who is who in a log of strace: threads by number, the processes that they are of, which call made them.
//
// A number that no clone returned yet is the child of the clone that has been under way for longest: strace writes a child's first line
// often before its parent's clone has returned.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importer/host_writer.h"
#include "importer/strace_files.h"

namespace dyetrace::importer {

struct LogProcess {
    std::uint32_t pid = 0;
    std::uint64_t start_ns = 0;
    std::uint32_t ppid = 0;
    std::uint64_t parent_start_ns = 0;
    std::shared_ptr<FileTable> files = std::make_shared<FileTable>();  // shared with CLONE_FILES
    std::optional<std::string> folder;  // current; nothing: not known
    std::string comm = {}, exe = {}, command = {};
};

// A call that has begun.
struct CallUnderWay {
    std::string name = {};
    std::string text = {};  // "read(3</tmp/x>, "
    std::uint64_t start_ns = 0;
    std::uint64_t line = 0;
    std::shared_ptr<OpenFile> moves = {};  // whose position or stream it moves
    Mover OpenFile::*mover = nullptr;
    std::optional<std::uint32_t> child = std::nullopt;  // a clone: who appeared meanwhile
};

struct LogThread {
    std::uint32_t tid = 0;
    std::uint64_t start_ns = 0;
    std::shared_ptr<LogProcess> process = {};  // shared by its threads
    std::string comm = {};                     // empty: the process's
    std::optional<CallUnderWay> call;
    std::uint64_t last_ns = 0;  // what it did until now had ended
    std::uint32_t context = 0;
    TaskFacts announced;
    bool has_ended = false;
};

class LogTasks {
  public:
    explicit LogTasks(HostWriter& writer) : writer_(&writer) {}

    // The thread of a line; made if it is new.
    LogThread& at(std::uint32_t tid, std::uint64_t time_ns);
    LogThread* find(std::uint32_t tid);
    // A call that makes a task begins, and returns `tid`; the latter gives its thread, which may have been there before its parent knew.
    void clone_begins(const LogThread& parent) { cloning_.push_back(parent.tid); }
    LogThread& clone_returns(LogThread& parent, const CallUnderWay& call, std::uint32_t tid);
    void clone_fails(const LogThread& parent);
    std::uint32_t context_of(LogThread& thread, std::uint64_t time_ns);

    std::vector<LogThread*> all();

  private:
    void make_child(LogThread& child, const LogThread& parent, std::string_view clone);
    LogThread* parent_of_newcomer();

    HostWriter* writer_;
    std::unordered_map<std::uint32_t, std::unique_ptr<LogThread>> threads_;  // stay where they are
    std::vector<std::uint32_t> cloning_;  // threads with such a call under way, the longest first
};

}  // namespace dyetrace::importer
