// Everything that flows reach from some bytes: forward, where they went; back, where they came from.
//
//   flows    R ─hash─► W ─file─► S ─hash─► T        Trail trail(flows, Direction::kForward, limits);
//   start    R, its bytes 0 to 100                  trail.start({R, 0, 100}); trail.walk();
//                                                   trail.steps()   R ─► W   W ─► S   S ─► T, each with the range of bytes
//
// Only the bytes that were asked for are followed through each flow. Each byte of an event is followed once, so a trail ends
// even where processes send each other the same bytes for ever.
//
// With offer() it also goes where nobody saw the bytes go: a process that took in bytes of the trail may have put them into
// whatever it, or a process that it made later, wrote afterwards. These steps have the rule `process` and are possible; where the
// content of an event on the way there comes back, as a whole or by an anchor, they are likely, by the rule `hash` or `anchor`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/dataflow/flow.h"
#include "analysis/dataflow/operation.h"
#include "analysis/dataflow/reached_content.h"

namespace dyetrace::analysis {

enum class Direction : std::uint8_t { kForward, kBack };

// A Flow as a trail keeps it: a call moves 2 GiB at most.
struct TrailFlow {
    std::uint64_t from_event = 0, to_event = 0;
    std::uint64_t from_offset = 0, to_offset = 0;
    std::uint32_t from_position = 0, to_position = 0;
    std::uint32_t bytes = 0;
    schema::FlowRule rule = schema::FlowRule::kFile;
    schema::Certainty certainty = schema::Certainty::kCertain;
};

// Bytes begin to end of those that an event moved.
struct TrailPiece {
    std::uint64_t event = 0;
    std::uint64_t begin = 0, end = 0;
};

// A step goes from an event that the trail had reached to the next one, away from where it started.
struct TrailStep {
    std::uint64_t near_event = 0, far_event = 0;
    std::uint64_t far_offset =
        0;  // in the object that far_event took them out of (back: put them into); kUnknown
    std::uint64_t bytes = 0;
    schema::FlowRule rule = schema::FlowRule::kFile;
    schema::Certainty certainty = schema::Certainty::kCertain;
};

inline constexpr std::size_t kTrailStepsMax =
    4'000'000;  // what a question lets it go: 48 bytes each, and what they reach, 500 MB

class Trail {
  public:
    // After steps_max steps it ends, and is_cut() says so.
    Trail(std::vector<TrailFlow> flows, Direction direction, std::size_t steps_max);

    // Possible steps need what a process did, in any order, and who made whom. Its anchors must live on.
    void offer(const Operation& operation);
    void offer(const ProcessLink& link) { links_.push_back(link); }

    void start(const TrailPiece& piece);
    void walk();

    const std::vector<TrailStep>& steps() const { return steps_; }
    bool is_cut() const { return is_cut_; }
    bool has_reached(std::uint64_t event) const { return reached_.contains(event); }
    // How many of its bytes the trail has reached.
    std::uint64_t bytes_reached(std::uint64_t event) const;

  private:
    struct Act {
        std::uint64_t process = 0, time_ns = 0;
        bool passes_on = false;  // what it carried, from this time on (back: until then)
        ReachedContent::Place place = 0;
        std::uint64_t key = 0;  // of its whole content; 0: not known
        std::span<const Anchor> anchors = {};
    };
    struct ProcessMove {  // what a process did, and is not reached yet
        std::uint64_t event, time_ns, bytes, offset;
    };
    struct Moment {
        std::uint64_t process, time_ns;
    };
    using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

    bool is_forward() const { return direction_ == Direction::kForward; }
    std::uint64_t near_of(const TrailFlow& flow) const;
    Ranges add_reached(const TrailPiece& piece);
    void add_step(const TrailStep& step, std::uint64_t far_position);
    void follow_flows(const TrailPiece& piece);
    void follow_process(const TrailPiece& piece);
    void reach(const TrailPiece& piece);
    void meet(ReachedContent::Place place, const Act& act);
    ReachedContent::Place place_of(std::uint64_t event) const;
    std::optional<schema::FlowRule> came_back(std::uint64_t event,
                                              ReachedContent::Place near) const;
    void follow_process_moves(const TrailPiece& piece, const Moment& moment);
    void prepare();

    std::vector<TrailFlow> flows_;  // by near event
    Direction direction_;
    std::size_t steps_max_;
    std::unordered_map<std::uint64_t, Act> acts_;  // by event
    std::unordered_map<std::uint64_t, std::vector<ProcessMove>>
        process_moves_;  // by process; those to reach next are last
    std::vector<ProcessLink> links_;
    std::unordered_multimap<std::uint64_t, ProcessLink>
        relatives_;  // children of a parent; back: the parent of a child
    std::unordered_map<std::uint64_t, Ranges> reached_;
    ReachedContent met_;
    std::deque<TrailPiece> waiting_;
    std::vector<TrailStep> steps_;
    bool is_cut_ = false;
};

}  // namespace dyetrace::analysis
