#include "analysis/dataflow/mailbox.h"

#include <algorithm>

namespace dyetrace::analysis {

bool Mailbox::Letter::agrees_with(const Letter& other) const {
    return bytes == other.bytes &&
           (!fingerprint || !other.fingerprint || *fingerprint == *other.fingerprint) &&
           (type == 0 || other.type == 0 || type == other.type);
}

Mailbox::Letter Mailbox::letter_of(const Operation& operation, const Side& side, Act act) {
    act.offset = 0;
    return {act,
            side.other,
            operation.bytes,
            operation.fingerprint,
            side.balanced,
            side.empties,
            false};
}

void Mailbox::add_flow(const Letter& sender,
                       const Letter& taker,
                       bool sure,
                       std::vector<Flow>& flows) {
    guessed_ = guessed_ || !sure;
    if (taker.bytes == 0) {
        return;
    }
    Flow flow = flow_between(
        sender.act, taker.act, 0, taker.bytes, schema::FlowRule::kQueue, sure && counted_);
    const bool may_be_older = taker.balanced && !(taker.empties && sent_count_ == taken_count_);
    if (may_be_older) {
        flow.certainty = sender.fingerprint && taker.fingerprint ? schema::Certainty::kLikely
                                                                 : schema::Certainty::kPossible;
    }
    flows.push_back(flow);
}

Mailbox::Letters* Mailbox::find(const Letter& taker, Letters::iterator& found) {
    for (auto& [type, letters] : sent_) {
        if (taker.type != 0 && type != taker.type && type != 0) {
            continue;
        }
        found = std::find_if(letters.begin(), letters.end(), [&](const Letter& letter) {
            return letter.agrees_with(taker);
        });
        if (found != letters.end()) {
            return &letters;
        }
    }
    return nullptr;
}

void Mailbox::sent(const Operation& operation, Act act, std::vector<Flow>& flows) {
    Letter letter = letter_of(operation, operation.to, act);
    letter.alone = sending_.ends_alone(act.event);
    last_sent_ns_ = std::max(last_sent_ns_, act.end_ns);
    ++sent_count_;
    const auto early = std::find_if(early_.begin(), early_.end(), [&](const Letter& taker) {
        return taker.act.end_ns >= act.start_ns && taker.agrees_with(letter);
    });
    if (early != early_.end()) {
        add_flow(letter,
                 *early,
                 letter.alone && early_.size() == 1 && waiting_ == 0 && !guessed_,
                 flows);
        early_.erase(early);
        forget_those_too_early();
        forget_guesses();
        return;
    }
    forget_those_too_early();
    Letters& letters = sent_[letter.type];
    letters.push_back(letter);
    if (++waiting_ > kWaitingLettersMax) {
        letters.pop_front();
        --waiting_;
        ++forgotten_;
        counted_ = false;
    }
}

void Mailbox::taken(const Operation& operation, Act act, std::vector<Flow>& flows) {
    Letter letter = letter_of(operation, operation.from, act);
    letter.alone = taking_.ends_alone(act.event);
    ++taken_count_;
    Letters::iterator found;
    if (Letters* const letters = find(letter, found); letters != nullptr) {
        const bool is_only = waiting_ == 1 && sending_.empty() && early_.empty() && !guessed_;
        // what is being sent may have a higher priority
        const bool is_next =
            found == letters->begin() &&
            (letter.type != 0 || (letters == &sent_.begin()->second && sending_.empty()));
        add_flow(*found, letter, is_only || (is_next && found->alone && letter.alone), flows);
        letters->erase(found);
        --waiting_;
        std::erase_if(sent_, [](const auto& entry) { return entry.second.empty(); });
    } else if (!sending_.empty()) {
        early_.push_back(letter);
    } else {
        ++sent_count_;  // by others, or before the recording
    }
    forget_guesses();
    see_empty(letter);
}

// What no call that is under way can have sent others had sent, or it had been there before.
void Mailbox::forget_those_too_early() {
    if (sending_.empty()) {
        sent_count_ += early_.size();
        early_.clear();
    }
}

void Mailbox::forget_guesses() {
    guessed_ = guessed_ && !(waiting_ == 0 && sending_.empty() && early_.empty());
}

void Mailbox::see_empty(const Letter& taker) {
    if (!taker.empties || !taker.alone || !sending_.empty() || last_sent_ns_ > taker.act.start_ns) {
        return;
    }
    sent_.clear();
    early_.clear();
    sent_count_ = taken_count_ = waiting_ = 0;
    counted_ = true;
    guessed_ = false;
}

void Mailbox::lose_count(std::uint64_t event) {
    (void)sending_.ends_alone(event);
    (void)taking_.ends_alone(event);
    counted_ = false;
}

}  // namespace dyetrace::analysis
