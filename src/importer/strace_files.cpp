#include "importer/strace_files.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <utility>

#include "importer/addresses.h"

namespace dyetrace::importer {
namespace {

using schema::ObjectType;

constexpr std::string_view file_system_of(ObjectType type) {
    switch (type) {
        case ObjectType::kPipe:
            return "pipefs";
        case ObjectType::kSocket:
            return "sockfs";
        case ObjectType::kAnonymous:
            return "anon_inodefs";
        default:
            return "";  // a path does not tell
    }
}

// Empty: it has no name that leads to it.
std::string key_of(const Decoration& of) {
    switch (of.type) {
        case ObjectType::kPipe:
            return fmt::format("pipe {}", of.inode);
        case ObjectType::kSocket:
            if (of.inode > 0) {
                return fmt::format("socket {}", of.inode);
            }
            return of.local_port > 0 || of.remote_port > 0
                       ? fmt::format("socket {} {} {}",
                                     of.protocol,
                                     end_text(of.local_address, of.local_port),
                                     end_text(of.remote_address, of.remote_port))
                       : "";
        case ObjectType::kAnonymous:
            return "";
        default:
            return "file " + of.path;
    }
}

}  // namespace

std::shared_ptr<LogObject> LogObjects::nameless(ObjectType type, std::string path) {
    auto object = std::make_shared<LogObject>();
    object->facts.object_id = writer_->new_object();
    object->facts.type = type;
    object->facts.file_system = file_system_of(type);
    object->facts.path = std::move(path);
    if (type == ObjectType::kSocket) {
        object->facts.socket.emplace();
    }
    return object;
}

std::shared_ptr<LogObject> LogObjects::at_path(const std::string& path, ObjectType type) {
    std::shared_ptr<LogObject>& object = by_key_["file " + path];
    if (object == nullptr) {
        object = nameless(type, path);
    }
    return object;
}

std::shared_ptr<LogObject> LogObjects::decorated(const Decoration& of) {
    const std::string key = key_of(of);
    std::shared_ptr<LogObject> made;
    std::shared_ptr<LogObject>& object = key.empty() || of.is_deleted ? made : by_key_[key];
    if (object == nullptr) {
        object = nameless(of.type, of.path);
        object->facts.inode = of.inode;
    }
    if (of.type == ObjectType::kSocket) {
        learn_socket(*object, of);
    }
    return object;
}

// A file that was renamed or unlinked is still the one that was opened.
bool LogObjects::is_of(const LogObject& object, const Decoration& of) const {
    if (object.facts.type == ObjectType::kUnknown) {
        return false;
    }
    switch (of.type) {
        case ObjectType::kPipe:
            return object.facts.type == of.type &&
                   (object.facts.inode == 0 || object.facts.inode == of.inode);
        case ObjectType::kSocket:
        case ObjectType::kAnonymous:
            return object.facts.type == of.type;
        default: {
            if (object.facts.path == of.path || of.is_deleted) {
                return true;
            }
            const auto other = by_key_.find("file " + of.path);
            return other != by_key_.end() && other->second.get() == &object;
        }
    }
}

void LogObjects::learn_socket(LogObject& object, const Decoration& of) {
    SocketFacts& ends = *object.facts.socket;
    const auto learn = [](auto& known, const auto& said) {
        if (said != std::decay_t<decltype(said)>()) {
            known = said;
        }
    };
    learn(ends.family, of.family);
    learn(ends.socket_type, of.socket_type);
    learn(ends.protocol, of.protocol);
    learn(ends.local_address, of.local_address);
    learn(ends.local_port, of.local_port);
    learn(ends.remote_address, of.remote_address);
    learn(ends.remote_port, of.remote_port);
    learn(ends.unix_path, of.unix_path);
    learn(object.facts.inode, of.inode);
    if (of.peer_inode > 0) {
        std::shared_ptr<LogObject>& peer = by_key_[fmt::format("socket {}", of.peer_inode)];
        if (peer == nullptr) {
            peer = nameless(ObjectType::kSocket);
        }
        ends.peer_object_id = peer->facts.object_id;
    }
    learn_ends(object);
}

// What is said of an object leads to it from now on.
void LogObjects::remember(const std::shared_ptr<LogObject>& object, const Decoration& of) {
    if (of.type == ObjectType::kSocket) {
        learn_socket(*object, of);
    } else if (of.inode > 0) {
        object->facts.inode = of.inode;
    }
    if ((of.type == ObjectType::kSocket || of.type == ObjectType::kPipe) && !key_of(of).empty()) {
        by_key_.insert_or_assign(key_of(of), object);
    }
}

// The n-th connection between two ends is the n-th for both: each side counts its own.
void LogObjects::learn_ends(LogObject& object) {
    SocketFacts& ends = *object.facts.socket;
    if (ends.protocol != 6 || ends.connection_id != 0 || ends.local_port == 0 ||
        ends.remote_port == 0) {
        return;
    }
    const std::string own = end_text(ends.local_address, ends.local_port);
    const std::string other = end_text(ends.remote_address, ends.remote_port);
    const std::uint64_t turn = connections_[own + " " + other]++;
    ends.connection_id = connection_of(own, other, turn);
}

std::shared_ptr<OpenFile> LogObjects::resolve(FileTable& table, const Descriptor& descriptor) {
    const auto known = table.find(descriptor.fd);
    if (!descriptor.of) {
        return known != table.end() ? known->second.file : nullptr;
    }
    if (known != table.end() && is_of(*known->second.file->object, *descriptor.of)) {
        remember(known->second.file->object, *descriptor.of);
        return known->second.file;
    }
    auto file = std::make_shared<OpenFile>();
    file->object = decorated(*descriptor.of);
    table[descriptor.fd] = {file, false};
    return file;
}

std::shared_ptr<OpenFile> LogObjects::install(FileTable& table,
                                              const Descriptor& descriptor,
                                              std::shared_ptr<LogObject> object,
                                              bool closes_on_exec) {
    auto file = std::make_shared<OpenFile>();
    if (descriptor.of && (object == nullptr || !is_of(*object, *descriptor.of))) {
        object = decorated(*descriptor.of);
    } else if (object == nullptr) {
        object = nameless(ObjectType::kUnknown);
    }
    if (descriptor.of) {
        remember(object, *descriptor.of);
    }
    file->object = std::move(object);
    table[descriptor.fd] = {file, closes_on_exec};
    return file;
}

std::uint32_t LogObjects::handle_of(LogObject& object, std::uint64_t time_ns) {
    if (!object.announced || *object.announced != object.facts) {
        object.announced = object.facts;
        object.handle = writer_->announce(object.facts, time_ns);
    }
    return object.handle;
}

std::shared_ptr<LogObject> LogObjects::known(const std::string& path) const {
    const auto found = by_key_.find("file " + path);
    return found == by_key_.end() ? nullptr : found->second;
}

void LogObjects::rename(const std::string& from, const std::string& to, bool exchanges) {
    auto moved = by_key_.extract("file " + from), replaced = by_key_.extract("file " + to);
    const auto move = [&](auto& node, const std::string& path) {
        node.mapped()->facts.path = path;
        node.key() = "file " + path;
        by_key_.insert(std::move(node));
    };
    if (exchanges && !replaced.empty()) {
        move(replaced, from);
    }
    if (!moved.empty()) {
        move(moved, to);
    }
}

void LogObjects::join_pair(LogObject& a, LogObject& b) {
    if (a.facts.socket && b.facts.socket) {
        a.facts.socket->peer_object_id = b.facts.object_id;
        b.facts.socket->peer_object_id = a.facts.object_id;
    }
}

}  // namespace dyetrace::importer
