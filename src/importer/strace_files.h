// What descriptors stand for while a log of strace goes by: tables of processes, open files, the objects that these refer to.
//
//   process 7   3 ─► open file (position 4096) ─► object /tmp/x        fork copies the table, dup makes another way to the open file,
//   process 8   3 ─┘                                                    a second open() makes another open file of the object
//
// With -y and -yy each use of a descriptor says what it is of, and wins over what was known; without, the calls that made it tell.
// An object is told by its inode (pipes, sockets) or, files, by its path: rename moves it, unlink ends it.
// Memory: 300 bytes for each object that the log has.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "importer/host_writer.h"
#include "importer/strace_text.h"

namespace dyetrace::importer {

struct LogObject {
    ObjectFacts facts;
    std::uint32_t handle = 0;  // 0: not announced
    std::optional<ObjectFacts> announced = std::nullopt;
};

// One direction, or a position in a file: what moves it, if that can be said.
struct Mover {
    std::optional<std::uint64_t> at = std::nullopt;  // nothing: not known
    std::uint32_t under_way = 0;
    bool overlaps =
        false;  // with another call, since one was under way: who was first is not known
};

struct OpenFile {
    std::shared_ptr<LogObject> object;                  // shared by all that opened it
    std::optional<std::uint32_t> flags = std::nullopt;  // O_*
    Mover position = {}, sent = {}, taken = {};
};

struct TableEntry {
    std::shared_ptr<OpenFile> file;  // shared by descriptors that were copied
    bool closes_on_exec = false;
};

using FileTable = std::map<std::int32_t, TableEntry>;

class LogObjects {
  public:
    explicit LogObjects(HostWriter& writer) : writer_(&writer) {}

    // The object of a path, made if it is new; `type` where nothing is known of it.
    std::shared_ptr<LogObject> at_path(const std::string& path, schema::ObjectType type);
    // One that no name leads to.
    std::shared_ptr<LogObject> nameless(schema::ObjectType type, std::string path = {});
    std::shared_ptr<LogObject> decorated(const Decoration& of);

    // What a descriptor in the log stands for: what the table has, if the decoration does not say otherwise. Null: nothing is known.
    std::shared_ptr<OpenFile> resolve(FileTable& table, const Descriptor& descriptor);
    // A new open file for a descriptor that a call returned.
    std::shared_ptr<OpenFile> install(FileTable& table,
                                      const Descriptor& descriptor,
                                      std::shared_ptr<LogObject> object,
                                      bool closes_on_exec);

    // The handle of the object as it is known now.
    std::uint32_t handle_of(LogObject& object, std::uint64_t time_ns);

    // What is known at that path, or null.
    std::shared_ptr<LogObject> known(const std::string& path) const;
    void rename(const std::string& from, const std::string& to, bool exchanges);
    void unlink(const std::string& path) { by_key_.erase("file " + path); }
    void join_pair(LogObject& a, LogObject& b);

  private:
    bool is_of(const LogObject& object, const Decoration& of) const;
    void remember(const std::shared_ptr<LogObject>& object, const Decoration& of);
    void learn_socket(LogObject& object, const Decoration& of);
    void learn_ends(LogObject& object);

    HostWriter* writer_;
    std::unordered_map<std::string, std::shared_ptr<LogObject>> by_key_;
    std::unordered_map<std::string, std::uint64_t> connections_;  // of the same ends, by who began
};

}  // namespace dyetrace::importer
