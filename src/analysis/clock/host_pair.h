// What the messages between two hosts tell of their clocks, in stretches between steps.
//
//   offset  ▲              ┆   ╭────── second stretch
//           │ ─────────────┆───╯
//           │ first stretch┆ ┆
//           └──────────────┴─┴────────▶ clock of the first host
//                       sure  begins
//
// A message that no curve through the corridor of the stretch allows is in doubt. kStepProof of them, of one direction and with nothing between them
// that speaks for the old stretch, are a step: one of the two clocks jumped or stood still. It
// happened after the last message that must be of the old stretch (`sure`), and before the first
// one in doubt. What ends otherwise is a contradiction: the messages are left out.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "analysis/clock/clock_message.h"
#include "analysis/clock/corridor.h"

namespace dyetrace::analysis {

inline constexpr std::int64_t kNeverBefore = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kNeverAfter = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kBesideStep = 1'000'000'000;  // ns: the coarsest grid of knots

// A message as the pair sees it: the clock of the first host was x when that of the second had not
// yet passed y (above), or was not before it.
struct PairSample {
    std::int64_t x = 0;
    std::int64_t y = 0;
    bool is_above = false;

    std::int64_t on(bool first) const { return first ? x : y; }
    auto operator<=>(const PairSample&) const = default;
};

struct PairStretch {
    explicit PairStretch(const ClockAssumptions& assumptions)
        : corridor(assumptions.rate_apart_max, assumptions.wander_max_per_s * 1e-9) {}

    std::int64_t x0 = 0, y0 = 0;  // the corridor's origin: its first message
    bool has_origin = false;
    bool begins_on_first = true;  // whose clock `begins` is of
    std::int64_t begins = kNeverBefore;
    std::uint32_t cut = 0;  // that made it begin: index of ClockState::cuts
    std::int64_t first_x = kNeverBefore, first_y = kNeverBefore;
    std::int64_t sure_x = kNeverAfter,
                 sure_y = kNeverAfter;  // until there it is certainly this stretch
    std::int64_t proven_x = kNeverAfter,
                 proven_y = kNeverAfter;  // from there, if it is not the first one
    Corridor corridor;
    std::optional<Corridor> sure;  // what is sure to be before the next stretch, if there is one
    std::optional<Corridor::Line> line;  // allowed by all points so far

    double at(std::int64_t x) const {
        if (x == kNeverBefore || x == kNeverAfter) {
            return x == kNeverBefore ? -Ceiling::kOpen : Ceiling::kOpen;
        }
        return static_cast<double>(x - x0);
    }
    double offset(const PairSample& sample) const {
        return static_cast<double>((sample.y - y0) - (sample.x - x0));
    }
    // Where in the corridor the second clock shows this, from its origin.
    double first_clock(double shown) const;
    // Where in the corridor a time of the first clock, or of the second, lies.
    double where(bool on_first, std::int64_t clock) const {
        return on_first ? at(clock) : first_clock(static_cast<double>(clock - y0));
    }
    std::int64_t first(bool of_first) const { return of_first ? first_x : first_y; }
};

class HostPair {
  public:
    static constexpr std::size_t kStepProof =
        3;  // one or two are a message that was matched wrongly
    static constexpr std::size_t kStretchesMax = 64;  // steps of one pair; more is no clock

    enum class Verdict : std::uint8_t { kTaken, kDoubtful, kStepped };

    struct Step {
        PairSample first_new;
        bool is_up = false;  // the offset grew
        double size = 0;     // by so much, roughly; ns
        std::int64_t sure_x = kNeverBefore, sure_y = kNeverBefore;
    };

    // Dense indexes of the solver.
    HostPair(std::uint32_t first, std::uint32_t second, const ClockAssumptions& assumptions)
        : first_(first),
          second_(second),
          assumptions_(assumptions),
          stretches_(1, PairStretch(assumptions)) {}

    std::uint32_t first() const { return first_; }
    std::uint32_t second() const { return second_; }
    std::uint32_t other(std::uint32_t host) const { return host == first_ ? second_ : first_; }

    // kStepped: call take_step(). What turns out to contradict the rest is left out, and appended to `refused`.
    Verdict take(const PairSample& sample, std::vector<PairSample>& refused);
    // `remembered`: messages that it took without keeping them all, since corners stand for them.
    Step take_step(const std::vector<PairSample>& remembered);
    // What a host's clock shows around a step: certainly the old stretch until `sure`, certainly the new one from `proven`; what comes
    // from `begins` on is taken for the new one.
    struct Border {
        std::uint32_t cut = 0;
        std::int64_t sure = 0, begins = 0, proven = 0;
    };
    // On the clock of the first host, or of the second. Returns what was in doubt, to be taken again.
    std::vector<PairSample> begin_stretch(bool on_first,
                                          const Border& border,
                                          const std::vector<PairSample>& remembered);
    // The same step on the other clock.
    void also_begins(bool on_first, const Border& border);

    const std::vector<PairStretch>& stretches() const { return stretches_; }
    // The stretch that the clock of the first host, or of the second, is in then.
    std::size_t stretch_at(bool on_first, std::int64_t clock) const;
    // The stretch that both clocks can be in when they show x and y; none: one of them stands still then.
    std::optional<std::size_t> common_stretch(std::int64_t x, std::int64_t y) const;
    // Whether it may be of the last stretch or of the one before, or is so near that the same knots of a map tell its time.
    bool is_beside_last_step(const PairSample& sample) const;
    const std::vector<PairSample>& doubts() const { return doubts_; }

  private:
    PairStretch& stretch_for(const PairSample& sample);
    bool fits(const PairStretch& stretch, const PairSample& sample) const;
    void insert(PairStretch& stretch, const PairSample& sample) const;
    void refuse_doubts(std::vector<PairSample>& refused);
    bool speaks_against_doubts(const PairSample& sample) const;
    bool fit_with_doubts(const PairStretch& stretch, std::span<const PairSample> samples) const;
    std::size_t sure_ones(const PairStretch& stretch, std::span<const PairSample> samples) const;

    std::uint32_t first_, second_;
    ClockAssumptions assumptions_;
    std::vector<PairStretch> stretches_;
    std::vector<PairSample> doubts_;
};

}  // namespace dyetrace::analysis
