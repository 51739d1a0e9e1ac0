#include "analysis/dataflow/message_queue.h"

#include <algorithm>
#include <utility>

namespace dyetrace::analysis {
namespace {

// A receiver that has less room gets the beginning.
void add_flow(const Act& from, Act to, std::uint64_t bytes, std::vector<Flow>& flows) {
    to.offset = from.offset;
    flows.push_back(
        flow_between(from, to, from.offset, from.offset + bytes, schema::FlowRule::kUnix, true));
}

}  // namespace

void MessageQueue::wait(std::deque<Message>& queue, Message message) {
    queue.push_back(message);
    if (queue.size() > kWaitingMessagesMax) {
        queue.pop_front();
        ++forgotten_;
    }
}

void MessageQueue::sent(Act act, std::uint64_t bytes, std::vector<Flow>& flows) {
    act.offset = std::exchange(sent_bytes_, sent_bytes_ + bytes);
    act.certain = sending_.ends_alone(act.event) && act.certain;
    if (early_.empty()) {
        wait(sent_, {act, bytes});
        return;
    }
    add_flow(act, early_.front().act, std::min(bytes, early_.front().bytes), flows);
    early_.pop_front();
}

void MessageQueue::taken(Act act, std::uint64_t bytes, bool peeks, std::vector<Flow>& flows) {
    act.certain = taking_.ends_alone(act.event) && act.certain;
    if (sent_.empty()) {
        if (!peeks) {
            wait(early_, {act, bytes});
        }
        return;
    }
    add_flow(sent_.front().act, act, std::min(bytes, sent_.front().bytes), flows);
    if (!peeks) {
        sent_.pop_front();
    }
}

}  // namespace dyetrace::analysis
