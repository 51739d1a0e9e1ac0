// Flows between the operations of a trace, by the rules of docs/following.md.
//
//   FlowEngine engine({}, lineage);
//   for each moment of the trace, in order of time, ends before starts:
//       engine.starts(operation)          for those that touch_in_flight(): what overlaps in time is less certain
//       engine.ends(operation, flows)     flows between it and what ended before are added
//
// An operation is told twice, with the same values: a trace knows it when it ended. One whose start is not told took no time.
//
// O(log extents) per operation. Memory: extents_max extents of 80 bytes in leaves that are at least half full, and reads_max reads.
// Over the limit the quarter of the leaves that was not touched for longest goes into the store, if there is one, and comes
// back when it is asked for: the flows are the same. Without one, over leaves_max, and of all else, what is oldest is forgotten,
// and counted. Measured (flow_engine_bench): see docs/performance.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analysis/dataflow/anchor_memory.h"
#include "analysis/dataflow/byte_stream.h"
#include "analysis/dataflow/content_memory.h"
#include "analysis/dataflow/datagrams.h"
#include "analysis/dataflow/dye_memory.h"
#include "analysis/dataflow/file_history.h"
#include "analysis/dataflow/mailbox.h"
#include "analysis/dataflow/message_queue.h"
#include "analysis/dataflow/operation.h"

namespace dyetrace::analysis {

struct FlowLimits {
    std::size_t extents_max = 4'000'000;  // ranges whose writer is known, in memory: 640 MB at most
    // A leaf has up to 64 ranges; those in memory and those in the store count. It takes 90 bytes,
    // and 400 in all where a file has but one range.
    std::size_t leaves_max = 4'000'000;
    std::size_t streams_max = 500'000;  // pipes and connections: 300 bytes each without extents
    std::size_t reads_max = 1'000'000;  // reads remembered by content, twice over: 200 MB
    std::size_t anchors_max =
        1'000'000;  // of reads, of 1 GB at the usual distance, twice over: 200 MB
    std::size_t dyes_max = 1'000'000;  // occurrences in reads, twice over: 200 MB
};

class FlowEngine {
  public:
    // `store`, if there is one, must outlive it.
    FlowEngine(const FlowLimits& limits, const Lineage& lineage, ExtentStore* store = nullptr);
    FlowEngine(const FlowEngine&) = delete;  // its parts refer to one another
    FlowEngine& operator=(const FlowEngine&) = delete;

    // Whether starts() wants to know of it: writes to files, reads from them that took long, and calls whose order
    // decides which bytes they moved.
    static bool touch_in_flight(const Operation& operation);

    void starts(const Operation& operation);
    void ends(const Operation& operation, std::vector<Flow>& flows);
    // No more comes: adds what was waited for to be more certain.
    void finish(std::vector<Flow>& flows) { anchors_.finish(flows); }

    // Ranges, streams, messages and reads that were left out to stay within the limits: flows from them are missing.
    std::uint64_t forgotten() const;
    // Writers that were left out where more than 1 + kOthersMax wrote to the same bytes at a time.
    std::uint64_t crowded_out() const { return pool_.crowded_out; }
    // Ranges that went into the store, each time they did.
    std::uint64_t put_away() const { return pool_.put_away; }

  private:
    // The two ends of a TCP connection are two sockets; [i] carries what ends[i] sends.
    struct Connection {
        explicit Connection(ExtentPool& pool) : streams{ByteStream(pool), ByteStream(pool)} {}
        std::uint64_t ends[2] = {0, 0};
        ByteStream streams[2];
        std::uint64_t last_ns = 0;
    };
    struct Stream {
        explicit Stream(ExtentPool& pool) : bytes(pool) {}
        ByteStream bytes;
        std::uint64_t last_ns = 0;
    };

    ByteStream* tcp_stream(const Side& side, bool sends, std::uint64_t now_ns);
    ByteStream& stream_of(std::uint64_t object, std::uint64_t now_ns);
    FileHistory& file_of(std::uint64_t object);
    // Position of the first byte on that side, or kUnknown.
    std::uint64_t take(const Operation& operation, std::vector<Flow>& flows);
    std::uint64_t put(const Operation& operation, std::vector<Flow>& flows);
    void see_empty(const Operation& operation, std::vector<Flow>& flows);
    void cut(const Operation& operation);
    template <typename Visit>
    void each_owner(Visit&& visit);
    std::uint64_t oldest_leaves(bool those_away);
    void put_some_away(std::uint64_t now_ns);
    void forget_some(std::uint64_t now_ns);
    void forget_streams();

    FlowLimits limits_;
    ExtentPool pool_;
    Ancestry ancestry_;
    ContentMemory content_;
    AnchorMemory anchors_;
    DyeMemory dyes_;
    std::unordered_map<std::uint64_t, FileHistory> files_;
    std::unordered_map<std::uint64_t, Connection> connections_;  // by connection
    std::unordered_map<std::uint64_t, Stream>
        streams_;  // pipes; unix sockets by the end that takes
    std::unordered_map<std::uint64_t, MessageQueue> messages_;  // by the end that takes
    std::unordered_map<std::uint64_t, Mailbox> mailboxes_;
    Datagrams datagrams_;
    std::uint64_t forgotten_ = 0;
};

}  // namespace dyetrace::analysis
