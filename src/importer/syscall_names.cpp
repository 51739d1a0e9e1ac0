#include "importer/syscall_names.h"

#include <charconv>
#include <string>
#include <unordered_map>

#include "importer/words.h"
#include "schema/errors.h"
#include "schema/flags.h"

namespace dyetrace::importer {
namespace {

using Numbers = std::unordered_map<std::string_view, std::uint64_t>;

// The names of every set are known together: strace writes some where another set is meant.
const Numbers& all_names() {
    static const Numbers kNames = [] {
        Numbers words = {{"NULL", 0},
                         {"AT_FDCWD", static_cast<std::uint64_t>(-100)},
                         {"S_IFSOCK", 0140000},
                         {"S_IFLNK", 0120000},
                         {"S_IFREG", 0100000},
                         {"S_IFBLK", 0060000},
                         {"S_IFDIR", 0040000},
                         {"S_IFCHR", 0020000},
                         {"S_IFIFO", 0010000},
                         {"S_ISUID", 04000},
                         {"S_ISGID", 02000},
                         {"S_ISVTX", 01000},
                         {"IPPROTO_IP", 0},
                         {"IPPROTO_ICMP", 1},
                         {"IPPROTO_TCP", 6},
                         {"IPPROTO_UDP", 17},
                         {"IPPROTO_IPV6", 41}};
        for (const schema::FlagSet& set : schema::flag_sets()) {
            for (const auto names_of_set : {set.values, set.bits}) {
                for (const schema::FlagLabel& word : names_of_set) {
                    words.emplace(word.name, word.value);
                }
            }
        }
        return words;
    }();
    return kNames;
}

std::optional<std::uint64_t> word_of(const schema::FlagSet& set, std::string_view name) {
    if (name == set.zero) {
        return 0;
    }
    for (const auto words : {set.values, set.bits}) {
        for (const schema::FlagLabel& word : words) {
            if (word.name == name) {
                return word.value;
            }
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> plain_number(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    text.remove_prefix(is_negative ? 1 : 0);
    int base = 10;
    if (text.starts_with("0x")) {
        text.remove_prefix(2);
        base = 16;
    } else if (text.size() > 1 && text[0] == '0') {
        base = 8;
    }
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return is_negative ? ~number + 1 : number;
}

std::optional<std::uint64_t> one_word(const schema::FlagSet* set, std::string_view text) {
    if (const auto number = plain_number(text)) {
        return number;
    }
    if (const auto number = set != nullptr ? word_of(*set, text) : std::nullopt) {
        return number;
    }
    if (const std::size_t times = text.find('*'); times != std::string_view::npos) {
        const auto left = plain_number(text.substr(0, times));
        const auto right = plain_number(text.substr(times + 1));
        return left && right ? std::optional(*left * *right) : std::nullopt;
    }
    if (const std::size_t shift = text.find("<<"); shift != std::string_view::npos) {
        const auto left = plain_number(text.substr(0, shift));
        const auto right = plain_number(text.substr(shift + 2));
        return left && right && *right < 64 ? std::optional(*left << *right) : std::nullopt;
    }
    if (text.starts_with("SIGRT_")) {
        const auto above = plain_number(text.substr(6));
        return above ? std::optional(*above + 32) : std::nullopt;
    }
    const auto known = all_names().find(text);
    return known != all_names().end() ? std::optional(known->second) : std::nullopt;
}

}  // namespace

const schema::SyscallInfo* find_call(std::string_view name) {
    static const auto kCalls = [] {
        std::unordered_map<std::string_view, const schema::SyscallInfo*> calls;
        for (const schema::Abi abi : {schema::Abi::kX8664, schema::Abi::kI386}) {
            for (const schema::SyscallInfo& call : schema::syscalls_of(abi)) {
                calls.emplace(call.name, &call);
            }
        }
        return calls;
    }();
    const auto found = kCalls.find(name);
    return found != kCalls.end() ? found->second : nullptr;
}

std::optional<std::int64_t> error_number(std::string_view name) {
    if (!name.starts_with('E')) {
        return std::nullopt;
    }
    static const auto kErrors = [] {
        std::unordered_map<std::string, std::int64_t> errors = {{"EWOULDBLOCK", 11},
                                                                {"ENOTSUP", 95}};
        for (const schema::ErrorInfo& error : schema::errors()) {
            errors.emplace(schema::error_name(-error.number), error.number);
        }
        return errors;
    }();
    const auto found = kErrors.find(std::string(name));
    if (found != kErrors.end()) {
        return found->second;
    }
    if (name == "ERESTARTNOHAND") {
        return 514;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> argument_number(std::string_view type, std::string_view text) {
    if (const std::size_t comment = text.find("/*"); comment != std::string_view::npos) {
        text = text.substr(0, comment);
    }
    text = trimmed(text);
    const schema::FlagSet* const set = schema::find_flag_set(type);
    std::uint64_t number = 0;
    while (true) {
        const std::size_t bar = text.find('|');
        const auto word = one_word(set, trimmed(text.substr(0, bar)));
        if (!word) {
            return std::nullopt;
        }
        number |= *word;
        if (bar == std::string_view::npos) {
            return number;
        }
        text.remove_prefix(bar + 1);
    }
}

}  // namespace dyetrace::importer
