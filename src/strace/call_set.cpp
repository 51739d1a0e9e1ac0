#include "strace/call_set.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <string>

namespace dyetrace::strace {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;
using schema::SyscallInfo;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool takes(const SyscallInfo& call, std::initializer_list<std::string_view> types) {
    const auto end = call.arguments.begin() + call.argument_count;
    return std::any_of(call.arguments.begin(), end, [&](const auto& argument) {
        return is_one_of(argument.type, types);
    });
}

bool begins_with(const SyscallInfo& call, std::initializer_list<std::string_view> beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view b) {
        return call.name.starts_with(b);
    });
}

bool is_file(const SyscallInfo& call) {
    return takes(call, {"path", "path2"});
}

bool is_descriptor(const SyscallInfo& call) {
    return takes(call, {"fd", "fd2", "dirfd", "dirfd2"}) ||
           is_one_of(call.returns, {"fd", "fcntl"}) ||
           is_one_of(call.name,
                     {"select", "_newselect", "pselect6", "poll", "ppoll", "close_range"});
}

bool is_network(const SyscallInfo& call) {
    return call.event_class == schema::Class::kNetwork || begins_with(call, {"send", "recv"});
}

bool is_memory(const SyscallInfo& call) {
    return call.event_class == schema::Class::kMemory ||
           begins_with(call, {"pkey_", "mlock", "munlock"}) ||
           is_one_of(call.name,
                     {"mincore",
                      "shmat",
                      "shmdt",
                      "remap_file_pages",
                      "mbind",
                      "set_mempolicy",
                      "get_mempolicy",
                      "migrate_pages",
                      "move_pages",
                      "io_setup",
                      "io_destroy",
                      "mseal",
                      "map_shadow_stack"});
}

bool is_process(const SyscallInfo& call) {
    return is_one_of(call.name,
                     {"clone",
                      "clone3",
                      "fork",
                      "vfork",
                      "execve",
                      "execveat",
                      "exit",
                      "exit_group",
                      "wait4",
                      "waitid",
                      "waitpid",
                      "kill",
                      "tkill",
                      "tgkill",
                      "rt_sigqueueinfo",
                      "rt_tgsigqueueinfo",
                      "pidfd_send_signal",
                      "unshare"});
}

bool is_signal(const SyscallInfo& call) {
    return begins_with(call, {"rt_sig", "sig"}) || is_one_of(call.name,
                                                             {"kill",
                                                              "tkill",
                                                              "tgkill",
                                                              "pause",
                                                              "rt_tgsigqueueinfo",
                                                              "pidfd_send_signal",
                                                              "sgetmask",
                                                              "ssetmask"});
}

bool is_ipc(const SyscallInfo& call) {
    return begins_with(call, {"shm", "sem", "msg"}) || call.name == "ipc";
}

bool is_creds(const SyscallInfo& call) {
    constexpr std::string_view kIds[] = {"uid",
                                         "gid",
                                         "euid",
                                         "egid",
                                         "reuid",
                                         "regid",
                                         "resuid",
                                         "resgid",
                                         "fsuid",
                                         "fsgid",
                                         "groups"};
    std::string_view rest = call.name;
    if (!rest.starts_with("get") && !rest.starts_with("set")) {
        return is_one_of(call.name, {"capget", "capset", "prctl"});
    }
    rest.remove_prefix(3);
    rest = rest.ends_with("32") ? rest.substr(0, rest.size() - 2) : rest;
    return std::find(std::begin(kIds), std::end(kIds), rest) != std::end(kIds);
}

bool is_clock(const SyscallInfo& call) {
    return begins_with(call, {"clock_"}) ||
           is_one_of(call.name,
                     {"gettimeofday", "settimeofday", "adjtimex", "time", "stime", "ftime"});
}

bool is_stat(const SyscallInfo& call) {
    return is_one_of(call.name, {"stat", "stat64", "oldstat"});
}
bool is_lstat(const SyscallInfo& call) {
    return is_one_of(call.name, {"lstat", "lstat64", "oldlstat"});
}
bool is_fstat(const SyscallInfo& call) {
    return is_one_of(call.name, {"fstat", "fstat64", "oldfstat", "newfstatat", "fstatat64"});
}
bool is_any_stat(const SyscallInfo& call) {
    return is_stat(call) || is_lstat(call) || is_fstat(call) || call.name == "statx";
}
bool is_statfs(const SyscallInfo& call) {
    return is_one_of(call.name, {"statfs", "statfs64"});
}
bool is_any_statfs(const SyscallInfo& call) {
    return is_statfs(call) || is_one_of(call.name, {"fstatfs", "fstatfs64", "ustat"});
}
bool is_pure(const SyscallInfo& call) {
    return call.argument_count == 0 && begins_with(call, {"get"});
}

constexpr CallGroup kGroups[] = {
    {"clock", is_clock},
    {"creds", is_creds},
    {"desc", is_descriptor},
    {"file", is_file},
    {"fstat", is_fstat},
    {"ipc", is_ipc},
    {"lstat", is_lstat},
    {"memory", is_memory},
    {"net", is_network},
    {"network", is_network},
    {"process", is_process},
    {"pure", is_pure},
    {"signal", is_signal},
    {"stat", is_stat},
    {"%stat", is_any_stat},
    {"statfs", is_statfs},
    {"%statfs", is_any_statfs},
};

const CallGroup* find_group(std::string_view word) {
    // Without % only the old names count: `stat` is a call.
    const bool old_name =
        is_one_of(word, {"desc", "file", "ipc", "memory", "network", "process", "signal"});
    if (!word.starts_with('%') && !old_name) {
        return nullptr;
    }
    const std::string_view name = word.starts_with('%') ? word.substr(1) : word;
    const auto at = std::find_if(
        std::begin(kGroups), std::end(kGroups), [&](const CallGroup& g) { return g.name == name; });
    return at == std::end(kGroups) ? nullptr : at;
}

// Whether the word's suffix (@64, @32) names the abi; all do without one.
bool abi_fits(std::string_view suffix, schema::Abi abi) {
    return suffix.empty() ||
           (suffix == "64" && (abi == schema::Abi::kX8664 || abi == schema::Abi::kArm64)) ||
           (suffix == "32" && schema::is_of_32_bits(abi)) ||
           (suffix == "x32" && abi == schema::Abi::kX32);
}

}  // namespace

std::span<const CallGroup> call_groups() {
    return kGroups;
}

CallSet CallSet::all() {
    CallSet set;
    for (auto& members : set.members_) {
        members.set();
    }
    set.others_ = true;
    return set;
}

void CallSet::add(const SyscallInfo& call) {
    if (call.number < kNumbers) {
        members_[static_cast<std::size_t>(call.abi)].set(call.number);
    }
}

bool CallSet::has(schema::Abi abi, std::uint16_t number) const {
    const auto index = static_cast<std::size_t>(abi);
    return index < kAbis && number < kNumbers ? members_[index].test(number) : others_;
}

Result<void> CallSet::add_word(std::string_view word) {
    const bool may_be_unknown = word.starts_with('?');
    word.remove_prefix(may_be_unknown ? 1 : 0);
    const std::size_t at = word.starts_with('/') ? std::string_view::npos : word.find('@');
    const std::string_view suffix =
        at == std::string_view::npos ? std::string_view{} : word.substr(at + 1);
    const std::string name(word.substr(0, at));
    unsigned number = 0;
    const bool is_number = std::from_chars(name.data(), name.data() + name.size(), number).ptr ==
                               name.data() + name.size() &&
                           !name.empty();
    const CallGroup* group = find_group(name);
    regex_t expression{};
    const bool is_expression = name.starts_with('/');
    if (is_expression && regcomp(&expression, name.c_str() + 1, REG_EXTENDED | REG_NOSUB) != 0) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is no regular expression", name.substr(1)));
    }
    bool found = group != nullptr || is_expression;
    for (const SyscallInfo& call : schema::syscalls()) {
        const bool matches =
            group != nullptr ? group->has(call)
            : is_expression
                ? regexec(&expression, std::string(call.name).c_str(), 0, nullptr, 0) == 0
            : is_number ? call.number == number
                        : call.name == name;
        if (matches && abi_fits(suffix, call.abi)) {
            add(call);
            found = true;
        }
    }
    if (is_expression) {
        regfree(&expression);
    }
    if (!found && !may_be_unknown) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is no system call or group of them", word));
    }
    return {};
}

Result<CallSet> CallSet::parse(std::string_view list) {
    const bool negated = list.starts_with('!');
    list.remove_prefix(negated ? 1 : 0);
    CallSet set;
    if (list == "all") {
        set = all();
    } else if (list != "none") {
        while (!list.empty()) {
            const std::size_t comma = std::min(list.find(','), list.size());
            if (comma > 0) {
                TRY(set.add_word(list.substr(0, comma)));
            }
            list.remove_prefix(std::min(comma + 1, list.size()));
        }
    }
    if (negated) {
        for (auto& members : set.members_) {
            members.flip();
        }
        set.others_ = !set.others_;
    }
    return set;
}

}  // namespace dyetrace::strace
