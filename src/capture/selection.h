// Which of the drained events are handed out: the condition of the command line, decided exactly. The kernel drops before only what it
// certainly does not select.
//
//   facts ─► learn()                     who and what the ids stand for
//   events ─► select() ─► stretches that are kept; the others are counted
//
// One thread. Nothing is copied: what is kept are parts of the spans that came.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "filter/evaluator.h"
#include "filter/predicate.h"
#include "schema/dictionary.h"
#include "schema/record.h"

namespace dyetrace::capture {

class Selection {
  public:
    Selection(const filter::Predicate& predicate, const std::string& host, std::uint32_t cpus)
        : evaluator_(predicate, host), left_out_(cpus) {}

    void learn(std::span<const std::byte> facts);

    // Calls keep(span) for every stretch of kept records; returns the sequence number that follows the last record. What follows an
    // event (the objects that it touched, which the kernel counts too) shares its fate.
    template <typename Keep>
    std::uint64_t select(std::uint32_t cpu, std::span<const std::byte> events, Keep&& keep) {
        std::uint64_t next_sequence = 0;
        std::size_t begin = 0, at = 0;
        while (at < events.size()) {
            const schema::RecordBytes record = schema::first_record(events.subspan(at));
            if (record.empty()) {
                break;
            }
            const bool was_kept = kept_;
            next_sequence = decide(cpu, record) + 1;
            if (was_kept && !kept_ && at > begin) {
                keep(events.subspan(begin, at - begin));
            }
            if (!kept_) {
                ++left_out_[cpu];
                begin = at + record.size();
            }
            at += record.size();
        }
        if (at > begin) {
            keep(events.subspan(begin, at - begin));
        }
        kept_ = true;
        return next_sequence;
    }

    // Records of this CPU.
    std::uint64_t left_out(std::uint32_t cpu) const { return left_out_[cpu]; }

  private:
    // Sets kept_, if the record is an event, which has a fate of its own; returns its sequence number.
    std::uint64_t decide(std::uint32_t cpu, schema::RecordBytes record);

    filter::Evaluator evaluator_;
    schema::Dictionary dictionary_;
    std::vector<std::uint64_t> left_out_;
    bool kept_ = true;
};

}  // namespace dyetrace::capture
