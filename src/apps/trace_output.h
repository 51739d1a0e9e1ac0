// Turns what the kernel wrote into the lines of `dyetrace trace`: chosen, in order, in words.
//
//   capture ──take()──► facts ► dictionary
//                       events ► chosen ► batch ──flush()──► by their end ► lines ► write
//
// Records of one batch (one drain of all rings) are put in order; between batches the order is that of the drains. One
// thread. Memory: one batch, at most what the rings hold.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/trace_options.h"
#include "format/call_summary.h"
#include "format/line.h"
#include "schema/dictionary.h"
#include "schema/record.h"
#include "schema/record_info.h"

namespace dyetrace::apps {

// Which events are shown.
class TraceSelector {
  public:
    // All borrowed.
    TraceSelector(const TraceOptions& options, const schema::Dictionary& dictionary)
        : options_(options), dictionary_(dictionary) {}

    bool shows(const schema::SyscallEvent& event) const;

  private:
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
    // `printer` makes the text of an event with its line end; `write` gets whole lines. `options` and `dictionary` must outlive it.
    TraceOutput(const TraceOptions& options,
                schema::Dictionary& dictionary,
                EventPrinter printer,
                std::function<void(std::string_view)> write);

    // Records one after the other, as capture hands them out; what is no record ends them.
    void take(std::uint32_t cpu, schema::Stream stream, std::span<const std::byte> records);
    // The end of a drain.
    void flush();

    // The table of -c and -C.
    std::string summary() const { return summary_.text(); }
    std::uint64_t shown() const { return shown_; }
    std::uint64_t hidden() const { return hidden_; }

  private:
    struct Waiting {
        std::uint64_t end_ns;
        std::uint32_t cpu;
        std::size_t at;  // in words_
        std::size_t bytes;
    };
    void keep(std::uint32_t cpu, const schema::SyscallEvent& event);

    const TraceOptions& options_;
    schema::Dictionary& dictionary_;
    TraceSelector selector_;
    EventPrinter printer_;
    std::function<void(std::string_view)> write_;
    std::vector<std::uint64_t> words_;
    std::vector<Waiting> waiting_;
    std::string text_;
    format::CallSummary summary_;
    std::uint64_t shown_ = 0;
    std::uint64_t hidden_ = 0;
};

// One line per event, coloured and with the thread in front as `style` says.
EventPrinter line_printer(const format::LineStyle& style, const schema::Dictionary& dictionary);

}  // namespace dyetrace::apps
