// The values of options, as words: `successful,failed`, `TERM,9`, `us`.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "strace/trace_options.h"

namespace dyetrace::strace {

inline base::Error refuse(std::string message) {
    return base::Error(base::ErrorCode::kInvalidArgument, std::move(message));
}

template <typename Number>
base::Result<Number> parse_number(std::string_view text, std::string_view what) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
        return refuse(fmt::format("'{}' is no {}", text, what));
    }
    return number;
}

template <typename Take>
base::Result<void> for_each_word(std::string_view list, Take take) {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        if (comma > 0) {
            TRY(take(list.substr(0, comma)));
        }
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return {};
}

template <typename Value>
struct NamedValue {
    std::string_view text;
    Value value;
};

// The value of this name; an error lists the names that there are.
template <typename Value, std::size_t kCount>
base::Result<Value> choose(std::string_view text,
                           std::string_view what,
                           const NamedValue<Value> (&values)[kCount]) {
    std::string all;
    for (const NamedValue<Value>& one : values) {
        if (one.text == text) {
            return one.value;
        }
        all.append(all.empty() ? "" : ", ").append(one.text);
    }
    return refuse(fmt::format("'{}' is no {}: {}", text, what, all));
}

// Digits after the point: s 0, ms 3, us 6, ns 9; empty is us.
base::Result<int> parse_precision(std::string_view text);
// Lists with commas; ! in front turns them over.
base::Result<StatusSet> parse_statuses(std::string_view list);
base::Result<SignalSet> parse_signals(std::string_view list);
base::Result<DescriptorSet> parse_descriptors(std::string_view list);

}  // namespace dyetrace::strace
