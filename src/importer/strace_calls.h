// Calls of strace's, read and written down: the arguments as registers and as what they are of, and what the call did to the process.
//
//   calls.begin(thread, call);                          knows from here on whose position and stream it moves
//   calls.end(thread, "read(3</tmp/x>, \"abc\", 10) = 3", start_ns, duration_ns, place);
//
// What an argument means is said in schema/syscalls.toml, in the order of the registers; strace prints most calls in the same one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importer/host_writer.h"
#include "importer/problems.h"
#include "importer/strace_files.h"
#include "importer/strace_tasks.h"
#include "importer/strace_text.h"
#include "schema/syscalls.h"

namespace dyetrace::importer {

class StraceCalls {
  public:
    StraceCalls(HostWriter& writer, LogTasks& tasks, LogObjects& objects, Problems& problems)
        : writer_(&writer), tasks_(&tasks), objects_(&objects), problems_(&problems) {}

    void begin(LogThread& thread, CallUnderWay call);
    // The call that begin() was told of, with all of its text. `duration_ns`: nothing if the log does not tell.
    void end(LogThread& thread,
             std::string_view text,
             std::optional<std::uint64_t> duration_ns,
             const Place& place);
    // It never returned.
    void leave(LogThread& thread, const Place& place);

  private:
    // A call while it is read.
    struct Reading {
        LogThread* thread;
        CallUnderWay begun;
        const schema::SyscallInfo* info;
        std::vector<std::string_view> arguments;  // in the order of the registers
        std::optional<CallResult> result;
        std::uint64_t end_ns;
        Place place;
        schema::SyscallEvent event = {};
        std::shared_ptr<OpenFile> file = nullptr, file2 = nullptr;
        std::optional<std::string> path = {}, path2 = {}, name = {}, name2 = {};  // as given
        std::optional<std::string> base = {}, base2 = {};  // where a relative path starts
        std::string address = {}, content = {};
        std::optional<std::string> payload = {};  // all bytes that moved
        std::vector<std::pair<std::int32_t, std::uint32_t>> made =
            {};  // descriptors and handles, of pipe and socketpair
        std::optional<std::uint32_t> open_flags = std::nullopt;
    };

    std::optional<Reading> read(LogThread& thread,
                                std::string_view text,
                                bool has_returned,
                                const Place& place);
    void read_argument(Reading& reading, std::size_t index);
    bool read_object_argument(Reading& reading,
                              std::size_t index,
                              std::string_view type,
                              std::string_view text);
    bool read_text_argument(Reading& reading,
                            std::size_t index,
                            std::string_view type,
                            std::string_view text);
    bool read_range_argument(Reading& reading,
                             std::size_t index,
                             std::string_view type,
                             std::string_view text);
    void read_number(Reading& reading,
                     std::size_t index,
                     std::string_view type,
                     std::string_view text);
    void read_vector(Reading& reading, std::string_view text);
    void read_message(Reading& reading, std::string_view text);

    // Does what the call did: what it made and moved before its event is written, what it ended after that.
    void take_effect(Reading& reading);
    void open_file(Reading& reading);
    void make_pair(Reading& reading);
    void make_socket(Reading& reading);
    void accept(Reading& reading);
    void connect(Reading& reading);
    void copy_descriptor(Reading& reading);
    void make_other(Reading& reading);
    void make_task(Reading& reading);
    void find_target(Reading& reading);
    void move(Reading& reading);
    void copy_bytes(Reading& reading);
    void take_late_effect(Reading& reading);
    void close(Reading& reading);
    void close_range(Reading& reading);
    void run_program(Reading& reading);
    void fill_renamed(Reading& reading);
    void change_folder(Reading& reading);
    void change_flags(Reading& reading);

    void abandon(const LogThread& thread, const CallUnderWay& call);
    void fill_objects(Reading& reading);
    void fill_bases(Reading& reading);
    void write(Reading& reading);
    void attach_content(Reading& reading);
    void write_unknown(LogThread& thread, std::string_view text, const Place& place);
    std::string absolute(const Reading& reading,
                         const std::optional<std::string>& base,
                         const std::string& path) const;
    FileTable& table_of(const Reading& reading) const { return *reading.thread->process->files; }

    HostWriter* writer_;
    LogTasks* tasks_;
    LogObjects* objects_;
    Problems* problems_;
};

}  // namespace dyetrace::importer
