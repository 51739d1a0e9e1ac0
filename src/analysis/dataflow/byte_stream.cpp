#include "analysis/dataflow/byte_stream.h"

#include <algorithm>
#include <utility>

namespace dyetrace::analysis {
namespace {

void make_likely(std::vector<Flow>& flows, std::size_t first) {
    for (; first < flows.size(); ++first) {
        flows[first].certainty = schema::Certainty::kLikely;
    }
}

}  // namespace

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
                           const Side& side,
                           schema::FlowRule rule,
                           std::vector<Flow>& flows) {
    const std::size_t before = flows.size();
    skip_what_others_put(act.start_ns);
    act.offset = std::exchange(sent_bytes_, sent_bytes_ + bytes);
    act.certain = sending_.ends_alone(act.event) && act.certain && counted_;
    last_sent_ns_ = std::max(last_sent_ns_, act.end_ns);
    sent(act, bytes, rule, flows);
    if (side.balanced && sent_bytes_ != taken_bytes_) {
        make_likely(flows, before);
    }
}

std::uint64_t ByteStream::take_next(Act act,
                                    std::uint64_t bytes,
                                    const Side& side,
                                    schema::FlowRule rule,
                                    std::vector<Flow>& flows) {
    const std::size_t before = flows.size();
    const bool alone = taking_.ends_alone(act.event);
    act.offset = taken_bytes_;
    taken_bytes_ += side.peeks ? 0 : bytes;
    act.certain = alone && act.certain && counted_ && (!side.balanced || side.empties);
    taken(act, bytes, side.peeks, rule, flows);
    const bool agrees = sent_bytes_ == taken_bytes_;
    if (side.balanced && !agrees) {
        make_likely(flows, before);
    }
    // nobody put anything while it was empty
    const bool is_empty =
        side.empties && alone && sending_.empty() && last_sent_ns_ <= act.start_ns;
    if (is_empty && (!counted_ || !agrees)) {
        begin_anew();
    }
    return act.offset;
}

// What was taken before a call began that call did not put: it had been there before, or who put it is not in the trace.
void ByteStream::skip_what_others_put(std::uint64_t start_ns) {
    std::uint64_t put_by_others = sent_bytes_;
    early_.each(
        sent_bytes_, taken_bytes_, [&](std::uint64_t, std::uint64_t end, const Extent& taker) {
            put_by_others =
                taker.act.end_ns < start_ns ? std::max(put_by_others, end) : put_by_others;
        });
    early_.cut(sent_bytes_, put_by_others);
    std::erase_if(early_peeks_, [&](const Peek& peek) { return peek.end <= put_by_others; });
    sent_bytes_ = put_by_others;
}

void ByteStream::lose_count(std::uint64_t event) {
    (void)sending_.ends_alone(event);
    (void)taking_.ends_alone(event);
    counted_ = false;
}

void ByteStream::begin_anew() {
    sent_bytes_ = taken_bytes_ = std::max(sent_bytes_, taken_bytes_);
    sent_.cut(0, UINT64_MAX);
    early_.cut(0, UINT64_MAX);
    early_peeks_.clear();
    counted_ = true;
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
