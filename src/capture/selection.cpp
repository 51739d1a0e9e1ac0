#include "capture/selection.h"

namespace dyetrace::capture {

void Selection::learn(std::span<const std::byte> facts) {
    while (!facts.empty()) {
        const schema::RecordBytes record = schema::first_record(facts);
        if (record.empty()) {
            return;
        }
        dictionary_.add(record);
        facts = facts.subspan(record.size());
    }
}

std::uint64_t Selection::decide(std::uint32_t cpu, schema::RecordBytes record) {
    const schema::RecordHeader header = schema::header_of(record);
    const schema::RecordId type = header.type;
    const bool is_event =
        type == schema::RecordId::kSyscallEvent || type == schema::RecordId::kPartEvent ||
        type == schema::RecordId::kLogEvent || type == schema::RecordId::kSignalEvent;
    if (is_event) {
        kept_ = evaluator_.matches(record, static_cast<std::uint16_t>(cpu), dictionary_);
    }
    return header.sequence;
}

}  // namespace dyetrace::capture
