#include "analysis/dataflow/flow_engine.h"

#include <algorithm>
#include <utility>

namespace dyetrace::analysis {
namespace {

using schema::FlowRule;

bool is_counted(Channel channel) {
    return channel == Channel::kPipe || channel == Channel::kUnixStream;
}

FlowRule rule_of(Channel channel) {
    return channel == Channel::kPipe ? FlowRule::kPipe : FlowRule::kUnix;
}

Act act_of(const Operation& operation, const Side& side) {
    return {.event = operation.event,
            .object = side.object,
            .offset = side.offset,
            .start_ns = operation.start_ns,
            .end_ns = operation.end_ns,
            .certain = side.certain};
}

// Whose bytes a call on a pipe or unix socket puts: the pipe's, or those that the other end takes.
std::uint64_t taker_of(const Side& side) {
    return side.channel == Channel::kPipe ? side.object : side.other;
}

// The moment before which the oldest quarter lies.
std::uint64_t oldest_quarter(std::vector<std::uint64_t>& times) {
    const auto quarter = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
    std::nth_element(times.begin(), quarter, times.end());
    return *quarter + 1;
}

template <typename Streams>
std::uint64_t forget_oldest(Streams& streams, std::size_t streams_max) {
    if (streams.size() <= streams_max) {
        return 0;
    }
    std::vector<std::uint64_t> times;
    times.reserve(streams.size());
    for (const auto& [key, stream] : streams) {
        times.push_back(stream.last_ns);
    }
    const std::uint64_t before_ns = oldest_quarter(times);
    return std::erase_if(streams,
                         [&](const auto& entry) { return entry.second.last_ns < before_ns; });
}

// One that is told when it starts.
bool is_long_read(const Operation& operation) {
    return operation.from.channel == Channel::kFile && operation.from.offset != kUnknown &&
           operation.end_ns - operation.start_ns > kShortReadNs;
}

}  // namespace

FlowEngine::FlowEngine(const FlowLimits& limits, const Lineage& lineage, ExtentStore* store)
    : limits_(limits),
      pool_{.store = store},
      ancestry_(lineage),
      content_(limits.reads_max, ancestry_),
      anchors_(limits.anchors_max, ancestry_),
      dyes_(limits.dyes_max, ancestry_) {}

bool FlowEngine::touch_in_flight(const Operation& operation) {
    const Channel from = operation.from.channel, to = operation.to.channel;
    return to == Channel::kFile || is_long_read(operation) || is_counted(from) || is_counted(to) ||
           from == Channel::kUnixMessages || to == Channel::kUnixMessages ||
           from == Channel::kQueue || to == Channel::kQueue;
}

ByteStream* FlowEngine::tcp_stream(const Side& side, bool sends, std::uint64_t now_ns) {
    Connection& connection = connections_.try_emplace(side.other, pool_).first->second;
    connection.last_ns = now_ns;
    for (std::size_t i = 0; i < 2; ++i) {
        if (connection.ends[i] == 0) {
            connection.ends[i] = side.object;
        }
        if (connection.ends[i] == side.object) {
            return &connection.streams[sends ? i : 1 - i];
        }
    }
    return nullptr;  // a third socket with the same initial numbers: nobody can tell whose bytes these are
}

ByteStream& FlowEngine::stream_of(std::uint64_t object, std::uint64_t now_ns) {
    Stream& stream = streams_.try_emplace(object, pool_).first->second;
    stream.last_ns = now_ns;
    return stream.bytes;
}

FileHistory& FlowEngine::file_of(std::uint64_t object) {
    return files_.try_emplace(object, pool_).first->second;
}

void FlowEngine::starts(const Operation& operation) {
    const Side& from = operation.from;
    const Side& to = operation.to;
    if (is_counted(from.channel) && !from.peeks) {
        stream_of(from.object, operation.start_ns).take_starts(operation.event);
    } else if (from.channel == Channel::kUnixMessages) {
        messages_[from.object].take_starts(operation.event);
    } else if (from.channel == Channel::kQueue) {
        mailboxes_[from.object].take_starts(operation.event);
    } else if (is_long_read(operation)) {
        file_of(from.object).read_starts(operation.event, operation.start_ns);
    }
    if (to.channel == Channel::kFile && to.offset != kUnknown) {
        file_of(to.object).write_starts(operation.event, to.offset, to.offset + operation.bytes);
    } else if (is_counted(to.channel) && taker_of(to) != 0) {
        stream_of(taker_of(to), operation.start_ns).send_starts(operation.event);
    } else if (to.channel == Channel::kUnixMessages && to.other != 0) {
        messages_[to.other].send_starts(operation.event);
    } else if (to.channel == Channel::kQueue) {
        mailboxes_[to.object].send_starts(operation.event);
    }
}

std::uint64_t FlowEngine::take(const Operation& operation, std::vector<Flow>& flows) {
    const Side& side = operation.from;
    const Act act = act_of(operation, side);
    switch (side.channel) {
        case Channel::kFile:
            if (const auto file = files_.find(side.object);
                file != files_.end() && side.offset != kUnknown) {
                Act reader = act;
                reader.certain = act.certain && !side.mapped;
                file->second.read(reader, operation.bytes, flows);
                if (file->second.is_over(operation.end_ns)) {
                    files_.erase(file);
                }
            }
            return side.offset;
        case Channel::kTcp:
            if (ByteStream* const stream = tcp_stream(side, false, operation.end_ns);
                stream != nullptr && side.offset != kUnknown) {
                stream->taken(act, operation.bytes, side.peeks, FlowRule::kTcp, flows);
            }
            return side.offset;
        case Channel::kPipe:
        case Channel::kUnixStream:
            return stream_of(side.object, operation.end_ns)
                .take_next(act, operation.bytes, side, rule_of(side.channel), flows);
        case Channel::kUnixMessages:
            messages_[side.object].taken(act, operation.bytes, side.peeks, flows);
            return kUnknown;
        case Channel::kDatagrams:
            datagrams_.taken(operation, act, flows);
            return kUnknown;
        case Channel::kQueue:
            mailboxes_[side.object].taken(operation, act, flows);
            return kUnknown;
        case Channel::kNone:
            break;
    }
    return kUnknown;
}

std::uint64_t FlowEngine::put(const Operation& operation, std::vector<Flow>& flows) {
    const Side& side = operation.to;
    const Act act = act_of(operation, side);
    switch (side.channel) {
        case Channel::kFile:
            if (side.offset != kUnknown) {
                file_of(side.object).write(act, operation.bytes);
            }
            return side.offset;
        case Channel::kTcp:
            if (ByteStream* const stream = tcp_stream(side, true, operation.end_ns);
                stream != nullptr && side.offset != kUnknown) {
                stream->sent(act, operation.bytes, FlowRule::kTcp, flows);
            }
            return side.offset;
        case Channel::kPipe:
        case Channel::kUnixStream: {
            if (taker_of(side) == 0) {
                return kUnknown;
            }
            ByteStream& stream = stream_of(taker_of(side), operation.end_ns);
            const std::uint64_t begin = stream.sent_bytes();
            stream.send_next(act, operation.bytes, side, rule_of(side.channel), flows);
            return begin;
        }
        case Channel::kUnixMessages:
            if (side.other != 0) {
                messages_[side.other].sent(act, operation.bytes, flows);
            }
            return kUnknown;
        case Channel::kDatagrams:
            datagrams_.sent(operation, act, flows);
            return kUnknown;
        case Channel::kQueue:
            mailboxes_[side.object].sent(operation, act, flows);
            return kUnknown;
        case Channel::kNone:
            break;
    }
    return kUnknown;
}

void FlowEngine::cut(const Operation& operation) {
    if (operation.to.object == 0) {
        pool_.cut_ns = std::max(pool_.cut_ns, operation.end_ns);
        return;
    }
    const auto file = files_.find(operation.to.object);
    if (file == files_.end()) {
        return;
    }
    file->second.cut(operation.cut_begin, operation.cut_end, operation.end_ns);
}

void FlowEngine::ends(const Operation& operation, std::vector<Flow>& flows) {
    if (operation.cut_begin < operation.cut_end) {
        cut(operation);
    }
    if (operation.unfinished) {
        for (const std::uint64_t taker : {operation.from.object, taker_of(operation.to)}) {
            if (const auto stream = streams_.find(taker); stream != streams_.end()) {
                stream->second.bytes.lose_count(operation.event);
            }
        }
        for (const std::uint64_t queue : {operation.from.object, operation.to.object}) {
            if (const auto mailbox = mailboxes_.find(queue); mailbox != mailboxes_.end()) {
                mailbox->second.lose_count(operation.event);
            }
        }
    }
    const bool is_message = !operation.unfinished && (operation.from.channel == Channel::kQueue ||
                                                      operation.to.channel == Channel::kQueue);
    if (operation.bytes == 0 && !is_message) {
        see_empty(operation, flows);
        return;
    }
    if (operation.from.object != 0) {
        Act act = act_of(operation, operation.from);
        act.offset = take(operation, flows);
        content_.read(operation, act);
        anchors_.read(operation, act);
        dyes_.read(operation, act);
    }
    if (operation.to.object != 0) {
        Act act = act_of(operation, operation.to);
        act.offset = put(operation, flows);
        if (content_.write(operation, act, flows)) {
            anchors_.pass(operation, act);
        } else {
            anchors_.write(operation, act, flows);
            dyes_.write(operation, act, flows);
        }
    }
    if (pool_.live > limits_.extents_max) {
        put_some_away(operation.end_ns);
    }
    if (pool_.leaves > limits_.leaves_max) {
        forget_some(operation.end_ns);
    }
    forget_streams();
}

// A call that found nothing in a stream.
void FlowEngine::see_empty(const Operation& operation, std::vector<Flow>& flows) {
    const Side& side = operation.from;
    const auto stream = streams_.find(side.object);
    if (is_counted(side.channel) && side.empties && stream != streams_.end()) {
        stream->second.bytes.take_next(
            act_of(operation, side), 0, side, rule_of(side.channel), flows);
    }
}

template <typename Visit>
void FlowEngine::each_owner(Visit&& visit) {
    for (auto& [object, file] : files_) {
        visit(file);
    }
    for (auto& [object, stream] : streams_) {
        visit(stream.bytes);
    }
    for (auto& [id, connection] : connections_) {
        visit(connection.streams[0]);
        visit(connection.streams[1]);
    }
}

// The moment before which the quarter of the leaves lies that was not reached for since.
std::uint64_t FlowEngine::oldest_leaves(bool those_away) {
    std::vector<std::uint64_t> reached;
    each_owner([&](const auto& owner) { owner.add_reached(reached, those_away); });
    return oldest_quarter(reached);
}

void FlowEngine::put_some_away(std::uint64_t now_ns) {
    const std::uint64_t before = oldest_leaves(false);
    each_owner([&](auto& owner) { owner.put_away_before(before); });
    std::erase_if(files_, [&](const auto& entry) { return entry.second.is_over(now_ns); });
}

void FlowEngine::forget_some(std::uint64_t now_ns) {
    const std::uint64_t before = oldest_leaves(true);
    each_owner([&](auto& owner) { owner.forget_before(before); });
    std::erase_if(files_, [&](const auto& entry) { return entry.second.is_over(now_ns); });
}

void FlowEngine::forget_streams() {
    forgotten_ += forget_oldest(streams_, limits_.streams_max);
    forgotten_ += forget_oldest(connections_, limits_.streams_max);
    if (messages_.size() > limits_.streams_max) {
        forgotten_ += messages_.size();
        messages_.clear();
    }
    if (mailboxes_.size() > limits_.streams_max) {
        forgotten_ += mailboxes_.size();
        mailboxes_.clear();
    }
}

std::uint64_t FlowEngine::forgotten() const {
    std::uint64_t messages = 0;
    for (const auto& [object, queue] : messages_) {
        messages += queue.forgotten();
    }
    for (const auto& [object, mailbox] : mailboxes_) {
        messages += mailbox.forgotten();
    }
    return forgotten_ + pool_.forgotten + messages + datagrams_.forgotten() + content_.forgotten() +
           anchors_.forgotten() + dyes_.forgotten();
}

}  // namespace dyetrace::analysis
