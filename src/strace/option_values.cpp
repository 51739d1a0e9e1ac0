#include "strace/option_values.h"

#include "base/text.h"
#include "schema/flags.h"

namespace dyetrace::strace {

using base::Result;

namespace {

// Upper or lower case, as strace.
Result<std::size_t> parse_signal(std::string_view given) {
    const std::string word = base::lower(given);
    for (std::size_t number = 1; number < SignalSet().size(); ++number) {
        const std::string name = base::lower(schema::flags_text("signal", number));
        if (name == word || name == "sig" + word) {
            return number;
        }
    }
    TRY(const auto number, parse_number<std::size_t>(given, "signal"));
    return number < SignalSet().size() ? Result<std::size_t>(number)
                                       : refuse(fmt::format("'{}' is no signal", given));
}

}  // namespace

Result<int> parse_precision(std::string_view text) {
    static constexpr NamedValue<int> kValues[] = {{"s", 0}, {"ms", 3}, {"us", 6}, {"ns", 9}};
    return text.empty() ? Result<int>(6) : choose(text, "precision", kValues);
}

Result<StatusSet> parse_statuses(std::string_view list) {
    const bool negated = list.starts_with('!');
    list.remove_prefix(negated ? 1 : 0);
    StatusSet set{.successful = negated, .failed = negated, .unfinished = negated};
    TRY(for_each_word(list, [&](std::string_view word) -> Result<void> {
        if (word == "all") {
            set = StatusSet{!negated, !negated, !negated};
        } else if (word == "successful") {
            set.successful = !negated;
        } else if (word == "failed") {
            set.failed = !negated;
        } else if (word == "unfinished" || word == "unavailable" || word == "detached") {
            set.unfinished = !negated;
        } else if (word != "none") {
            return refuse(fmt::format("'{}' is no status: successful, failed, unfinished", word));
        }
        return {};
    }));
    return set;
}

Result<SignalSet> parse_signals(std::string_view list) {
    const bool negated = list.starts_with('!');
    list.remove_prefix(negated ? 1 : 0);
    SignalSet set;
    TRY(for_each_word(list, [&](std::string_view word) -> Result<void> {
        if (word == "all") {
            set.set();
        } else if (word != "none") {
            TRY(const std::size_t number, parse_signal(word));
            set.set(number);
        }
        return {};
    }));
    return negated ? ~set : set;
}

Result<DescriptorSet> parse_descriptors(std::string_view list) {
    DescriptorSet set;
    for (; list.starts_with('!'); list.remove_prefix(1)) {  // twice is not at all, as strace has it
        set.others = !set.others;
    }
    TRY(for_each_word(list, [&](std::string_view word) -> Result<void> {
        if (word == "all") {
            set.others = !set.others;
        } else if (word != "none") {
            TRY(const auto number, parse_number<std::int32_t>(word, "descriptor"));
            set.listed.push_back(number);
        }
        return {};
    }));
    return set;
}

}  // namespace dyetrace::strace
