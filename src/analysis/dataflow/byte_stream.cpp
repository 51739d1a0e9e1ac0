#include "analysis/dataflow/byte_stream.h"

#include <algorithm>
#include <utility>

namespace dyetrace::analysis {

void ByteStream::sent(const Act& act,
                      std::uint64_t bytes,
                      schema::FlowRule rule,
                      std::vector<Flow>& flows) {
    const std::uint64_t begin = act.offset, end = act.offset + bytes;
    for (const Peek& peek : early_peeks_) {
        const std::uint64_t first = std::max(begin, peek.begin), last = std::min(end, peek.end);
        if (first < last) {
            flows.push_back(flow_between(act, peek.act, first, last, rule, true));
        }
    }
    sent_.put(begin, end, act);
    if (early_.empty()) {
        return;
    }
    early_.each(begin, end, [&](std::uint64_t first, std::uint64_t last, const Extent& taker) {
        flows.push_back(flow_between(act, taker.act, first, last, rule, true));
        sent_.cut(first, last);
    });
    early_.cut(begin, end);
}

void ByteStream::taken(const Act& act,
                       std::uint64_t bytes,
                       bool peeks,
                       schema::FlowRule rule,
                       std::vector<Flow>& flows) {
    const std::uint64_t end = act.offset + bytes;
    std::uint64_t known = act.offset;
    const auto wait_for_writer = [&](std::uint64_t from, std::uint64_t to) {
        if (from >= to) {
            return;
        }
        if (!peeks) {
            early_.put(from, to, act);
            return;
        }
        early_peeks_.push_back({act, from, to});
        if (early_peeks_.size() > kEarlyPeeksMax) {
            early_peeks_.pop_front();
        }
    };
    sent_.each(act.offset, end, [&](std::uint64_t first, std::uint64_t last, const Extent& writer) {
        wait_for_writer(known, first);
        flows.push_back(flow_between(writer.act, act, first, last, rule, true));
        known = last;
    });
    wait_for_writer(known, end);
    if (!peeks) {
        sent_.cut(act.offset, end);
    }
}

void ByteStream::send_next(Act act,
                           std::uint64_t bytes,
                           schema::FlowRule rule,
                           std::vector<Flow>& flows) {
    act.offset = std::exchange(sent_bytes_, sent_bytes_ + bytes);
    act.certain = sending_.ends_alone(act.event) && act.certain && counted_;
    sent(act, bytes, rule, flows);
}

std::uint64_t ByteStream::take_next(
    Act act, std::uint64_t bytes, bool peeks, schema::FlowRule rule, std::vector<Flow>& flows) {
    act.offset = taken_bytes_;
    taken_bytes_ += peeks ? 0 : bytes;
    act.certain = taking_.ends_alone(act.event) && act.certain && counted_;
    taken(act, bytes, peeks, rule, flows);
    return act.offset;
}

void ByteStream::add_reached(std::vector<std::uint64_t>& reached, bool those_away) const {
    sent_.add_reached(reached, those_away);
    early_.add_reached(reached, those_away);
}

void ByteStream::put_away_before(std::uint64_t reached) {
    sent_.put_away_before(reached);
    early_.put_away_before(reached);
}

void ByteStream::forget_before(std::uint64_t reached) {
    sent_.forget_before(reached);
    early_.forget_before(reached);
}

}  // namespace dyetrace::analysis
