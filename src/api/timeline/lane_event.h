// An event of a thread as a timeline holds it: 24 bytes, of which the picture is made, and the id by which the rest is asked for.
//
//   LaneEvent event({.begin_ns = 5'000, .end_ns = 7'500, .id = 77, .call_class = 1, .waited = 0.5});
//   event.end_ns()                                  7500
//   event.colour(TimelineColour::kClass)            1
//   event.colour(TimelineColour::kLatency)          1: below 10 µs
//
// Limits: a duration is held with 27 bits, so that the end of what takes a second is known to 8 ns; fifteen contents are told apart.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "schema/generated/records.h"

namespace dyetrace::api {

// What colours mean; the numbers are those of the page, too.
enum class TimelineColour : std::uint8_t {
    kClass,    // of the event, as in schema
    kContent,  // 0: none was looked at; else one of kContents, the same for the same bytes
    kLatency,  // how many digits more than a microsecond has: 0 below 1 µs, 1 below 10 µs, … 7 from 1 s on
};
inline constexpr std::size_t kTimelineColourings = 3;
inline constexpr std::size_t kTimelineColours = 16;  // of each
inline constexpr std::uint8_t kContents = 12;        // as many as people tell apart

struct TimelineEvent {
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::uint64_t id = 0;
    std::uint16_t name = 0;  // a number that the caller knows
    std::uint8_t call_class = 0;
    std::uint8_t content = 0;
    double waited = 0;  // share of the time in which its thread did not run
    bool is_error = false;
    bool is_unfinished = false;
};

constexpr std::uint8_t content_colour(std::uint64_t fingerprint) {
    return static_cast<std::uint8_t>(1 + (fingerprint * 0x9e3779b97f4a7c15u >> 32) % kContents);
}

constexpr std::uint8_t latency_colour(std::uint64_t duration_ns) {
    std::uint8_t band = 0;
    for (std::uint64_t limit = 1'000; band < 7 && duration_ns >= limit; limit *= 10) {
        ++band;
    }
    return band;
}

// Whether a call waits for whatever comes (poll, futex, sleep) and does nothing else.
constexpr bool is_wait(std::uint8_t call_class) {
    return call_class == static_cast<std::uint8_t>(schema::Class::kWait);
}

// How much a time counts for the colour of what it is in: waiting nothing where there is anything else, a call without content little beside one
// that has some.
constexpr double colour_weight(TimelineColour colouring, std::uint8_t colour, bool is_work) {
    constexpr double kWaitWeight = 1e-9, kNoContentWeight = 1.0 / 64;
    return (is_work ? 1 : kWaitWeight) *
           (colouring == TimelineColour::kContent && colour == 0 ? kNoContentWeight : 1);
}

class LaneEvent {
  public:
    explicit LaneEvent(const TimelineEvent& event)
        : begin_ns_(event.begin_ns),
          id_(event.id),
          duration_(packed(std::max(event.end_ns, event.begin_ns) - event.begin_ns)),
          name_(event.name),
          colours_(static_cast<std::uint8_t>(event.call_class % kTimelineColours |
                                             event.content % kTimelineColours << 4)),
          bits_(static_cast<std::uint8_t>(
              static_cast<std::uint8_t>(std::clamp(event.waited, 0.0, 1.0) * kWaitedMax + kHalf) |
              (event.is_error ? kError : 0) | (event.is_unfinished ? kUnfinished : 0))) {}

    std::uint64_t begin_ns() const { return begin_ns_; }
    std::uint64_t duration_ns() const {
        return static_cast<std::uint64_t>(duration_ & kMantissaMax) << (duration_ >> kMantissaBits);
    }
    std::uint64_t end_ns() const { return begin_ns_ + duration_ns(); }
    std::uint64_t id() const { return id_; }
    std::uint16_t name() const { return name_; }
    double waited() const { return (bits_ & kWaitedMax) / static_cast<double>(kWaitedMax); }
    bool is_error() const { return (bits_ & kError) != 0; }
    bool is_unfinished() const { return (bits_ & kUnfinished) != 0; }
    bool is_work() const { return !is_wait(colour(TimelineColour::kClass)); }
    double weight(TimelineColour colouring) const {
        return colour_weight(colouring, colour(colouring), is_work());
    }
    std::uint8_t colour(TimelineColour colouring) const {
        switch (colouring) {
            case TimelineColour::kClass:
                return colours_ % kTimelineColours;
            case TimelineColour::kContent:
                return colours_ / kTimelineColours;
            case TimelineColour::kLatency:
                break;
        }
        return latency_colour(duration_ns());
    }

  private:
    static constexpr unsigned kMantissaBits = 27;
    static constexpr std::uint32_t kMantissaMax = (1u << kMantissaBits) - 1;
    static constexpr std::uint8_t kWaitedMax = 63, kError = 64, kUnfinished = 128;
    // Rounds, with a cast: std::lround is a call, and takes three times as long.
    static constexpr double kHalf = 0.5;

    // Rounded down: a call does not reach into the next one. 5 bits of shift are enough for 58 bits: nine years.
    static std::uint32_t packed(std::uint64_t duration_ns) {
        const std::uint64_t held = std::min(duration_ns, (std::uint64_t{1} << 58) - 1);
        const auto width = static_cast<unsigned>(std::bit_width(held));
        const unsigned shift = width > kMantissaBits ? width - kMantissaBits : 0;
        return static_cast<std::uint32_t>(held >> shift) | shift << kMantissaBits;
    }

    std::uint64_t begin_ns_;
    std::uint64_t id_;
    std::uint32_t duration_;
    std::uint16_t name_;
    std::uint8_t colours_;
    std::uint8_t bits_;
};
static_assert(sizeof(LaneEvent) == 24);

}  // namespace dyetrace::api
