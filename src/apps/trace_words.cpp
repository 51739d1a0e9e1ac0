#include "apps/trace_words.h"

namespace dyetrace::apps {

using base::Result;

Result<int> parse_precision(std::string_view text) {
    static constexpr Word<int> kWords[] = {{"s", 0}, {"ms", 3}, {"us", 6}, {"ns", 9}};
    return text.empty() ? Result<int>(6) : choose(text, "precision", kWords);
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

}  // namespace dyetrace::apps
