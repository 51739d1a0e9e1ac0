// The small language of this folder's tests: an event by the call's name, its registers and its result.
//
//   Call("openat").arguments({kAtFdcwd, 0x7000, 0}).result(-2).path("a/b").line()
//        == R"(openat(AT_FDCWD, "a/b", O_RDONLY) = -1 ENOENT (No such file or directory))"
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "format/line.h"
#include "schema/record_builder.h"
#include "schema/shared/preview.h"

namespace dyetrace::format {

constexpr std::uint64_t kAtFdcwd = 0xffffff9c;

inline schema::OwnedRecord task_record(std::uint32_t id,
                                       std::uint32_t pid,
                                       std::uint32_t tid,
                                       std::string_view comm) {
    schema::TaskContext task{};
    task.context_id = id;
    task.pid = pid;
    task.tid = tid;
    task.process_start_ns = task.thread_start_ns = std::uint64_t{1} << 26;
    std::memcpy(task.comm, comm.data(), comm.size());
    return schema::build(task, {{schema::Attachment::kExe, "/usr/bin/x"}});
}

inline schema::OwnedRecord handle_record(std::uint32_t id,
                                         std::string_view path,
                                         schema::ObjectType type = schema::ObjectType::kFile,
                                         std::uint64_t inode = 12) {
    schema::Handle handle{};
    handle.handle_id = id;
    handle.object_id = id;
    handle.inode = inode;
    handle.object_type = static_cast<std::uint8_t>(type);
    std::memcpy(handle.file_system, "ext4", 4);
    return schema::build(handle, {{schema::Attachment::kPath, path}});
}

template <typename T>
std::string bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

inline const LineStyle kTight{.result_column = 0};

// Details that are the same for every call.
struct Details : CallDetails {
    explicit Details(const CallDetail& detail) : detail_(detail) {}
    CallDetail of(const schema::SyscallInfo&, const schema::SyscallEvent&) const override {
        return detail_;
    }
    CallDetail detail_;
};

class Call {
  public:
    explicit Call(std::string_view name, schema::Abi abi = schema::Abi::kX8664) {
        for (const schema::SyscallInfo& info : schema::syscalls_of(abi)) {
            if (info.name == name) {
                event_.syscall = info.number;
                event_.event_class = static_cast<std::uint8_t>(info.event_class);
            }
        }
        event_.abi = static_cast<std::uint8_t>(abi);
        event_.context_id = 7;
    }
    Call& arguments(std::initializer_list<std::uint64_t> values) {
        std::copy(values.begin(), values.end(), event_.arguments);
        return *this;
    }
    Call& result(std::int64_t value) {
        event_.result = value;
        event_.present |= schema::SyscallEvent::kHasResult;
        return *this;
    }
    Call& unfinished() {
        event_.state = static_cast<std::uint8_t>(schema::State::kUnfinished);
        return *this;
    }
    Call& took(std::uint64_t start_ns, std::uint64_t duration_ns) {
        event_.start_ns = start_ns;
        event_.duration_ns = duration_ns;
        event_.present |= schema::SyscallEvent::kHasDuration;
        return *this;
    }
    Call& fd(std::int32_t fd, std::uint32_t handle) {
        event_.fd = fd;
        event_.handle_id = handle;
        event_.present |= schema::SyscallEvent::kHasFd | schema::SyscallEvent::kHasHandle;
        return *this;
    }
    // What a path starts from, as the second object.
    Call& base2(std::uint32_t handle) {
        event_.handle2_id = handle;
        return bit(schema::SyscallEvent::kHasHandle2 | schema::SyscallEvent::kHasNamesBase2);
    }
    Call& bit(std::uint32_t bits) {
        event_.present |= bits;
        return *this;
    }
    Call& without(std::uint32_t bits) {
        event_.present &= ~bits;
        return *this;
    }
    schema::SyscallEvent& event() { return event_; }
    Call& attach(schema::Attachment kind, std::string bytes) {
        attachments_.emplace_back(kind, std::move(bytes));
        return *this;
    }
    Call& path(std::string bytes) { return attach(schema::Attachment::kPath, std::move(bytes)); }
    Call& structure(std::uint8_t index, const std::string& bytes) {
        return attach(schema::Attachment::kStructure,
                      std::string(1, static_cast<char>(index)) + std::string(7, '\0') + bytes);
    }
    Call& preview(std::uint8_t index, const std::string& bytes) {
        return attach(schema::Attachment::kPreview,
                      std::string(1, static_cast<char>(index)) + std::string(7, '\0') + bytes);
    }

    // The preview of a vector.
    Call& parts(std::uint8_t index, const std::vector<std::string>& parts) {
        std::vector<std::uint16_t> lengths(PREVIEW_VECTORS_MAX);
        std::string bytes;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            lengths[i] = static_cast<std::uint16_t>(parts[i].size());
            bytes += parts[i];
        }
        return preview(
            index,
            std::string(reinterpret_cast<const char*>(lengths.data()), PREVIEW_LENGTHS_BYTES) +
                bytes);
    }

    schema::OwnedRecord record() const {
        std::vector<std::pair<schema::Attachment, std::string_view>> views(attachments_.begin(),
                                                                           attachments_.end());
        return schema::build(event_, views);
    }

    std::string line(const LineStyle& style = {},
                     const schema::Dictionary& dictionary = schema::Dictionary()) const {
        std::string out;
        LineWriter(style, dictionary).append(out, record().bytes());
        return out;
    }

  private:
    schema::SyscallEvent event_{};
    std::vector<std::pair<schema::Attachment, std::string>> attachments_;
};

}  // namespace dyetrace::format
