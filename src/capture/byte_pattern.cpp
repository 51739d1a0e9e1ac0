#include "capture/byte_pattern.h"

#include <algorithm>

#include "capture/byte_pattern_builder.h"

namespace dyetrace::capture {

Result<BytePattern> BytePattern::parse(std::string_view text) {
    return BytePatternBuilder(text).make();
}

// The states that wait for the next byte, each with the first place where its match may have begun.
class Waiting {
  public:
    explicit Waiting(std::size_t states) : begins_(states), waits_(states) {}

    void add(std::uint32_t state, std::size_t begin) {
        if (!waits_[state]) {
            waits_[state] = true;
            begins_[state] = begin;
            states_.push_back(state);
        } else {
            begins_[state] = std::min(begins_[state], begin);
        }
    }
    void clear() {
        for (const std::uint32_t state : states_) {
            waits_[state] = false;
        }
        states_.clear();
    }
    const std::vector<std::uint32_t>& states() const { return states_; }
    std::size_t begin_of(std::uint32_t state) const { return begins_[state]; }

  private:
    std::vector<std::uint32_t> states_;
    std::vector<std::size_t> begins_;
    std::vector<bool> waits_;
};

class BytePattern::Search {
  public:
    Search(const BytePattern& pattern, std::span<const std::byte> bytes, std::vector<Stretch>& out)
        : pattern_(pattern),
          bytes_(bytes),
          out_(out),
          out_before_(out.size()),
          now_(pattern.states_.size()),
          next_(pattern.states_.size()) {}

    void run(Ends ends) {
        for (std::uint32_t state = 0; ends.open_before && state < pattern_.states_.size();
             ++state) {
            now_.add(state, 0);
        }
        for (std::size_t place = 0; place < bytes_.size(); ++place) {
            if (now_.states().empty()) {
                place = next_begin(place);
                if (place == bytes_.size()) {
                    break;
                }
            }
            if (pattern_.begins_match_[byte_at(place)]) {
                begin(place);
            }
            take(place);
        }
        if (!ends.open_after) {
            return;
        }
        for (const std::uint32_t state : now_.states()) {
            add(now_.begin_of(state), bytes_.size());
        }
    }

  private:
    std::uint8_t byte_at(std::size_t place) const {
        return std::to_integer<std::uint8_t>(bytes_[place]);
    }
    std::uint8_t conditions_at(std::size_t place) const {
        const bool begins = place == 0 || byte_at(place - 1) == '\n';
        const bool ends = place == bytes_.size() || byte_at(place) == '\n';
        return static_cast<std::uint8_t>((begins ? kLineBegins : 0) | (ends ? kLineEnds : 0));
    }

    // Most bytes are passed here.
    std::size_t next_begin(std::size_t place) const {
        const std::byte* const bytes = bytes_.data();
        const bool* const begins = pattern_.begins_match_.data();
        const std::size_t end = bytes_.size();
        while (place < end && !begins[std::to_integer<std::uint8_t>(bytes[place])]) {
            ++place;
        }
        return place;
    }

    void begin(std::size_t place) {
        const std::uint8_t holding = conditions_at(place);
        for (const Step& step : pattern_.begin_) {
            if (step.state != kFound && (step.conditions & ~holding) == 0) {
                now_.add(step.state, place);
            }
        }
    }

    void take(std::size_t place) {
        const std::uint8_t byte = byte_at(place), holding = conditions_at(place + 1);
        std::size_t found_from = SIZE_MAX;
        for (const std::uint32_t number : now_.states()) {
            const State& state = pattern_.states_[number];
            if (!state.bytes[byte]) {
                continue;
            }
            const std::size_t begin = now_.begin_of(number);
            for (std::uint32_t i = 0; i < state.steps; ++i) {
                const Step& step = pattern_.steps_[state.first_step + i];
                if ((step.conditions & ~holding) != 0) {
                    continue;
                }
                if (step.state == kFound) {
                    found_from = std::min(found_from, begin);
                } else {
                    next_.add(step.state, begin);
                }
            }
        }
        if (found_from != SIZE_MAX) {
            add(found_from, place + 1);
        }
        now_.clear();
        std::swap(now_, next_);
    }

    void add(std::size_t from, std::size_t to) {
        while (out_.size() > out_before_ && out_.back().second >= from) {
            from = std::min(from, out_.back().first);
            to = std::max(to, out_.back().second);
            out_.pop_back();
        }
        out_.emplace_back(from, to);
    }

    const BytePattern& pattern_;
    std::span<const std::byte> bytes_;
    std::vector<Stretch>& out_;
    std::size_t out_before_;
    Waiting now_, next_;
};

void BytePattern::find(std::span<const std::byte> bytes,
                       Ends ends,
                       std::vector<Stretch>& out) const {
    Search(*this, bytes, out).run(ends);
}

}  // namespace dyetrace::capture
