// Logs of Falcon and of CaT as a trace: events in, in any order; records out, in the order of FalconOrder.
//
//   FalconImport falcon(trace, problems, options);
//   TRY(falcon.read(input));            each log, one after another; hosts are told by the threads' names
//   TRY(falcon.finish());               says in the trace's coverage what the logs do not tell
//
// What stands for what: docs/importing.md. Limits: kEventsHeldMax events are held at a time: a log that is less in order than that has them
// after each other where they should not be, and says so.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "importer/falcon_clock.h"
#include "importer/falcon_event.h"
#include "importer/falcon_order.h"
#include "importer/imported_trace.h"
#include "importer/log_options.h"
#include "importer/problems.h"
#include "importer/text_input.h"

namespace dyetrace::importer {

// Some 300 bytes each, and the texts of log lines.
inline constexpr std::size_t kEventsHeldMax = 1u << 19;

class FalconImport {
  public:
    FalconImport(ImportedTrace& trace,
                 Problems& problems,
                 const LogOptions& options,
                 std::size_t held_max = kEventsHeldMax);

    Result<void> read(TextInput& input);
    // kCorrupt if the logs had no event.
    Result<void> finish();

  private:
    struct Host {
        std::string name;
        HostClock clock;
        HostWriter* writer = nullptr;
        std::unordered_map<std::string, std::pair<std::uint32_t, std::uint32_t>>
            objects;                                                      // object, handle
        std::unordered_map<std::uint32_t, std::uint64_t> process_starts;  // by pid
        std::uint32_t nameless_threads = 0;
        std::map<FalconType, std::uint64_t> counts;
    };
    struct Thread {
        TaskFacts facts;
        std::uint32_t context = 0;  // 0: not announced yet
        std::unordered_map<std::string, bool>
            owns_source;  // by socket: its end is the one that is called source
    };
    struct Parent {
        std::uint32_t pid;
        std::uint64_t start_ns;
    };

    Result<void> take(FalconEvent event, TimeUnit unit);
    Result<std::uint32_t> host_of(const FalconEvent& event, TimeUnit unit);
    Result<FalconPlace> pass(const FalconPassed& passed);
    Result<void> make_host(Host& host);
    std::uint32_t context_of(const FalconEvent& event, Host& host, std::uint64_t time_ns);
    void begin_thread(const FalconEvent& event, Host& host, Thread& thread, std::uint64_t time_ns);
    bool owns_source(const FalconEvent& event, Host& host);
    std::uint32_t socket_handle(const FalconEvent& event, Host& host, std::uint64_t time_ns);
    std::uint32_t file_handle(const FalconEvent& event, Host& host, std::uint64_t time_ns);
    std::uint64_t write(const FalconPassed& passed, Host& host, std::uint32_t context);
    std::uint64_t write_call(const FalconPassed& passed, Host& host, std::uint32_t context);
    std::uint64_t write_moment(const FalconPassed& passed, Host& host, std::uint32_t context);
    void write_edges(const FalconPassed& passed, Host& host, std::uint64_t sequence);
    void look_for_doubts(const FalconPassed& passed);
    void say_coverage(Host& host) const;

    ImportedTrace* trace_;
    Problems* problems_;
    const LogOptions* options_;
    std::size_t held_max_;
    FalconOrder order_;
    std::vector<std::string> files_;
    std::vector<Host> hosts_;
    std::unordered_map<std::string, std::uint32_t> host_numbers_;
    std::unordered_map<std::string, Thread> threads_;
    std::unordered_map<std::string, Parent> parents_;  // by thread
    bool has_begun_ = false, has_ended_ = false;
    std::uint64_t moved_ = 0, moved_ns_max_ = 0;
};

}  // namespace dyetrace::importer
