// Turns what the kernel wrote into the lines of `dyetrace trace`: chosen, in order, in words.
//
//   capture ──take()──► facts ► dictionary
//                       events ► chosen ► batch ──flush()──► by their end ► lines ► write
//
// Records of one batch (one drain of all rings) are put in order; between batches the order is that of the drains. That a
// thread ended is a fact; one that was written after the drain began waits for the next, in which the thread's last events
// may be. One thread. Memory: one batch, at most what the rings hold.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/call_summary.h"
#include "format/line.h"
#include "schema/dictionary.h"
#include "schema/record.h"
#include "schema/record_info.h"
#include "strace/trace_options.h"

namespace dyetrace::strace {

// Which events are shown.
class TraceSelector {
  public:
    // All borrowed.
    TraceSelector(const TraceOptions& options, const schema::Dictionary& dictionary)
        : options_(options), dictionary_(dictionary) {}

    bool shows(const schema::SyscallEvent& event) const;
    // -P: hidden, but shown if it turns out that it touches a file that was asked for: one of a poll set.
    bool waits_for_objects(const schema::SyscallEvent& event) const;
    bool wants(const schema::EventObject& touched) const;

  private:
    bool is_asked_for(const schema::SyscallEvent& event) const;
    bool has_status(const schema::SyscallEvent& event) const;
    bool has_path(const schema::SyscallEvent& event) const;
    bool is_wanted(std::string_view path) const;

    const TraceOptions& options_;
    const schema::Dictionary& dictionary_;
};

// Appends one event as it is shown; LineWriter is one, JSON another.
using EventPrinter =
    std::function<void(std::string& out, std::uint32_t cpu, schema::RecordBytes event)>;

class TraceOutput {
  public:
    // Gets whole lines, and the thread that they are about; 0 unless threads are separate.
    using Write = std::function<void(std::uint32_t tid, std::string_view lines)>;

    // `printer` makes the text of an event with its line end. `options` and `dictionary` must outlive it.
    TraceOutput(const TraceOptions& options,
                schema::Dictionary& dictionary,
                EventPrinter printer,
                Write write);

    // Records one after the other, as capture hands them out; what is no record ends them.
    void take(std::uint32_t cpu, schema::Stream stream, std::span<const std::byte> records);
    // The end of a drain that began then, on CLOCK_BOOTTIME; of the last one: kLast.
    void flush(std::uint64_t drain_began_ns);
    static constexpr std::uint64_t kLast = ~std::uint64_t{0};

    // The table of -c and -C.
    std::string summary() const { return summary_.text(options_.summary_order); }
    std::uint64_t shown() const { return shown_; }
    std::uint64_t hidden() const { return hidden_; }

  private:
    struct Waiting {
        std::uint64_t end_ns;
        std::uint32_t tid;
        std::uint32_t cpu;
        std::size_t at;  // in words_
        std::size_t bytes;
    };
    bool shows(const schema::ThreadEnd& end) const;
    void take_call(std::uint32_t cpu, const schema::SyscallEvent& event);
    void show_call(std::uint32_t cpu, const schema::SyscallEvent& event);
    void take_touched(std::uint32_t cpu, const schema::EventObject& touched);
    void take_signal(std::uint32_t cpu, const schema::SignalEvent& event);
    void keep(std::uint64_t end_ns,
              std::uint32_t tid,
              std::uint32_t cpu,
              const schema::RecordHeader& header);

    const TraceOptions& options_;
    schema::Dictionary& dictionary_;
    TraceSelector selector_;
    EventPrinter printer_;
    Write write_;
    std::vector<std::uint64_t> words_;
    std::vector<Waiting> waiting_;
    std::vector<schema::ThreadEnd> ends_;                            // not shown yet
    std::map<std::uint32_t, std::vector<std::uint64_t>> set_aside_;  // a call by CPU; -P only
    std::map<std::uint32_t, std::string> texts_;
    format::CallSummary summary_;
    std::uint64_t shown_ = 0;
    std::uint64_t hidden_ = 0;
};

// -e raw=, abbrev=, verbose=, read=, write=.
class OptionDetails : public format::CallDetails {
  public:
    // Borrowed.
    explicit OptionDetails(const TraceOptions& options) : options_(options) {}
    format::CallDetail of(const schema::SyscallInfo& call,
                          const schema::SyscallEvent& event) const override;

  private:
    const TraceOptions& options_;
};

// One line per event, coloured and with the thread in front as `style` says.
EventPrinter line_printer(const format::LineStyle& style, const schema::Dictionary& dictionary);

}  // namespace dyetrace::strace
