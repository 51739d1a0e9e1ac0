// Lets tests write calls as little stories, which are told to the engine in order of time.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/causality/handover.h"

namespace dyetrace::analysis {

constexpr auto kShared = ActKind::kLockedShared;
constexpr auto kExclusive = ActKind::kLockedExclusive;
constexpr auto kUnlocked = ActKind::kUnlocked;

inline std::vector<Handover> handovers_of(const std::vector<HandoverAct>& calls) {
    std::vector<std::tuple<std::uint64_t, bool, HandoverAct>> moments;
    for (const HandoverAct& call : calls) {
        moments.emplace_back(call.start_ns, false, call);
        moments.emplace_back(call.end_ns, true, call);
    }
    std::stable_sort(moments.begin(), moments.end(), [](const auto& a, const auto& b) {
        return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    HandoverEngine engine;
    std::vector<Handover> found;
    for (const auto& [time, is_end, act] : moments) {
        is_end ? engine.ends(act, found) : engine.starts(act, found);
    }
    return found;
}

// "1>2 3>2"
inline std::string text_of(const std::vector<Handover>& handovers) {
    std::string text;
    for (const Handover& each : handovers) {
        text += (text.empty() ? "" : " ") + std::to_string(each.from_event) + ">" +
                std::to_string(each.to_event);
    }
    return text;
}

}  // namespace dyetrace::analysis
