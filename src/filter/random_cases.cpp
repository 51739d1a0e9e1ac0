#include "filter/random_cases.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "filter/expression.h"
#include "schema/text.h"

namespace dyetrace::filter {
namespace {

using namespace std::string_view_literals;
using schema::Attachment;
using schema::SyscallEvent;

constexpr std::uint32_t kHandles = 24;

constexpr std::array kPaths{"/"sv,
                            "/var"sv,
                            "/var/log/a.log"sv,
                            "/var/log/b.log"sv,
                            "/var/lib/\xC3\xA9/x"sv,
                            "/tmp/a\\b"sv,
                            "/tmp/\xff\xfe"sv,
                            "/tmp/\xE2\x84\xAA"sv,
                            "/home/u/A_b%c"sv,
                            "pipe:[12]"sv,
                            "/x*y?[z]"sv,
                            "/tmp/61"sv,
                            "/tmp/README.md"sv,
                            ""sv,
                            "/tmp/\x01\n"sv};
constexpr std::array kNames{""sv,
                            "."sv,
                            ".."sv,
                            "x"sv,
                            "a/../b"sv,
                            "../../.."sv,
                            "./y//z"sv,
                            "log/a.log"sv,
                            "\xC3\xA9"sv,
                            "a\\b"sv,
                            "\xff"sv,
                            "/abs/p"sv,
                            "../log/b.log"sv};
constexpr std::array kComms{"curl"sv,
                            "postgres"sv,
                            "nginx: worker"sv,
                            "a\xC3\xA9"sv,
                            "\xff"sv,
                            "back\\slash"sv,
                            ""sv,
                            "fifteen-letters"sv};
constexpr std::array kExes{
    "/usr/bin/curl"sv, "/usr/lib/postgresql/15/bin/postgres"sv, "/opt/\xC3\xA9"sv};
constexpr std::array kCgroups{
    "/"sv,
    "/lxc/box/init"sv,
    "/machine-deb.scope/x"sv,
    "/user.slice"sv,
    "/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"sv,
    "/lxc/a\\b"sv};
constexpr std::array kFileSystems{"ext4"sv, "tmpfs"sv, ""sv, "overlay"sv};
constexpr std::array kIps{"10.0.0.7"sv, "127.0.0.1"sv, "::1"sv, "2001:db8::7"sv, "0.0.0.0"sv};
constexpr std::array<std::uint16_t, 5> kPorts{0, 22, 80, 5432, 65535};
constexpr std::array<std::uint16_t, 17> kCalls{
    0, 1, 2, 3, 15, 17, 257, 82, 40, 44, 45, 999, 59, 47, 275, 276, 278};
constexpr std::array<std::int64_t, 12> kResults{
    0, 1, 3, 4096, 100'000, -1, -2, -11, -13, -512, -4095, -4096};
constexpr std::array<std::uint64_t, 12> kNumbers{0,
                                                 1,
                                                 2,
                                                 7,
                                                 100,
                                                 4095,
                                                 4096,
                                                 1'000'000,
                                                 0x7fffffff,
                                                 0xffffffff,
                                                 0x7fffffffffffffff,
                                                 0xffffffffffffffff};

struct Ip {
    std::uint16_t family = 0;
    std::array<std::uint8_t, 16> bytes{};
};

Ip parsed(std::string_view text) {
    Ip ip;
    ip.family = text.find(':') == std::string_view::npos ? AF_INET : AF_INET6;
    inet_pton(ip.family, std::string(text).c_str(), ip.bytes.data());
    return ip;
}

std::string literal_of(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        out.append(c == '\'' ? 2 : 1, c);
    }
    return out + "'";
}

}  // namespace

std::vector<schema::OwnedRecord> RandomCases::world() {
    std::vector<schema::OwnedRecord> out;
    for (std::uint32_t id = 1; id <= kTasks; ++id) {
        out.push_back(task(id));
    }
    for (std::uint32_t id = 1; id <= kHandles; ++id) {
        out.push_back(handle(id));
        if (id % 3 == 0) {
            out.push_back(socket(id));
        }
    }
    return out;
}

schema::OwnedRecord RandomCases::task(std::uint32_t id) {
    schema::TaskContext t{};
    t.valid_from_ns = 5;
    t.thread_start_ns = below(4) << 26;
    t.process_start_ns = below(4) << 26;
    t.cgroup_id = number();
    t.context_id = id;
    t.pid = static_cast<std::uint32_t>(100 + below(4));
    t.tid = static_cast<std::uint32_t>(100 + below(8));
    t.ppid = static_cast<std::uint32_t>(below(3));
    t.pid_in_namespace = static_cast<std::uint32_t>(below(4));
    t.uid = chance(50) ? 0 : 0xffffffff;
    t.network_namespace = static_cast<std::uint32_t>(number());
    put_text(t.comm, pick(kComms));
    const std::string exe(pick(kExes));
    const std::string cgroup(pick(kCgroups));
    if (chance(20)) {
        return schema::build(t);
    }
    return schema::build(t, {{Attachment::kExe, exe}, {Attachment::kCgroup, cgroup}});
}

schema::OwnedRecord RandomCases::handle(std::uint32_t id) {
    schema::Handle h{};
    h.valid_from_ns = 5;
    h.handle_id = id;
    h.object_id = id / 2 + 1;
    h.inode = h.object_id;  // SQL knows an object by this
    h.object_type = static_cast<std::uint8_t>(below(10));
    put_text(h.file_system, pick(kFileSystems));
    const std::string path = path_bytes();
    return chance(10) ? schema::build(h) : schema::build(h, {{Attachment::kPath, path}});
}

schema::OwnedRecord RandomCases::socket(std::uint32_t id) {
    schema::Socket s{};
    s.valid_from_ns = 5;
    s.handle_id = id;
    s.connection_id = chance(50) ? 0 : number();
    s.local_port = pick(kPorts);
    s.remote_port = pick(kPorts);
    s.family = AF_UNIX;
    if (chance(70)) {
        const Ip local = parsed(pick(kIps));
        s.family = local.family;
        std::memcpy(s.local_address, local.bytes.data(), local.bytes.size());
        const Ip remote = parsed(pick(kIps));
        std::memcpy(s.remote_address, remote.bytes.data(), remote.bytes.size());
        return schema::build(s);
    }
    const std::string path = path_bytes(), peer = chance(20) ? "10.0.0.7" : path_bytes();
    if (chance(30)) {
        return schema::build(s);
    }
    return chance(50) ? schema::build(s, {{Attachment::kPath, path}})
                      : schema::build(s, {{Attachment::kPath, path}, {Attachment::kPath2, peer}});
}

std::string RandomCases::path_bytes() {
    if (chance(10)) {
        return "/long/" + std::string(below(300), 'l');
    }
    return std::string(pick(kPaths));
}

std::string RandomCases::sockaddr_bytes() {
    if (chance(20)) {
        sockaddr_un un{};
        un.sun_family = AF_UNIX;
        const std::string_view path = chance(20) ? "10.0.0.7"sv : pick(kPaths);
        std::memcpy(un.sun_path, path.data(), path.size());
        return {reinterpret_cast<const char*>(&un), offsetof(sockaddr_un, sun_path) + path.size()};
    }
    if (chance(10)) {
        return "\x10";
    }
    const Ip ip = parsed(pick(kIps));
    if (ip.family == AF_INET) {
        sockaddr_in in{};
        in.sin_family = AF_INET;
        in.sin_port = htons(pick(kPorts));
        std::memcpy(&in.sin_addr, ip.bytes.data(), sizeof(in.sin_addr));
        return {reinterpret_cast<const char*>(&in), sizeof(in)};
    }
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(pick(kPorts));
    std::memcpy(&in.sin6_addr, ip.bytes.data(), sizeof(in.sin6_addr));
    return {reinterpret_cast<const char*>(&in), sizeof(in)};
}

std::uint64_t RandomCases::number() {
    return chance(80) ? pick(kNumbers) : random_();
}

std::int64_t RandomCases::result() {
    return chance(80) ? pick(kResults) : static_cast<std::int64_t>(random_());
}

schema::OwnedRecord RandomCases::event(std::uint64_t sequence) {
    const std::uint64_t kind = below(20);
    return kind == 0   ? log_event(sequence)
           : kind == 1 ? signal_event(sequence)
           : kind < 5  ? part_event(sequence)
                       : syscall_event(sequence);
}

schema::OwnedRecord RandomCases::syscall_event(std::uint64_t sequence) {
    SyscallEvent e{};
    e.header.sequence = sequence;
    e.start_ns = number() / 2;     // make_timestamp_ns takes a BIGINT
    e.duration_ns = number() / 2;  // as long as anybody's clock
    e.off_cpu_ns = e.duration_ns == 0 ? 0 : random_() % e.duration_ns;
    e.result = result();
    e.context_id = static_cast<std::uint32_t>(below(kTasks + 2));
    e.syscall = pick(kCalls);
    e.abi = static_cast<std::uint8_t>(below(6));
    e.state = static_cast<std::uint8_t>(below(3));
    e.present = static_cast<std::uint32_t>(random_() & (chance(50) ? 0x7ffffu : 0x73fffu));
    e.fd = static_cast<std::int32_t>(below(6)) - 1;
    e.handle_id = static_cast<std::uint32_t>(below(kHandles + 2));
    e.handle2_id = static_cast<std::uint32_t>(below(kHandles + 2));
    e.open_flags = static_cast<std::uint32_t>(number());
    for (std::uint64_t& argument : e.arguments) {
        argument = number();
    }
    e.event_class = static_cast<std::uint8_t>(below(11));
    e.file_offset = result();
    e.file_offset2 = result();
    e.object_size = result();
    e.requested = number();
    e.bytes = result();
    e.stream_offset = number() / 2;
    e.target_tid = static_cast<std::uint32_t>(100 + below(8));
    e.target_start_ns = below(4) << 26;
    const std::string path(chance(60) ? pick(kNames) : pick(kPaths));
    const std::string path2(pick(kNames));
    const std::string address = sockaddr_bytes();
    switch (below(4)) {
        case 0:
            return schema::build(e);
        case 1:
            return schema::build(e, {{Attachment::kPath, path}});
        case 2:
            return schema::build(e, {{Attachment::kAddress, address}});
        default:
            return schema::build(e, {{Attachment::kPath, path}, {Attachment::kPath2, path2}});
    }
}

schema::OwnedRecord RandomCases::part_event(std::uint64_t sequence) {
    schema::PartEvent e{};
    e.header.sequence = sequence;
    e.parent_sequence = sequence - std::min<std::uint64_t>(sequence, 1);
    e.start_ns = number() / 2;     // make_timestamp_ns takes a BIGINT
    e.duration_ns = number() / 2;  // as long as anybody's clock
    e.result = result();
    e.context_id = static_cast<std::uint32_t>(below(kTasks + 2));
    e.part = static_cast<std::uint32_t>(below(3));
    e.operation = pick(kCalls);
    e.event_class = static_cast<std::uint8_t>(below(11));
    e.abi = static_cast<std::uint8_t>(below(6));
    e.present = static_cast<std::uint32_t>(random_() & 0xfff);
    e.fd = static_cast<std::int32_t>(below(6)) - 1;
    e.handle_id = static_cast<std::uint32_t>(below(kHandles + 2));
    e.file_offset = result();
    e.requested = number();
    e.bytes = result();
    e.stream_offset = number() / 2;
    const std::string address = sockaddr_bytes();
    return chance(50) ? schema::build(e) : schema::build(e, {{Attachment::kAddress, address}});
}

std::string RandomCases::condition(int depth) {
    const std::uint64_t kind = depth == 0 ? 9 : below(10);
    if (kind < 2) {
        return "(" + condition(depth - 1) + (kind == 0 ? " AND " : " and ") + condition(depth - 1) +
               ")";
    }
    if (kind < 4) {
        return "(" + condition(depth - 1) + " OR " + condition(depth - 1) + ")";
    }
    if (kind == 4) {
        return "NOT (" + condition(depth - 1) + ")";
    }
    if (kind == 5 && chance(20)) {
        return chance(50) ? "NULL" : chance(50) ? "TRUE" : "FALSE";
    }
    if (kind == 6 && chance(20)) {
        return "(" + condition(depth - 1) + ") = (" + condition(depth - 1) + ")";
    }
    return atom();
}

std::string RandomCases::atom() {
    for (;;) {
        const auto& info = schema::event_columns()[below(schema::event_columns().size())];
        using enum schema::EventColumn;
        if (info.column == kTime || info.column == kNode) {
            continue;
        }
        const std::string name(info.name);
        if (chance(8)) {
            return name + (chance(50) ? " IS NULL" : " IS NOT NULL");
        }
        if (info.type == schema::SqlType::kBoolean) {
            return chance(50) ? name : name + (chance(50) ? " = TRUE" : " <> FALSE");
        }
        if (type_of(info.column) == Type::kText) {
            return text_atom(name);
        }
        return info.column == kWeight ? name + " > " + number_text() : number_atom(name);
    }
}

std::string RandomCases::number_text() {
    if (chance(5)) return "NULL";
    if (chance(10)) return "1.5";
    if (chance(10)) return "-1.25";
    if (chance(40)) return std::to_string(below(12));
    if (chance(30)) return std::to_string(pick(kResults));
    if (chance(30)) return std::to_string(100 + below(8));
    return chance(50) ? std::to_string(pick(kPorts)) : std::to_string(number());
}

std::string RandomCases::number_operand(std::string_view column) {
    std::string name(column);
    if (chance(75)) {
        return name;
    }
    constexpr std::array kOperators{
        " + "sv, " - "sv, " * "sv, " % "sv, " // "sv, " & "sv, " | "sv, " >> "sv, " << "sv};
    if (chance(10)) {
        return "power_of_two(CAST(" + name + " AS HUGEINT))";
    }
    const std::string_view op = pick(kOperators);
    if (op == " >> " || op == " << ") {
        return "CAST(" + name + " AS HUGEINT)" + (op == " >> " ? " >> " : " * ") +
               std::to_string(below(20));
    }
    return "CAST(" + name + " AS HUGEINT)" + std::string(op) +
           std::to_string(below(2) == 0 ? below(10) : 4096);
}

std::string RandomCases::number_atom(std::string_view column) {
    const std::string left = number_operand(column);
    constexpr std::array kComparisons{" = "sv, " <> "sv, " < "sv, " <= "sv, " > "sv, " >= "sv};
    switch (below(8)) {
        case 0:
            return left + (chance(50) ? " IN (" : " NOT IN (") + number_text() + ", " +
                   number_text() + ", " + number_text() + ")";
        case 1:
            return left + (chance(50) ? " BETWEEN " : " NOT BETWEEN ") + number_text() + " AND " +
                   number_text();
        case 2: {
            constexpr std::array kOthers{"bytes"sv,
                                         "requested"sv,
                                         "result"sv,
                                         "fd"sv,
                                         "start_ns"sv,
                                         "pid"sv,
                                         "file_offset"sv};
            return left + std::string(pick(kComparisons)) + std::string(pick(kOthers));
        }
        default:
            return left + std::string(pick(kComparisons)) + number_text();
    }
}

std::string RandomCases::text_for(std::string_view column) {
    if (column == "comm") return schema::escaped(pick(kComms));
    if (column == "exe") return schema::escaped(pick(kExes));
    if (column == "file_system") return std::string(pick(kFileSystems));
    if (column.ends_with("address")) return std::string(pick(kIps));
    if (column == "container") return chance(50) ? "lxc/box" : "machine-deb.scope";
    if (column == "name")
        return std::string(
            pick(std::array{"read"sv, "openat"sv, "rename"sv, "sendto"sv, "pread64"sv}));
    if (column == "class")
        return std::string(pick(std::array{"file"sv, "network"sv, "other"sv, "metadata"sv}));
    if (column == "error")
        return std::string(
            pick(std::array{"ENOENT"sv, "EAGAIN"sv, "E4095"sv, "EACCES"sv, "EPERM"sv}));
    if (column == "abi") return "x86_64";
    if (column == "state") return chance(50) ? "finished" : "unfinished";
    if (column == "kind") return chance(50) ? "syscall" : "log";
    if (column == "transfer")
        return std::string(
            pick(std::array{"read"sv, "peek"sv, "write"sv, "copy_to"sv, "copy_from"sv}));
    if (column == "host") return "node-3";
    if (column == "open_flags") return chance(50) ? "O_WRONLY|O_CREAT" : "O_RDONLY";
    if (column == "arguments") return chance(50) ? R"({"count":4096})" : R"({"whence":"SEEK_END"})";
    if (column == "object_type")
        return std::string(pick(std::array{"file"sv, "socket"sv, "unknown"sv}));
    return schema::escaped(chance(80) ? std::string_view(path_bytes()) : pick(kNames));
}

std::string RandomCases::pattern_for(std::string_view column, bool glob) {
    std::string text = text_for(column);
    const std::string_view run = glob ? "*" : "%";
    const std::string_view one = glob ? "?" : "_";
    const std::size_t begin = below(text.size() + 1);
    const std::size_t end = begin + below(text.size() - begin + 1);
    switch (below(8)) {
        case 0:
            return text.substr(0, begin) + std::string(run);
        case 1:
            return std::string(run) + text.substr(begin);
        case 2:
            return std::string(run) + text.substr(begin, end - begin) + std::string(run);
        case 3:
            return text.substr(0, begin) + std::string(run) + text.substr(end);
        case 4:
            return text.substr(0, begin) + std::string(one) +
                   text.substr(std::min(begin + 1, text.size()));
        case 5:
            return glob ? text.substr(0, begin) + (chance(50) ? "[a-p]" : "[!x]") + std::string(run)
                        : std::string(run) + std::string(one);
        case 6:
            return text.substr(0, begin) + std::string(one) + std::string(run) + text.substr(end) +
                   std::string(run);
        default:
            return text;
    }
}

std::string RandomCases::text_atom(std::string_view column) {
    const std::string name(column);
    const auto wide = [](const std::string& text) {
        return std::any_of(
            text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    };
    switch (below(10)) {
        case 0:
            return name + (chance(50) ? " IN (" : " NOT IN (") + literal_of(text_for(column)) +
                   ", " + literal_of(text_for(column)) + (chance(10) ? ", NULL)" : ")");
        case 1:
            return name + " GLOB " + literal_of(pattern_for(column, true));
        case 2:
            return name + (chance(50) ? " LIKE " : " NOT LIKE ") +
                   literal_of(pattern_for(column, false));
        case 3: {
            const std::string pattern = pattern_for(column, false);
            return name + (wide(pattern) ? " LIKE " : " ILIKE ") + literal_of(pattern);
        }
        case 4:
            return "starts_with(" + name + ", " +
                   literal_of(text_for(column).substr(0, 4 + below(4))) + ")";
        case 5:
            return "ends_with(" + name + ", " + literal_of(pattern_for(column, true)) + ")";
        case 6:
            return "contains(" + name + ", 'a')";
        case 7:
            return name + (chance(50) ? " < " : " >= ") + literal_of(text_for(column));
        case 8:
            return name + (chance(50) ? " <> " : " = ") +
                   std::string(pick(std::array{"path"sv, "argument_path"sv, "comm"sv}));
        default:
            return name + (chance(70) ? " = " : " <> ") + literal_of(text_for(column));
    }
}

}  // namespace dyetrace::filter
