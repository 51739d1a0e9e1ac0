// Which of the drained events are kept: the condition of the command line, decided exactly and before anything is written.
//
//   facts ─► learn()                     who and what the ids stand for
//   events ─► select() ─► stretches that are kept
//
// One thread. Nothing is copied: what is kept are parts of the spans that came.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "filter/evaluator.h"
#include "filter/predicate.h"
#include "schema/dictionary.h"
#include "schema/record.h"

namespace dyetrace::capture {

class Selection {
  public:
    Selection(const filter::Predicate& predicate, const std::string& host)
        : evaluator_(predicate, host) {}

    void learn(std::span<const std::byte> facts);

    // Calls keep(span) for every stretch of kept records; returns how many were left out. What follows an event (the objects
    // that it touched, which the kernel's accounting counts too) shares its fate.
    template <typename Keep>
    std::uint64_t select(std::uint32_t cpu, std::span<const std::byte> events, Keep&& keep) {
        std::uint64_t left_out = 0;
        std::size_t begin = 0, at = 0;
        while (at < events.size()) {
            const schema::RecordBytes record = schema::first_record(events.subspan(at));
            if (record.empty()) {
                break;
            }
            const bool was_kept = kept_;
            decide(cpu, record);
            left_out += kept_ ? 0 : 1;
            if (was_kept && !kept_ && at > begin) {
                keep(events.subspan(begin, at - begin));
            }
            if (!kept_) {
                begin = at + record.size();
            }
            at += record.size();
        }
        if (at > begin) {
            keep(events.subspan(begin, at - begin));
        }
        kept_ = true;
        return left_out;
    }

    const schema::Dictionary& dictionary() const { return dictionary_; }

  private:
    // Sets kept_, if the record is an event, which has a fate of its own.
    void decide(std::uint32_t cpu, schema::RecordBytes record);

    filter::Evaluator evaluator_;
    schema::Dictionary dictionary_;
    bool kept_ = true;
};

}  // namespace dyetrace::capture
