// A trace in Perfetto's own format (https://perfetto.dev/docs/reference/trace-packet-proto): track events.
//
//   host web1                                  a track
//   ├─ lost events                             gaps, a slice each
//   └─ nginx 4711                              process
//      └─ nginx 4711                           thread: a slice per event, its values as arguments; arrows are flows
//         └─ nginx 4711, overlapping           calls that were under way beside another one of the thread (AIO), so that slices nest
//
//   PerfettoWriter writer(scene, names, sink);
//   TRY(writer.begin({.first_ns = …, .wall_offset_ns = …}));
//   TRY(writer.add(event));              each thread's events by begin_ns, of two with the same the longer one first
//   TRY(writer.end());
//
// Tracks are told apart by uuids made of the ids of the trace: pids come again, on one host and on another.
//
// Limits: memory is what names it has seen since it last forgot them (kNamesMax), and a few hundred bytes per thread. Of a thread's
// calls at most kLanesMax are shown under way at once; what begins beside them is an instant, counted by crowded().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exporter/event.h"
#include "exporter/protobuf.h"

namespace dyetrace::exporter {

// Times of events become Perfetto's BOOTTIME by `wall_offset_ns`; its page shows the wall clock with it. Nothing: they are boot time.
struct PerfettoClock {
    std::int64_t first_ns = 0;  // about when it begins, by the clock of the events
    std::optional<std::int64_t> wall_offset_ns = {};
};

struct LostEvents {
    std::uint32_t host_index = 0;
    std::int64_t begin_ns = 0;
    std::uint64_t duration_ns = 0;
    std::optional<std::uint64_t> lost = {};
    std::string_view reason;
    std::optional<std::uint32_t> cpu = {};
};

class PerfettoWriter {
  public:
    static constexpr std::size_t kNamesMax = 1u << 16;  // 10 MB or so of paths
    static constexpr std::size_t kLanesMax = 64;

    // `scene` must outlive it.
    PerfettoWriter(const Scene& scene, std::vector<ValueName> names, Sink sink);

    Result<void> begin(const PerfettoClock& clock);
    // They come sorted by begin_ns, before or between events.
    Result<void> add(const LostEvents& lost);
    Result<void> add(const Event& event);
    Result<void> end();

    std::uint64_t crowded() const { return crowded_; }

  private:
    // Slices that have begun, each inside of the one before: when they end.
    struct Lane {
        std::uint64_t uuid = 0;
        std::vector<std::int64_t> ends;
    };
    struct Track {
        std::uint64_t parent = 0;
        std::string name;
        bool is_described = false;
        std::vector<Lane> lanes;  // the first is the track itself
    };
    // Texts that were given a number, to be said once.
    struct Names {
        std::uint32_t field;  // of InternedData
        std::unordered_map<std::string, std::uint64_t> numbers = {};
    };

    Track& host_track(std::uint32_t host_index);
    Track& lost_track(std::uint32_t host_index);
    Track& process_track(std::uint64_t process_id);
    Track& thread_track(std::uint64_t thread_id);
    Track& track(std::uint64_t uuid, std::uint64_t parent, std::string_view name);
    void describe(std::uint64_t uuid, Track& track);
    void write_descriptor(std::uint64_t uuid, std::uint64_t parent, std::string_view name);

    Lane* lane_for(Track& track, std::int64_t begin, std::int64_t end);
    void leave_until(Lane& lane, std::int64_t time);
    void write_end(std::uint64_t uuid, std::int64_t time);

    std::uint64_t number_of(Names& names, std::string_view text);
    void append_values(const Event& event);
    void append_value(std::size_t name, std::string_view text);
    void forget_names();
    // What event_ and interned_ hold.
    void write_event(std::int64_t time);
    Result<void> flush(std::size_t at_least);

    const Scene& scene_;
    std::vector<ValueName> value_names_;
    Sink sink_;
    std::int64_t offset_ns_ = 0;
    std::uint64_t crowded_ = 0;
    bool forgets_ = true;  // the next event says that names begin anew
    std::unordered_map<std::uint64_t, Track> tracks_;
    Names classes_, event_names_, argument_names_, strings_;
    std::string out_, event_, interned_;
};

}  // namespace dyetrace::exporter
