// Makes an event of each firing of a probe: record --probe.
//
//   TRY(auto probes, ProbeRecorder::load(options, listener.capture().watched_tasks()));
//   TRY(probes.attach(facts, append));
//   … probes.collect();  the capture's rings are drained, which hands out who ran;  TRY(probes.write(facts, hide)); …
//   probes.detach();                       then collect() and write() once more
//
// Who ran is the context that the capture has announced of that thread; of one that it has not seen yet (a thread of the kernel, one that
// made no call so far) there is a context of ours. Ours count down from the largest number, the kernel's count up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/accounting.h"
#include "capture/loaded_probe.h"
#include "capture/probe_lookup.h"
#include "recorder/fact_writer.h"
#include "recorder/record_writer.h"
#include "schema/record.h"

namespace dyetrace::recorder {

struct ProbeOptions {
    std::vector<std::string> probes;  // each as a statement's FROM has it
    capture::RecordedStacks stacks;
};

class ProbeRecorder {
  public:
    // Takes text that the kernel or a program had, and returns what may be kept of it.
    using Hide = std::function<std::string(std::string text)>;

    // Loaded, not attached. The error says which probe it is about.
    static Result<ProbeRecorder> load(const ProbeOptions& options,
                                      const capture::WatchedTasks& watched);

    // Where a probed function returns, the kernel goes through a system call of its own, which the program knows nothing of.
    static Result<filter::Predicate> without_its_calls(const filter::Predicate& predicate);

    // Says what is watched, too. `events` takes what write() makes.
    Result<void> attach(FactWriter& facts, RecordWriter::Append events);
    void detach();

    void collect();
    // Bytes of rows that were written.
    Result<std::uint64_t> write(FactWriter& facts, const Hide& hide);
    // Every firing that ended before has been collected.
    std::uint64_t complete_ns() const { return collected_ns_; }

    capture::Accounting accounting() const;
    // What is missing besides lost rows: "3 calls of …", a line each.
    std::vector<std::string> missing() const;

  private:
    // Where a row has what an event is made of: numbers of its fields.
    struct Columns {
        std::size_t context, thread, thread_start, process_start, comm, time, cpu;
        std::size_t place, duration, result, kernel_stack, user_stack;  // SIZE_MAX: it has none
        std::size_t arguments;                                          // the first of them
    };
    struct One {
        std::string text;
        capture::RecordedProbe found;
        std::unique_ptr<capture::LoadedProbe> loaded;
        Columns columns;
        std::uint32_t first_place = 0;
        std::vector<std::byte> rows;  // collected, not written yet
        std::uint64_t left_out = 0;   // by its condition, here
        std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> stacks;
    };

    static Columns columns_of(const capture::RecordedProbe& found);
    Result<void> write_row(One& one,
                           std::span<const std::byte> row,
                           FactWriter& facts,
                           const Hide& hide);
    Result<std::uint32_t> context_of(const One& one,
                                     const filter::RowValues& row,
                                     FactWriter& facts);
    Result<std::uint32_t> stack_of(One& one, const filter::RowValues& row, FactWriter& facts);
    void append_arguments(const One& one, const filter::RowValues& row, const Hide& hide);

    std::vector<std::unique_ptr<One>> probes_;  // they stay where they are, as their rings know it
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> strangers_;
    std::uint32_t next_stack_ = 1;
    std::uint64_t collected_ns_ = 0;
    std::optional<RecordWriter> events_;  // once it is attached
    std::string text_;
};

}  // namespace dyetrace::recorder
