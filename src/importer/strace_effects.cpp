// What calls do to the processes that make them: descriptors, positions, names, tasks.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "importer/strace_calls.h"
#include "importer/syscall_names.h"
#include "importer/words.h"

namespace dyetrace::importer {
namespace {

using schema::ObjectType;
using schema::SyscallEvent;

bool succeeded(const std::optional<CallResult>& result) {
    return result && result->value && *result->value >= 0;
}

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);  // npos + 1: all of it
}

}  // namespace

void StraceCalls::take_effect(Reading& reading) {
    move(reading);
    const std::string_view name = reading.begun.name;
    if (is_one_of(name, {"clone", "clone3", "fork", "vfork"})) {
        make_task(reading);
        return;
    }
    if (is_one_of(name, {"wait4", "waitid", "kill", "tgkill", "tkill"})) {
        find_target(reading);
        return;
    }
    if (name == "connect") {
        connect(reading);
        return;
    }
    if (!succeeded(reading.result)) {
        return;
    }
    if (is_one_of(name, {"sendfile", "splice", "tee", "copy_file_range"})) {
        copy_bytes(reading);
    } else if (is_one_of(name, {"pipe", "pipe2", "socketpair"})) {
        make_pair(reading);
    } else if (is_one_of(name, {"open", "openat", "openat2", "creat"})) {
        open_file(reading);
    } else if (name == "socket") {
        make_socket(reading);
    } else if (is_one_of(name, {"accept", "accept4"})) {
        accept(reading);
    } else if (is_one_of(name, {"dup", "dup2", "dup3", "fcntl"})) {
        copy_descriptor(reading);
    } else if (reading.info->returns == "fd") {
        make_other(reading);
    } else if (name == "lseek" && reading.file != nullptr) {
        reading.file->position.at = static_cast<std::uint64_t>(*reading.result->value);
    }
}

namespace {

// The descriptor that a call returned, also where the log has no -y.
Descriptor returned(const std::optional<CallResult>& result) {
    return result->descriptor
               ? *result->descriptor
               : Descriptor{.fd = static_cast<std::int32_t>(*result->value), .of = std::nullopt};
}

}  // namespace

void StraceCalls::open_file(Reading& reading) {
    const Descriptor made = returned(reading.result);
    const std::uint32_t flags = reading.open_flags.value_or(
        reading.begun.name == "creat" ? O_WRONLY | O_CREAT | O_TRUNC : 0);
    const std::string path = absolute(reading, reading.base, reading.path.value_or(""));
    if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) {
        objects_->unlink(made.of ? made.of->path : path);  // whatever had this name had lost it
    }
    std::shared_ptr<LogObject> object =
        made.of || path.empty()
            ? nullptr
            : objects_->at_path(
                  path, (flags & O_DIRECTORY) != 0 ? ObjectType::kDirectory : ObjectType::kFile);
    reading.file =
        objects_->install(table_of(reading), made, std::move(object), (flags & O_CLOEXEC) != 0);
    reading.file->flags = flags;
    reading.file->position.at = 0;
    if ((flags & O_DIRECTORY) != 0 && reading.file->object->facts.type == ObjectType::kFile) {
        reading.file->object->facts.type = ObjectType::kDirectory;
    }
    reading.event.fd = made.fd;
    reading.event.present |= SyscallEvent::kHasFd;
}

void StraceCalls::make_pair(Reading& reading) {
    const bool is_pipe = reading.begun.name != "socketpair";
    const std::size_t at = is_pipe ? 0 : 3;
    const auto ends = reading.arguments.size() > at ? elements_of(reading.arguments[at])
                                                    : std::vector<std::string_view>();
    const auto first = ends.size() == 2 ? descriptor_in(ends[0]) : std::nullopt;
    const auto second = ends.size() == 2 ? descriptor_in(ends[1]) : std::nullopt;
    if (!first || !second) {
        return;
    }
    const std::uint64_t flags = reading.event.arguments[1];
    const bool closes = (flags & O_CLOEXEC) != 0;  // SOCK_CLOEXEC is the same bit
    const ObjectType type = is_pipe ? ObjectType::kPipe : ObjectType::kSocket;
    std::shared_ptr<LogObject> object = objects_->nameless(type);
    std::shared_ptr<LogObject> other = is_pipe ? object : objects_->nameless(type);
    if (!is_pipe) {
        for (LogObject* const end : {object.get(), other.get()}) {
            end->facts.socket->family = static_cast<std::uint16_t>(reading.event.arguments[0]);
            end->facts.socket->socket_type =
                static_cast<std::uint16_t>(reading.event.arguments[1] & 0xf);
        }
        objects_->join_pair(*object, *other);
    }
    reading.file = objects_->install(table_of(reading), *first, object, closes);
    reading.file2 = objects_->install(table_of(reading), *second, other, closes);
    if (is_pipe) {
        reading.file->flags = O_RDONLY;
        reading.file2->flags = O_WRONLY;
    } else {
        objects_->join_pair(*reading.file->object, *reading.file2->object);
    }
    reading.event.fd = first->fd;
    reading.event.present |= SyscallEvent::kHasFd;
    const std::uint64_t now = reading.begun.start_ns;
    reading.made = {{first->fd, objects_->handle_of(*reading.file->object, now)},
                    {second->fd, objects_->handle_of(*reading.file2->object, now)}};
}

void StraceCalls::make_socket(Reading& reading) {
    const Descriptor made = returned(reading.result);
    std::shared_ptr<LogObject> object = objects_->nameless(ObjectType::kSocket);
    SocketFacts& ends = *object->facts.socket;
    ends.family = static_cast<std::uint16_t>(reading.event.arguments[0]);
    ends.socket_type = static_cast<std::uint16_t>(reading.event.arguments[1] & 0xf);
    ends.protocol = static_cast<std::uint16_t>(reading.event.arguments[2]);
    if (ends.protocol == 0 && (ends.family == AF_INET || ends.family == AF_INET6)) {
        ends.protocol = ends.socket_type == SOCK_STREAM  ? IPPROTO_TCP
                        : ends.socket_type == SOCK_DGRAM ? IPPROTO_UDP
                                                         : 0;
    }
    reading.file = objects_->install(table_of(reading),
                                     made,
                                     std::move(object),
                                     (reading.event.arguments[1] & SOCK_CLOEXEC) != 0);
    reading.event.fd = made.fd;
    reading.event.present |= SyscallEvent::kHasFd;
}

void StraceCalls::accept(Reading& reading) {
    const Descriptor made = returned(reading.result);
    std::shared_ptr<LogObject> object = objects_->nameless(ObjectType::kSocket);
    if (reading.file != nullptr && reading.file->object->facts.socket) {
        const SocketFacts& listener = *reading.file->object->facts.socket;
        object->facts.socket = SocketFacts{.family = listener.family,
                                           .socket_type = listener.socket_type,
                                           .protocol = listener.protocol};
    }
    reading.file2 = std::move(reading.file);
    reading.file = objects_->install(table_of(reading),
                                     made,
                                     std::move(object),
                                     (reading.event.arguments[3] & SOCK_CLOEXEC) != 0);
    reading.file->sent.at = reading.file->taken.at = 0;
    reading.event.fd = made.fd;
    reading.event.present |= SyscallEvent::kHasFd;
}

// Bytes can be counted once it is connected.
void StraceCalls::connect(Reading& reading) {
    const std::int64_t result = reading.result->value.value_or(-1);
    if ((result == 0 || result == -EINPROGRESS) && reading.file != nullptr &&
        !reading.file->sent.at) {
        reading.file->sent.at = reading.file->taken.at = 0;
    }
}

void StraceCalls::copy_descriptor(Reading& reading) {
    const Descriptor made = returned(reading.result);
    const std::string_view command = reading.begun.name == "fcntl" && reading.arguments.size() > 1
                                         ? reading.arguments[1]
                                         : "F_DUPFD";
    if (!command.starts_with("F_DUPFD")) {
        change_flags(reading);
        return;
    }
    if (reading.file == nullptr) {
        return;
    }
    const bool closes =
        command == "F_DUPFD_CLOEXEC" ||
        (reading.begun.name == "dup3" && (reading.event.arguments[2] & O_CLOEXEC) != 0);
    table_of(reading)[made.fd] = {reading.file, closes};
    reading.file2 = reading.file;
    reading.event.fd = made.fd;
}

// fcntl that sets flags of a descriptor or of its open file.
void StraceCalls::change_flags(Reading& reading) {
    const std::string_view command = reading.arguments.size() > 2 ? reading.arguments[1] : "";
    const auto entry = table_of(reading).find(reading.event.fd);
    if (entry == table_of(reading).end()) {
        return;
    }
    if (command == "F_SETFD") {
        entry->second.closes_on_exec =
            reading.arguments[2].find("FD_CLOEXEC") != std::string_view::npos ||
            reading.arguments[2] == "0x1";
    } else if (const auto flags = argument_number("open_flags", reading.arguments.back());
               command == "F_SETFL" && flags && entry->second.file->flags) {
        constexpr std::uint32_t kMayChange = O_APPEND | O_NONBLOCK | O_ASYNC | O_DIRECT | O_NOATIME;
        std::uint32_t& known = *entry->second.file->flags;
        known = (known & ~kMayChange) | (static_cast<std::uint32_t>(*flags) & kMayChange);
    }
}

// eventfd, epoll, memfd, inotify and their like.
void StraceCalls::make_other(Reading& reading) {
    const Descriptor made = returned(reading.result);
    std::string name = reading.begun.name;
    name = name.substr(0, name.find("_create"));
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') {
        name.pop_back();
    }
    reading.file = objects_->install(table_of(reading),
                                     made,
                                     objects_->nameless(ObjectType::kAnonymous, "[" + name + "]"),
                                     false);
    reading.event.fd = made.fd;
    reading.event.present |= SyscallEvent::kHasFd;
}

void StraceCalls::make_task(Reading& reading) {
    if (!succeeded(reading.result) || *reading.result->value == 0) {
        tasks_->clone_fails(*reading.thread);
        return;
    }
    const auto tid = static_cast<std::uint32_t>(*reading.result->value);
    LogThread* const known = tasks_->find(tid);
    if (known != nullptr && known != reading.thread && known->call &&
        known->start_ns < reading.begun.start_ns) {
        problems_->add_doubt("a task whose end is not in the log", reading.place);
        leave(*known, reading.place);  // its number came again
    }
    const LogThread& child = tasks_->clone_returns(*reading.thread, reading.begun, tid);
    reading.event.target_tid = tid;
    reading.event.target_start_ns = child.start_ns;
    reading.event.present |= SyscallEvent::kHasTarget;
}

void StraceCalls::find_target(Reading& reading) {
    const std::string_view name = reading.begun.name;
    std::int64_t pid = static_cast<std::int64_t>(reading.event.arguments[0]);
    if (name == "wait4") {
        pid = reading.result->value.value_or(0);
    } else if (name == "waitid") {
        const std::string_view info = reading.arguments.size() > 2 ? reading.arguments[2] : "";
        pid = static_cast<std::int64_t>(
            argument_number("int", member_of(info, "si_pid")).value_or(0));
    }
    const LogThread* const target =
        pid > 0 && pid <= UINT32_MAX ? tasks_->find(static_cast<std::uint32_t>(pid)) : nullptr;
    if (target != nullptr) {
        reading.event.target_tid = target->process->pid;
        reading.event.target_start_ns = target->process->start_ns;
        reading.event.present |= SyscallEvent::kHasTarget;
    }
}

// The position or stream that the call moved: where it began, if no other call moved it meanwhile.
void StraceCalls::move(Reading& reading) {
    if (reading.begun.moves == nullptr) {
        return;
    }
    OpenFile& file = *reading.begun.moves;
    Mover& mover = file.*reading.begun.mover;
    const bool is_alone = !mover.overlaps;
    if (--mover.under_way == 0) {
        mover.overlaps = false;
    }
    SyscallEvent& event = reading.event;
    const std::int64_t bytes = succeeded(reading.result) ? *reading.result->value : 0;
    const bool is_position = reading.begun.mover == &OpenFile::position;
    if (is_position && file.flags && (*file.flags & O_APPEND) != 0 &&
        (*file.flags & O_ACCMODE) != O_RDONLY) {
        mover.at.reset();  // it is written wherever the end is
        return;
    }
    if (!mover.at) {
        return;
    }
    if (is_alone && is_position) {
        event.file_offset = static_cast<std::int64_t>(*mover.at);
        event.present |= SyscallEvent::kHasFileOffset | SyscallEvent::kHasOffsetCertain;
    } else if (is_alone) {
        event.stream_offset = *mover.at;
        event.present |= SyscallEvent::kHasStreamOffset;
    }
    const bool peeks =
        std::any_of(reading.arguments.begin(), reading.arguments.end(), [](auto text) {
            return text.find("MSG_PEEK") != std::string_view::npos;
        });
    *mover.at += peeks ? 0 : static_cast<std::uint64_t>(bytes);
}

// Bytes between two descriptors; of sendfile the first is where they go.
void StraceCalls::copy_bytes(Reading& reading) {
    SyscallEvent& event = reading.event;
    const auto bytes = static_cast<std::uint64_t>(*reading.result->value);
    const bool to_first = reading.info->transfer == "copy_from";
    const auto take_place = [&](const std::shared_ptr<OpenFile>& file, bool is_second, bool sends) {
        if (file == nullptr || reading.begun.name == "tee") {
            return;
        }
        const bool is_tcp =
            file->object->facts.socket && file->object->facts.socket->protocol == IPPROTO_TCP;
        Mover& mover = is_tcp ? (sends ? file->sent : file->taken) : file->position;
        const std::uint32_t has_offset =
            is_second ? SyscallEvent::kHasFileOffset2 : SyscallEvent::kHasFileOffset;
        if (!is_tcp && (event.present & has_offset) != 0) {
            return;  // the call said where
        }
        if (mover.under_way > 0) {
            mover.at.reset();
        }
        if (!mover.at || (!is_tcp && file->object->facts.type != ObjectType::kFile)) {
            return;
        }
        if (is_tcp) {
            event.stream_offset = *mover.at;
            event.present |= SyscallEvent::kHasStreamOffset;
        } else if (is_second) {
            event.file_offset2 = static_cast<std::int64_t>(*mover.at);
            event.present |= SyscallEvent::kHasFileOffset2 | SyscallEvent::kHasOffset2Certain;
        } else {
            event.file_offset = static_cast<std::int64_t>(*mover.at);
            event.present |= SyscallEvent::kHasFileOffset | SyscallEvent::kHasOffsetCertain;
        }
        *mover.at += bytes;
    };
    take_place(reading.file, false, to_first);
    take_place(reading.file2, true, !to_first);
}

void StraceCalls::take_late_effect(Reading& reading) {
    if (!succeeded(reading.result)) {
        return;
    }
    const std::string_view name = reading.begun.name;
    if (name == "close") {
        close(reading);
    } else if (name == "close_range") {
        close_range(reading);
    } else if (is_one_of(name, {"execve", "execveat"})) {
        run_program(reading);
    } else if (is_one_of(name, {"unlink", "unlinkat"}) && reading.path) {
        objects_->unlink(absolute(reading, reading.base, *reading.path));
    } else if (is_one_of(name, {"chdir", "fchdir", "getcwd"})) {
        change_folder(reading);
    } else if (name == "prctl" && !reading.arguments.empty() &&
               reading.arguments[0] == "PR_SET_NAME") {
        if (const auto text =
                reading.arguments.size() > 1 ? quoted_string(reading.arguments[1]) : std::nullopt) {
            reading.thread->comm = text->bytes.substr(0, 15);
        }
    }
}

void StraceCalls::close(Reading& reading) {
    table_of(reading).erase(reading.event.fd);
}

void StraceCalls::close_range(Reading& reading) {
    FileTable& table = table_of(reading);
    const auto first = static_cast<std::uint32_t>(reading.event.arguments[0]);
    const auto last = static_cast<std::uint32_t>(reading.event.arguments[1]);
    const bool only_marks =
        reading.arguments.size() > 2 &&
        reading.arguments[2].find("CLOSE_RANGE_CLOEXEC") != std::string_view::npos;
    for (auto entry = table.begin(); entry != table.end();) {
        const auto fd = static_cast<std::uint32_t>(entry->first);
        if (fd < first || fd > last) {
            ++entry;
        } else if (only_marks) {
            (entry++)->second.closes_on_exec = true;
        } else {
            entry = table.erase(entry);
        }
    }
}

void StraceCalls::run_program(Reading& reading) {
    LogProcess& process = *reading.thread->process;
    process.files = std::make_shared<FileTable>(*process.files);  // no longer shared
    std::erase_if(*process.files, [](const auto& entry) { return entry.second.closes_on_exec; });
    process.exe = absolute(reading, reading.base, reading.path.value_or(""));
    process.comm = base_name(process.exe).substr(0, 15);
    reading.thread->comm.clear();
    process.command.clear();
    const std::size_t at = reading.begun.name == "execve" ? 1 : 2;
    if (reading.arguments.size() > at) {
        for (const std::string_view word : elements_of(reading.arguments[at])) {
            if (const auto text = quoted_string(word)) {
                process.command += text->bytes + '\0';
            }
        }
    }
}

void StraceCalls::change_folder(Reading& reading) {
    std::optional<std::string>& folder = reading.thread->process->folder;
    if (reading.begun.name == "chdir" && reading.path) {
        const std::string path = absolute(reading, std::nullopt, *reading.path);
        folder = path.starts_with('/') ? std::optional(path) : std::nullopt;
    } else if (reading.begun.name == "fchdir") {
        folder = reading.file != nullptr && !reading.file->object->facts.path.empty()
                     ? std::optional(reading.file->object->facts.path)
                     : std::nullopt;
    } else if (const auto text =
                   reading.arguments.empty() ? std::nullopt : quoted_string(reading.arguments[0])) {
        folder = text->bytes;
    }
}

}  // namespace dyetrace::importer
