#include "analysis/pattern/steps.h"

#include <algorithm>
#include <numeric>

namespace dyetrace::analysis {
namespace {

constexpr std::array<std::string_view, kSteps> kStepNames = {
    "first", "sequential", "strided", "skipping", "reversed", "repeated", "random"};

}  // namespace

std::string_view name_of(Step step) {
    return kStepNames[static_cast<std::size_t>(step)];
}

void StepCounter::add(const Access& access) {
    const auto [entry, is_new] = files_.try_emplace(access.file);
    File& file = entry->second;
    const auto took = [&](Step step) { ++decided_.steps[static_cast<std::size_t>(step)]; };
    if (is_new) {
        took(Step::kFirst);
        file.run_start = access.offset;
    } else if (access.offset == file.end) {
        took(Step::kSequential);
    } else if (access.offset == file.offset) {
        took(Step::kRepeated);
    } else if (access.end() == file.offset) {
        took(Step::kReversed);
        file.run_start = access.offset;
        file.forward = 0;
    } else {
        jump(file, access);
    }
    file.offset = access.offset;
    file.end = access.end();
}

void StepCounter::jump(File& file, const Access& access) {
    const auto latest = [&](std::size_t back) -> Jump& {
        return file.latest[(file.jumps - 1 - back) % kForwardRunMin];
    };
    const auto distance = static_cast<std::int64_t>(access.offset - file.run_start);
    const bool is_equal = file.jumps > 0 && latest(0).distance == distance;
    file.equal = is_equal ? file.equal + 1 : 1;
    file.forward = access.offset > file.end ? file.forward + 1 : 0;
    file.run_start = access.offset;
    if (file.jumps >= kForwardRunMin) {
        count(decided_, file.latest[file.jumps % kForwardRunMin]);
    }
    ++file.jumps;
    latest(0) = {Step::kRandom, distance};
    if (file.forward >= kForwardRunMin) {
        for (Jump& jump : file.latest) {
            jump.step = jump.step == Step::kRandom ? Step::kSkipping : jump.step;
        }
    }
    if (file.equal >= kStrideRunMin) {
        for (std::size_t back = 0; back < kStrideRunMin; ++back) {
            latest(back).step = Step::kStrided;
        }
    }
}

void StepCounter::count(Counts& counts, const Jump& jump) {
    ++counts.steps[static_cast<std::size_t>(jump.step)];
    if (jump.step == Step::kStrided &&
        (counts.strides.size() < kStridesMax || counts.strides.contains(jump.distance))) {
        ++counts.strides[jump.distance];
    }
}

StepCounter::Counts StepCounter::counts() const {
    Counts all = decided_;
    for (const auto& [number, file] : files_) {
        const std::size_t undecided = std::min<std::uint64_t>(file.jumps, kForwardRunMin);
        for (std::size_t i = 0; i < undecided; ++i) {
            count(all, file.latest[i]);
        }
    }
    return all;
}

Verdict verdict_of(const StepCounter::Counts& counts) {
    const std::uint64_t steps =
        std::accumulate(counts.steps.begin() + 1, counts.steps.end(), std::uint64_t{0});
    if (steps == 0) {
        return {"single"};
    }
    const auto most = std::max_element(counts.steps.begin() + 1, counts.steps.end());
    if (static_cast<double>(*most) < Verdict::kPureShare * static_cast<double>(steps)) {
        return {"mixed"};
    }
    const auto step = static_cast<Step>(most - counts.steps.begin());
    const auto usual = std::max_element(
        counts.strides.begin(), counts.strides.end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
        });
    return {name_of(step), step == Step::kStrided ? usual->first : 0};
}

}  // namespace dyetrace::analysis
