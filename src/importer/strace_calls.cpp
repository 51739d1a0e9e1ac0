#include "importer/strace_calls.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "content/fingerprint.h"
#include "importer/strace_line.h"
#include "importer/syscall_names.h"
#include "schema/record.h"

namespace dyetrace::importer {
namespace {

using schema::Attachment;
using schema::ObjectType;
using schema::SyscallEvent;

constexpr std::uint16_t kProtocolTcp = 6;

bool makes_task(std::string_view name) {
    return name == "clone" || name == "clone3" || name == "fork" || name == "vfork";
}

bool has_argument(const schema::SyscallInfo& call, std::initializer_list<std::string_view> types) {
    return std::any_of(call.arguments.begin(),
                       call.arguments.begin() + call.argument_count,
                       [&](const schema::ArgumentInfo& argument) {
                           return std::find(types.begin(), types.end(), argument.type) !=
                                  types.end();
                       });
}

// Which of an open file's movers a call that has begun will move; null: none.
Mover OpenFile::*mover_of(const schema::SyscallInfo& call, const LogObject& object) {
    const bool takes = call.transfer == "read";
    const bool gives = schema::gives_bytes(call);
    if (!call.is_io || call.returns != "bytes" || (!takes && !gives)) {
        return nullptr;
    }
    if (object.facts.type == ObjectType::kSocket) {
        return object.facts.socket->protocol != kProtocolTcp ? nullptr
               : takes                                       ? &OpenFile::taken
                                                             : &OpenFile::sent;
    }
    const bool is_file =
        object.facts.type == ObjectType::kFile || object.facts.type == ObjectType::kBlockDevice;
    return is_file && !has_argument(call, {"offset", "offset_low"}) ? &OpenFile::position : nullptr;
}

std::string_view first_argument(std::string_view text) {
    const std::size_t open = text.find('(');
    return open == std::string_view::npos ? std::string_view() : text.substr(open + 1);
}

}  // namespace

void StraceCalls::begin(LogThread& thread, CallUnderWay call) {
    thread.call = std::move(call);
    CallUnderWay& begun = *thread.call;
    if (makes_task(begun.name)) {
        tasks_->clone_begins(thread);
    }
    const schema::SyscallInfo* const info = find_call(begun.name);
    const auto descriptor = descriptor_in(first_argument(begun.text));
    if (info == nullptr || !info->is_io || !descriptor || descriptor->is_cwd) {
        return;
    }
    std::shared_ptr<OpenFile> file = objects_->resolve(*thread.process->files, *descriptor);
    Mover OpenFile::*const mover = file != nullptr ? mover_of(*info, *file->object) : nullptr;
    if (mover != nullptr) {
        Mover& moved = (*file).*mover;
        moved.overlaps = moved.overlaps || moved.under_way > 0;
        ++moved.under_way;
        begun.moves = std::move(file);
        begun.mover = mover;
    }
}

void StraceCalls::end(LogThread& thread,
                      std::string_view text,
                      std::optional<std::uint64_t> duration_ns,
                      const Place& place) {
    const std::uint64_t start_ns = thread.call->start_ns;
    thread.last_ns = start_ns + duration_ns.value_or(0);
    auto read_call = read(thread, text, true, place);
    if (!read_call) {
        return;
    }
    Reading& reading = *read_call;
    reading.end_ns = thread.last_ns;
    if (reading.info == nullptr) {
        write_unknown(thread, text, place);
        return;
    }
    SyscallEvent& event = reading.event;
    if (duration_ns) {
        event.duration_ns = event.off_cpu_ns = *duration_ns;  // where it ran is not in the log
        event.present |= SyscallEvent::kHasDuration;
    }
    if (reading.result->value) {
        event.result = *reading.result->value;
        event.present |= SyscallEvent::kHasResult;
    } else {
        event.state = static_cast<std::uint8_t>(schema::State::kUnfinished);
    }
    const std::size_t count =
        std::min<std::size_t>(reading.arguments.size(), reading.info->argument_count);
    for (std::size_t i = 0; i < count; ++i) {
        read_argument(reading, i);
    }
    if (reading.info->returns == "bytes" && event.result >= 0 && reading.result->value) {
        event.bytes = event.result;
        event.present |= SyscallEvent::kHasBytes;
    }
    take_effect(reading);
    write(reading);
    take_late_effect(reading);
}

// Nobody knows what the call did: what it would have moved is not known from here on.
void StraceCalls::abandon(const LogThread& thread, const CallUnderWay& call) {
    if (makes_task(call.name)) {
        tasks_->clone_fails(thread);
    }
    if (call.moves != nullptr) {
        Mover& mover = (*call.moves).*call.mover;
        mover.at.reset();
        --mover.under_way;
    }
}

void StraceCalls::leave(LogThread& thread, const Place& place) {
    const std::string text = thread.call->text;
    thread.last_ns = std::max(thread.last_ns, thread.call->start_ns);
    auto reading = read(thread, text, false, place);
    abandon(thread, reading->begun);
    if (reading->info == nullptr) {
        problems_->add_lost("a call that this version does not know, and that did not return",
                            place);
        return;
    }
    reading->event.state = static_cast<std::uint8_t>(schema::State::kUnfinished);
    const std::size_t count =
        std::min<std::size_t>(reading->arguments.size(), reading->info->argument_count);
    for (std::size_t i = 0; i < count; ++i) {
        read_argument(*reading, i);
    }
    write(*reading);
}

std::string StraceCalls::absolute(const Reading& reading,
                                  const std::optional<std::string>& base,
                                  const std::string& path) const {
    if (path.starts_with('/')) {
        return path;
    }
    const std::optional<std::string>& folder = base ? base : reading.thread->process->folder;
    if (!folder) {
        return path;
    }
    return folder->ends_with('/') ? *folder + path : *folder + "/" + path;
}

void StraceCalls::attach_content(Reading& reading) {
    const SyscallEvent& event = reading.event;
    if (!reading.payload || (event.present & SyscallEvent::kHasBytes) == 0 || event.bytes <= 0 ||
        reading.payload->size() < static_cast<std::uint64_t>(event.bytes)) {
        return;
    }
    content_found content{};
    content.fingerprint = content::fingerprint(
        std::as_bytes(std::span(*reading.payload).first(static_cast<std::size_t>(event.bytes))));
    reading.content.assign(reinterpret_cast<const char*>(&content), offsetof(content_found, sum));
}

// What is renamed is the same object under both names; what it changes places with has a new name, too.
void StraceCalls::fill_renamed(Reading& reading) {
    SyscallEvent& event = reading.event;
    const std::string_view name = reading.begun.name;
    const bool has_succeeded = event.present & SyscallEvent::kHasResult && event.result == 0;
    if ((name != "rename" && name != "renameat" && name != "renameat2") || !reading.path ||
        !reading.path2 || !has_succeeded) {
        return;
    }
    const std::string from = absolute(reading, reading.base, *reading.path);
    const std::string to = absolute(reading, reading.base2, *reading.path2);
    const std::uint64_t start_ns = reading.begun.start_ns;
    const bool exchanges = reading.arguments.size() > 4 &&
                           reading.arguments[4].find("RENAME_EXCHANGE") != std::string_view::npos;
    const std::shared_ptr<LogObject> known = objects_->known(from);
    const std::shared_ptr<LogObject> other = exchanges ? objects_->known(to) : nullptr;
    if (known != nullptr) {
        event.handle_id = objects_->handle_of(*known, start_ns);
    }
    objects_->rename(from, to, exchanges);
    if (other != nullptr) {
        objects_->handle_of(*other, start_ns);
    }
    if (known != nullptr) {
        event.handle2_id = objects_->handle_of(*known, start_ns);
        event.present |= SyscallEvent::kHasHandle | SyscallEvent::kHasHandle2;
    }
}

// What the call acted on, and its class by that.
void StraceCalls::fill_objects(Reading& reading) {
    fill_renamed(reading);
    SyscallEvent& event = reading.event;
    const std::uint64_t start_ns = reading.begun.start_ns;
    if (reading.file2 != nullptr) {
        event.handle2_id = objects_->handle_of(*reading.file2->object, start_ns);
        event.present |= SyscallEvent::kHasHandle2;
    }
    if (reading.file == nullptr) {
        return;
    }
    event.handle_id = objects_->handle_of(*reading.file->object, start_ns);
    event.present |= SyscallEvent::kHasHandle;
    if (reading.file->flags) {
        event.open_flags = *reading.file->flags;
        event.present |= SyscallEvent::kHasOpenFlags;
    }
    const ObjectType type = reading.file->object->facts.type;
    if (reading.info->is_io) {
        event.event_class =
            static_cast<std::uint8_t>(type == ObjectType::kSocket ? schema::Class::kNetwork
                                      : type == ObjectType::kPipe ? schema::Class::kPipe
                                                                  : schema::Class::kFile);
    }
}

// Where a relative path starts, if nothing is known of what it leads to.
void StraceCalls::fill_bases(Reading& reading) {
    SyscallEvent& event = reading.event;
    const auto fill = [&](const std::optional<std::string>& path,
                          const std::optional<std::string>& given_base,
                          std::uint32_t& handle,
                          std::uint32_t has_handle,
                          std::uint32_t names_base) {
        const auto& base = given_base ? given_base : reading.thread->process->folder;
        if (path && !path->starts_with('/') && base && (event.present & has_handle) == 0) {
            handle = objects_->handle_of(*objects_->at_path(*base, ObjectType::kDirectory),
                                         reading.begun.start_ns);
            event.present |= has_handle | names_base;
        }
    };
    fill(reading.path,
         reading.base,
         event.handle_id,
         SyscallEvent::kHasHandle,
         SyscallEvent::kHasNamesBase);
    fill(reading.path2,
         reading.base2,
         event.handle2_id,
         SyscallEvent::kHasHandle2,
         SyscallEvent::kHasNamesBase2);
}

void StraceCalls::write(Reading& reading) {
    SyscallEvent& event = reading.event;
    const std::uint64_t start_ns = reading.begun.start_ns;
    event.start_ns = start_ns;
    event.syscall = reading.info->number;
    event.abi = static_cast<std::uint8_t>(reading.info->abi);
    event.event_class = static_cast<std::uint8_t>(reading.info->event_class);
    event.context_id = tasks_->context_of(*reading.thread, start_ns);
    fill_objects(reading);
    fill_bases(reading);
    attach_content(reading);
    std::vector<Attached> attached;
    const auto attach = [&](Attachment kind, const std::optional<std::string>& text) {
        if (text) {
            attached.emplace_back(kind, *text);
        }
    };
    const auto attach_bytes = [&](Attachment kind, const std::string& bytes) {
        if (!bytes.empty()) {
            attached.emplace_back(kind, bytes);
        }
    };
    attach(Attachment::kPath, reading.path);
    attach(Attachment::kPath2, reading.path2);
    attach_bytes(Attachment::kAddress, reading.address);
    attach(Attachment::kName, reading.name);
    attach(Attachment::kName2, reading.name2);
    attach_bytes(Attachment::kContent, reading.content);
    const std::uint64_t sequence = writer_->add(event, attached);
    for (const auto& [fd, handle] : reading.made) {
        schema::EventObject made{};
        made.parent_sequence = sequence;
        made.range_begin = made.range_end = -1;
        made.handle_id = handle;
        made.fd = fd;
        made.role = static_cast<std::uint8_t>(schema::EventRole::kCreated);
        writer_->add_follower(made);
    }
}

// Not in the table of this version: it is there by name, and with its words.
void StraceCalls::write_unknown(LogThread& thread, std::string_view text, const Place& place) {
    problems_->add_doubt("a call that this version does not know: it is there with its words only",
                         place);
    schema::LogEvent event{};
    event.start_ns = thread.last_ns;
    event.context_id = tasks_->context_of(thread, thread.last_ns);
    event.kind = static_cast<std::uint8_t>(schema::Kind::kImport);
    event.severity = 6;
    const std::string_view name = text.substr(0, text.find('('));
    const Attached attached[] = {{Attachment::kText, text}, {Attachment::kName, name}};
    writer_->add(event, attached);
}

}  // namespace dyetrace::importer
