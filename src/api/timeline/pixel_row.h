// A row of a timeline while it is drawn: what falls into each pixel is added up, what is longer than one stays a slice of its own.
//
//   events     ▕██▏      ▏▎▎▕       ▕██████████████▏
//   pixels  │     │     │     │     │     │     │     │
//   runs     single        3 events     a slice, from where to where it exactly was
//
// Runs come in order of x0. Neighbouring pixels that look the same are one run, so that a row has at most as many as pixels and slices.
#pragma once

#include <cstdint>
#include <vector>

#include "api/timeline/lane_event.h"
#include "api/timeline/time_window.h"

namespace dyetrace::api {

struct TimelineRun {
    enum Flag : std::uint8_t {
        kError = 1,       // one of them failed
        kUnfinished = 2,  // one of them never returned
        kSingle = 4,      // it is one event, whose id and name follow
        kWork = 8,        // one of them did more than wait for whatever comes
    };

    float x0 = 0, x1 = 0;     // pixels from the begin of the window
    std::uint32_t count = 0;  // events that begin in it
    std::uint8_t colour = 0;  // of most of its work
    // Heights: 255 where its thread was in a call all the time; of several threads, all of them.
    std::uint8_t fill = 0;  // in any call
    std::uint8_t work = 0;  // in a call that did more than wait for whatever comes
    std::uint8_t ran = 0;   // and ran
    std::uint8_t flags = 0;
    std::uint16_t name = 0;
    std::uint64_t event = 0;
};

// Events that lie so close that one look at them is enough.
struct EventSum {
    std::uint32_t count = 0;
    float busy_ns = 0;                               // in calls
    float work_ns = 0, ran_ns = 0;                   // in those that did more than wait, and ran
    std::uint8_t colours[kTimelineColourings] = {};  // of most of their time
    std::uint8_t flags = 0;
};

// All but kSingle.
std::uint8_t event_flags(const LaneEvent& event);

class PixelRow {
  public:
    // If there are several threads, nothing is a slice, and heights are logarithms: log(1 + busy) /
    // log(1 + threads).
    PixelRow(const TimeWindow& window, TimelineColour colouring, std::uint32_t threads);

    const TimeWindow& window() const { return window_; }
    bool is_group() const { return threads_ != 1; }

    // Which pixel both are in; kNone: not the same one, or they are not in the window.
    static constexpr std::uint32_t kNone = UINT32_MAX;
    std::uint32_t common_pixel(std::uint64_t begin_ns, std::uint64_t end_ns) const;

    // Must touch the window, and be there until runs().
    void add(const LaneEvent& event);
    void add(std::uint32_t pixel, const EventSum& sum);
    // The share of a sum that is between two positions; count is that of the whole.
    void add(double x0, double x1, const EventSum& sum);

    std::vector<TimelineRun> runs();

  private:
    struct Pixel {
        double busy = 0, work = 0, ran = 0;  // in pixels: 1 is one thread all the time
        std::uint32_t count = 0;
        std::uint8_t flags = 0;
        const LaneEvent* event = nullptr;  // the only one that begins here
        float weights[kTimelineColours] = {};
    };
    // A step holds from a pixel on, until another step ends it.
    struct Step {
        double busy = 0, work = 0, ran = 0;
        double weights[kTimelineColours] = {};
    };

    double position(std::uint64_t time_ns) const;  // as the window's
    void spread(double x0, double x1, const LaneEvent& event);
    void sum_steps();
    TimelineRun run_of(const LaneEvent& event) const;
    TimelineRun run_of(std::uint32_t x) const;
    std::uint8_t height_of(double busy, int least) const;

    TimeWindow window_;
    double per_ns_;           // pixels
    std::uint64_t pixel_ns_;  // no pixel is longer
    TimelineColour colouring_;
    std::uint32_t threads_;
    std::vector<Pixel> pixels_;
    std::vector<Step> steps_;  // empty: there are none
    std::vector<TimelineRun> slices_;
};

}  // namespace dyetrace::api
