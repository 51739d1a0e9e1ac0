// One recording from start to end: listens, keeps the accounting, writes segments.
//
//   TRY(Recording recording, Recording::start(options));   programs loaded, folder made, nothing attached
//   TRY(const Summary summary, recording.run(log));         until the command, the processes, the time or a signal ends it
//
// This loop has its own clock: it looks at the rings every millisecond while there is something, and less and less often when there is
// nothing; a ring that fills up meanwhile wakes it. Between looks it keeps out of the way (recorder/background.h).
//
// Failure: what cannot begin leaves no folder behind. A disk that gets full ends the recording and not the command; the trace
// ends with a gap that says since when events are missing and how many the kernel counted. Kill -9 loses what is in the rings
// and in pending blocks: a quarter of a second; the trace says since when.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "capture/capture.h"
#include "capture/dye.h"
#include "capture/secrets.h"
#include "recorder/companions.h"
#include "recorder/control.h"
#include "recorder/probe_recorder.h"
#include "recorder/targets.h"
#include "recorder/test_clock.h"
#include "trace/payload_file.h"
#include "trace/segment_writer.h"
#include "trace/trace_folder.h"

namespace dyetrace::recorder {

struct RecordingOptions {
    std::string trace_path;
    std::optional<gid_t> group;  // may read the trace; nothing: its owner alone
    Targets targets;
    // What is seen and kept. What follows from the rest is filled in by start(): its host, its patterns of dyes, its payload rings.
    capture::CaptureOptions capture;
    std::string node_by = "host";
    std::vector<capture::Dye> dyes;       // no two of the same name; `dyetrace dye add` names more
    capture::Secrets secrets;             // not part of the trace, nor what it was given
    ProbeOptions probes;                  // watched besides system calls
    std::optional<TestClock> test_clock;  // in builds for tests
    bool seal = true;                     // start the sealer
    bool show_page = false;               // start the page
    Control control;                      // of an agent, which says when it begins
    std::uint16_t host_index = 0;         // in the trace that an agent's collector makes of many
    std::string host_name;                // as that collector knows it; empty: as the kernel does
    std::uint64_t segment_records = trace::SegmentLimits().records_max;
    std::vector<std::pair<std::string, std::string>> as_given;  // for trace.json
};

struct Summary {
    bool failed = false;          // said already; the trace ends early
    std::uint64_t unwritten = 0;  // events that the kernel counted and that did not reach the disk
    std::uint64_t events = 0;     // in the trace, without their parts
    std::uint64_t generated = 0;  // calls that ended, whatever became of them
    std::uint64_t lost = 0;       // by full rings
    std::uint64_t not_run = 0;    // the kernel ran no program for them
    std::uint64_t filtered = 0;
    std::uint64_t facts_lost = 0;
    std::uint64_t probed = 0;                // of events: firings of probes
    std::uint64_t probes_lost = 0;           // of lost
    std::vector<std::string> probes_missed;  // a line each
    std::uint64_t stored_bytes = 0;          // of the whole folder, as far as it is sealed
    std::uint64_t elapsed_ns = 0;
    std::uint64_t own_cpu_ns = 0;
    std::uint64_t own_memory_bytes = 0;
    std::string dye_hits;                         // by name; empty: nothing was looked for
    std::optional<trace::PayloadTotals> payload;  // with ContentLevel::kBytes
    std::vector<std::string> not_seen;            // a line each
};

class Recording {
  public:
    static Result<Recording> start(RecordingOptions options);

    Recording(Recording&&) noexcept;
    Recording& operator=(Recording&&) noexcept;
    ~Recording();

    // The trace is on the disk when it returns; the command may go on, and the companions do.
    Result<Summary> run(const base::Log& log, Companions& companions);
    // wait()'s status; nothing if there is none.
    std::optional<int> await_command();

  private:
    struct State;
    explicit Recording(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace dyetrace::recorder
