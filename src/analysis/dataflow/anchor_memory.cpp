#include "analysis/dataflow/anchor_memory.h"

#include <algorithm>
#include <utility>

#include "content/anchor.h"
#include "content/content_sum.h"

namespace dyetrace::analysis {
namespace {

// Bytes of a write that came from one read: at `begin` to `end` of the write lies what is `shift` further in the read.
struct Run {
    std::uint64_t event = 0, object = 0, object_begin = kUnknown;
    std::int64_t begin = 0, end = 0, shift = 0;
};

// The next run goes on in the object where this one was: their border is where the next read began.
void meet_at_border(Run& run, Run& next) {
    const bool follows = run.object == next.object && run.object_begin != kUnknown &&
                         next.object_begin != kUnknown &&
                         static_cast<std::int64_t>(run.object_begin) + run.shift ==
                             static_cast<std::int64_t>(next.object_begin) + next.shift;
    const std::int64_t border = -next.shift;
    if (follows && border >= run.begin && border <= next.end) {
        run.end = border;
        next.begin = border;
    }
}

Flow flow_of(const Run& run, const Act& act) {
    const auto from = static_cast<std::uint64_t>(run.begin + run.shift);
    const auto to = static_cast<std::uint64_t>(run.begin);
    return {.from_event = run.event,
            .to_event = act.event,
            .object = run.object,
            .to_object = act.object,
            .from_offset = run.object_begin == kUnknown ? kUnknown : run.object_begin + from,
            .to_offset = act.offset == kUnknown ? kUnknown : act.offset + to,
            .from_position = from,
            .to_position = to,
            .bytes = static_cast<std::uint64_t>(run.end - run.begin),
            .rule = schema::FlowRule::kAnchor,
            .certainty = schema::Certainty::kLikely};
}

}  // namespace

void AnchorMemory::read(const Operation& operation, const Act& act) {
    if (is_copy(operation)) {
        return;
    }
    const SummedStrip* const strip = operation.from.peeks ? nullptr : reads_.add(operation, act);
    for (const Anchor& anchor : operation.anchors) {
        const auto end = static_cast<std::uint64_t>(anchor.position + ANCHOR_WINDOW);
        Taken taken{act.event, act.object, act.offset, act.end_ns, anchor.position, ANCHOR_WINDOW};
        if (strip != nullptr) {
            taken.strip = strip->id;
            taken.sum = content::joined_sum(strip->calls.back().begin.sum, anchor.prefix_sum, end);
        }
        recall_.add(operation, anchor.fingerprint, taken);
    }
}

// What one write adds to the strip that it belongs to.
class AnchorMemory::Writer {
  public:
    Writer(AnchorMemory& memory, const SummedStrip& target, std::vector<Flow>& flows)
        : memory_(memory),
          target_(target),
          written_(memory.written_[target.id]),
          flows_(flows),
          first_(flows.size()) {}

    void match(const Match& match) {
        const SummedStrip* const source = memory_.reads_.find(match.strip);
        if (source == nullptr) {
            return;
        }
        const std::optional<Match> last = std::exchange(written_.last, match);
        const bool goes_on =
            last && last->strip == match.strip && last->source.position < match.source.position;
        if (goes_on) {
            between(*source, *last, match);
        } else {
            back_to_borders(*source, match);
        }
        window(*source, match);
    }

    // The end of the write, if it is one of a read, too.
    void end() {
        if (!written_.last) {
            return;
        }
        const Match& last = *written_.last;
        const SummedStrip* const source = memory_.reads_.find(last.strip);
        const std::uint64_t bytes = target_.end.position - last.target.position;
        const auto border = source == nullptr || bytes == 0
                                ? std::nullopt
                                : source->border_at(last.source.position + bytes);
        if (border && sum_between(last.source, *border) == sum_between(last.target, target_.end)) {
            piece(*source,
                  last.source.position,
                  last.target.position,
                  bytes,
                  schema::Certainty::kLikely,
                  flows_);
        }
        written_.covered = std::max(written_.covered, covered_);
    }

  private:
    void between(const SummedStrip& source, const Match& from, const Match& to) {
        const Gap in{&source, from.source, to.source}, out{&target_, from.target, to.target};
        if (in.size() == out.size()) {
            const bool is_same = sum_between(in.from, in.to) == sum_between(out.from, out.to);
            piece(source,
                  in.from.position,
                  out.from.position,
                  in.size(),
                  is_same ? schema::Certainty::kLikely : schema::Certainty::kPossible,
                  flows_);
        } else {
            around_frame(source, from.fingerprint, to.fingerprint, in, out);
        }
    }

    // Bytes were put in between two anchors, or taken out.
    void around_frame(const SummedStrip& source,
                      std::uint64_t from,
                      std::uint64_t to,
                      const Gap& in,
                      const Gap& out) {
        const bool put_in = in.size() < out.size();
        const Gap& shorter = put_in ? in : out;
        const Gap& longer = put_in ? out : in;
        const std::vector<FramePlace> places = frame_places(shorter, longer);
        std::uint64_t front = 0, back = 0;  // bytes that are known to be the same
        for (const FramePlace& place : places) {
            front = std::max(front, place.front_is_same ? place.before : 0);
            back = std::max(back, place.back_is_same ? shorter.size() - place.before : 0);
        }
        if (front + back != shorter.size()) {
            back = std::max(back, std::min(std::uint64_t{ANCHOR_WINDOW}, shorter.size()));
        }
        if (front + back > shorter.size()) {
            return;  // a content that repeats itself: it may lie here or there
        }
        const auto pieces =
            [&](std::uint64_t before, std::uint64_t after, std::vector<Flow>& flows) {
                piece(source,
                      in.from.position,
                      out.from.position,
                      before,
                      schema::Certainty::kLikely,
                      flows);
                piece(source,
                      in.to.position - after,
                      out.to.position - after,
                      after,
                      schema::Certainty::kLikely,
                      flows);
            };
        for (const FramePlace& place : places) {
            const std::uint64_t after = shorter.size() - place.before;
            if (front + back == shorter.size() || place.before < front || after < back) {
                continue;
            }
            std::vector<Flow> flows;
            piece(source,
                  in.from.position + front,
                  out.from.position + front,
                  place.before - front,
                  schema::Certainty::kLikely,
                  flows);
            piece(source,
                  in.to.position - after,
                  out.to.position - after,
                  after - back,
                  schema::Certainty::kLikely,
                  flows);
            memory_.guesses_.guess({.from = from,
                                    .to = to,
                                    .short_bytes = shorter.size(),
                                    .long_bytes = longer.size(),
                                    .short_sum = sum_between(shorter.from, shorter.to),
                                    .long_sum = sum_between(longer.from, longer.to)},
                                   target_.id,
                                   place,
                                   flows,
                                   flows_);
        }
        pieces(front, back, flows_);
    }

    // From an anchor back to where calls of both sides begin.
    void back_to_borders(const SummedStrip& source, const Match& match) {
        std::uint64_t longest = 0;
        const auto begin_of = [](const SummedStrip::Call& call) { return call.begin.position; };
        const auto first_open = std::ranges::lower_bound(
            target_.calls, std::max(written_.covered, covered_), {}, begin_of);
        const auto after =
            std::ranges::lower_bound(target_.calls, match.target.position, {}, begin_of);
        for (auto call = first_open; call < after && longest == 0; ++call) {
            const std::uint64_t bytes = match.target.position - call->begin.position;
            const auto border = bytes <= match.source.position
                                    ? source.border_at(match.source.position - bytes)
                                    : std::nullopt;
            if (border &&
                sum_between(*border, match.source) == sum_between(call->begin, match.target)) {
                longest = bytes;
            }
        }
        piece(source,
              match.source.position - longest,
              match.target.position - longest,
              longest,
              schema::Certainty::kLikely,
              flows_);
        const SummedStrip::Call& first = target_.calls.front();
        const SummedStrip::Call& first_read = source.calls.front();
        if (longest == 0 && first.begin.sum == 0 && first_read.begin.sum == 0 && covered_ == 0 &&
            written_.covered == 0 && first_read.begin.position < match.source.position) {
            const Gap in{&source, first_read.begin, match.source},
                out{&target_, first.begin, match.target};
            around_frame(source, 0, match.fingerprint, in, out);
        }
    }

    void window(const SummedStrip& source, const Match& match) {
        const std::uint64_t bytes =
            std::min({std::uint64_t{ANCHOR_WINDOW}, match.source.position, match.target.position});
        piece(source,
              match.source.position - bytes,
              match.target.position - bytes,
              bytes,
              schema::Certainty::kLikely,
              flows_);
    }

    // Adds flows, one for each pair of calls, of what has none yet.
    void piece(const SummedStrip& source,
               std::uint64_t from,
               std::uint64_t to,
               std::uint64_t bytes,
               schema::Certainty certainty,
               std::vector<Flow>& flows) {
        const std::uint64_t done = std::max(written_.covered, covered_);
        const std::uint64_t skipped = std::min(bytes, done > to ? done - to : 0);
        from += skipped;
        to += skipped;
        bytes -= skipped;
        if (&flows == &flows_ && bytes > 0) {
            covered_ = to + bytes;
        }
        for (std::size_t in = call_at(source, from), out = call_at(target_, to);
             bytes > 0 && in < source.calls.size() && out < target_.calls.size();) {
            const SummedStrip::Call& reading = source.calls[in];
            const SummedStrip::Call& writing = target_.calls[out];
            if (reading.begin.position > from || writing.begin.position > to) {
                const std::uint64_t lost = std::min(
                    bytes,
                    std::max(reading.begin.position - std::min(from, reading.begin.position),
                             writing.begin.position - std::min(to, writing.begin.position)));
                from += lost;
                to += lost;
                bytes -= lost;
                in = call_at(source, from);
                out = call_at(target_, to);
                continue;
            }
            const std::uint64_t size =
                std::min({bytes, source.end_of(in) - from, target_.end_of(out) - to});
            add_flow(source, reading, writing, from, to, size, certainty, flows);
            from += size;
            to += size;
            bytes -= size;
            in += from == source.end_of(in) ? 1 : 0;
            out += to == target_.end_of(out) ? 1 : 0;
        }
    }
    // The call that moved the byte there, or the first one that is remembered.
    static std::size_t call_at(const SummedStrip& strip, std::uint64_t position) {
        const auto after =
            std::ranges::upper_bound(strip.calls, position, {}, [](const SummedStrip::Call& call) {
                return call.begin.position;
            });
        return after == strip.calls.begin()
                   ? 0
                   : static_cast<std::size_t>(after - strip.calls.begin()) - 1;
    }
    void add_flow(const SummedStrip& source,
                  const SummedStrip::Call& reading,
                  const SummedStrip::Call& writing,
                  std::uint64_t from,
                  std::uint64_t to,
                  std::uint64_t bytes,
                  schema::Certainty certainty,
                  std::vector<Flow>& flows) {
        const std::size_t first = &flows == &flows_ ? first_ : 0;
        if (flows.size() > first && flows.back().from_event == reading.event &&
            flows.back().to_event == writing.event && flows.back().certainty == certainty &&
            flows.back().from_offset + flows.back().bytes == from &&
            flows.back().to_offset + flows.back().bytes == to) {
            flows.back().bytes += bytes;
            return;
        }
        flows.push_back({.from_event = reading.event,
                         .to_event = writing.event,
                         .object = source.object,
                         .to_object = target_.object,
                         .from_offset = from,
                         .to_offset = to,
                         .from_position = from - reading.begin.position,
                         .to_position = to - writing.begin.position,
                         .bytes = bytes,
                         .rule = schema::FlowRule::kAnchor,
                         .certainty = certainty});
    }

    AnchorMemory& memory_;
    const SummedStrip& target_;
    Written& written_;
    std::vector<Flow>& flows_;
    std::size_t first_;  // of those that this write adds
    std::uint64_t covered_ = 0;
};

const SummedStrip* AnchorMemory::add_written(const Operation& operation, const Act& act) {
    const SummedStrip* const target = writes_.add(operation, act);
    if (written_.size() > kStripsMax) {
        std::erase_if(written_,
                      [&](const auto& one) { return writes_.find(one.first) == nullptr; });
    }
    return target;
}

void AnchorMemory::pass(const Operation& operation, const Act& act) {
    const SummedStrip* const target = is_copy(operation) ? nullptr : add_written(operation, act);
    if (target != nullptr) {
        written_[target->id] = {.last = std::nullopt, .covered = target->end.position};
    }
}

void AnchorMemory::write(const Operation& operation, const Act& act, std::vector<Flow>& flows) {
    if (is_copy(operation)) {
        return;
    }
    const SummedStrip* const target = add_written(operation, act);
    std::vector<Match> matches;
    bool has_sums = target != nullptr;
    for (const Anchor& anchor : operation.anchors) {
        const std::optional<Taken> seen = recall_.find(operation, anchor.fingerprint);
        if (!seen || !has_sums) {
            continue;
        }
        has_sums = seen->strip != 0;
        const auto end = static_cast<std::uint64_t>(anchor.position + ANCHOR_WINDOW);
        matches.push_back(
            {anchor.fingerprint,
             seen->strip,
             {seen->begin + static_cast<std::uint64_t>(seen->position + ANCHOR_WINDOW), seen->sum},
             {act.offset + end,
              content::joined_sum(target->calls.back().begin.sum, anchor.prefix_sum, end)}});
    }
    if (!has_sums) {
        return write_without_sums(operation, act, flows);
    }
    Writer writer(*this, *target, flows);
    for (const Match& match : matches) {
        writer.match(match);
    }
    writer.end();
}

// A window that began in an earlier call is told from where this one begins.
void AnchorMemory::write_without_sums(const Operation& operation,
                                      const Act& act,
                                      std::vector<Flow>& flows) const {
    std::vector<Run> runs;
    for (const Anchor& anchor : operation.anchors) {
        const std::optional<Taken> seen = recall_.find(operation, anchor.fingerprint);
        if (!seen) {
            continue;
        }
        const std::int64_t shift = seen->position - anchor.position;
        const std::int64_t begin = std::max({anchor.position, std::int64_t{0}, -shift});
        const std::int64_t end = anchor.position + ANCHOR_WINDOW;
        if (!runs.empty() && runs.back().event == seen->event && runs.back().shift == shift) {
            runs.back().end = end;
            continue;
        }
        Run next{seen->event, seen->object, seen->begin, begin, end, shift};
        if (!runs.empty()) {
            meet_at_border(runs.back(), next);
        }
        runs.push_back(next);
    }
    for (const Run& run : runs) {
        if (run.begin < run.end) {
            flows.push_back(flow_of(run, act));
        }
    }
}

}  // namespace dyetrace::analysis
