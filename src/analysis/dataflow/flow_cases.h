// Lets tests write operations as short lines, and read their flows as text.
//
//   Flows flows;
//   flows.add(write_of(1, file(7, 0), 100).at(10, 20));
//   flows.add(read_of(2, file(7, 50), 10).at(30, 40));
//   EXPECT_EQ(flows.text(), "1→2 file 50+10 certain\n");
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/dataflow/flow_engine.h"
#include "schema/generated/enum_names.h"

namespace dyetrace::analysis {

struct Case : Operation {
    Case& at(std::uint64_t start, std::uint64_t end) {
        start_ns = start;
        end_ns = end;
        return *this;
    }
    Case& by(std::uint64_t process_id) {
        process = process_id;
        return *this;
    }
    Case& saying(std::uint64_t content) {
        fingerprint = content;
        return *this;
    }
    Case& carrying(std::span<const DyeMark> marks) {
        dyes = marks;
        return *this;
    }
    // Windows that begin there; `anchors` must live on.
    Case& with(std::span<const Anchor> windows) {
        anchors = windows;
        return *this;
    }
};

inline Side side(Channel channel, std::uint64_t object, std::uint64_t other, std::uint64_t at) {
    Side made;
    made.channel = channel;
    made.object = object;
    made.other = other;
    made.offset = at;
    return made;
}
inline Side file(std::uint64_t object, std::uint64_t at) {
    return side(Channel::kFile, object, 0, at);
}
inline Side tcp(std::uint64_t object, std::uint64_t connection, std::uint64_t at) {
    return side(Channel::kTcp, object, connection, at);
}
inline Side piped(std::uint64_t object) {
    return side(Channel::kPipe, object, 0, kUnknown);
}
inline Side unix_stream(std::uint64_t object, std::uint64_t peer) {
    return side(Channel::kUnixStream, object, peer, kUnknown);
}
inline Side messages(std::uint64_t object, std::uint64_t peer) {
    return side(Channel::kUnixMessages, object, peer, kUnknown);
}
// A datagram goes from port to port.
inline Side datagrams(std::uint64_t object, std::uint64_t from, std::uint64_t to) {
    return side(Channel::kDatagrams, object, from << 16 | to, kUnknown);
}
inline Side with_addresses(Side side, std::uint32_t own, std::uint32_t far) {
    side.own_address = own;
    side.far_address = far;
    return side;
}
inline Side peek(Side side) {
    side.peeks = true;
    return side;
}
// Older than the recording, or calls may be missing.
inline Side older(Side side) {
    side.balanced = true;
    return side;
}
inline Side emptied(Side side) {
    side.empties = true;
    return side;
}
inline Side mapped(Side side) {
    side.mapped = true;
    return side;
}
inline Side uncertain(Side side) {
    side.certain = false;
    return side;
}

// At the time 10 × event unless told otherwise.
inline Case copy_of(std::uint64_t event, Side from, Side to, std::uint64_t bytes) {
    Case made;
    made.event = event;
    made.bytes = bytes;
    made.from = from;
    made.to = to;
    return made.at(event * 10, event * 10 + 5);
}
inline Case read_of(std::uint64_t event, Side from, std::uint64_t bytes) {
    return copy_of(event, from, {}, bytes);
}
inline Case write_of(std::uint64_t event, Side to, std::uint64_t bytes) {
    return copy_of(event, {}, to, bytes);
}
inline Case cut_of(std::uint64_t event,
                   std::uint64_t object,
                   std::uint64_t begin,
                   std::uint64_t end) {
    Case made = write_of(event, file(object, kUnknown), 0);
    made.cut_begin = begin;
    made.cut_end = end;
    return made;
}

// Tells the engine the cases in order of time, ends before starts, as it wants them.
inline std::vector<Flow> flows_of(FlowEngine& engine, const std::vector<Case>& cases) {
    struct Moment {
        std::uint64_t ns;
        bool is_start;
        const Case* operation;
    };
    std::vector<Moment> moments;
    for (const Case& operation : cases) {
        moments.push_back({operation.end_ns, false, &operation});
        if (FlowEngine::touch_in_flight(operation) && operation.start_ns < operation.end_ns) {
            moments.push_back({operation.start_ns, true, &operation});
        }
    }
    std::stable_sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
        return a.ns != b.ns ? a.ns < b.ns : a.is_start < b.is_start;
    });
    std::vector<Flow> flows;
    for (const Moment& moment : moments) {
        if (moment.is_start) {
            engine.starts(*moment.operation);
        } else {
            engine.ends(*moment.operation, flows);
        }
    }
    return flows;
}

class Flows {
  public:
    explicit Flows(FlowLimits limits = {}, const Lineage& lineage = {})
        : engine_(limits, lineage) {}

    Flows& add(const Case& operation) {
        cases_.push_back(operation);
        return *this;
    }

    // "from→to rule begin+bytes certainty", a line each; "begin>begin" where the two ends see different positions.
    std::string text() {
        std::string text;
        for (const Flow& flow : flows_of(engine_, cases_)) {
            const auto number = [](std::uint64_t n) {
                return n == kUnknown ? std::string("?") : std::to_string(n);
            };
            text += number(flow.from_event) + "→" + number(flow.to_event) + " " +
                    std::string(schema::flow_rule_name(static_cast<std::uint8_t>(flow.rule))) +
                    " " + number(flow.from_offset) +
                    (flow.to_offset == flow.from_offset ? "" : ">" + number(flow.to_offset)) + "+" +
                    number(flow.bytes) + " " +
                    std::string(schema::certainty_name(static_cast<std::uint8_t>(flow.certainty))) +
                    "\n";
        }
        return text;
    }
    FlowEngine& engine() { return engine_; }

  private:
    FlowEngine engine_;
    std::vector<Case> cases_;
};

}  // namespace dyetrace::analysis
