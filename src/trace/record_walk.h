// Over the records of a block, one after another, without trusting a length.
//
//   RecordWalk walk(bytes);
//   while (schema::RecordBytes record = walk.next(); !record.empty()) { … }
//   if (walk.rest() > 0) { the bytes that are left are no record }
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "schema/record.h"
#include "trace/segment_format.h"

namespace dyetrace::trace {

class RecordWalk {
  public:
    explicit RecordWalk(std::span<const std::byte> bytes) : bytes_(bytes) {}

    // Empty at the end and where no whole record begins.
    schema::RecordBytes next() {
        const schema::RecordBytes record = schema::first_record(bytes_);
        bytes_ = bytes_.subspan(record.size());
        return record;
    }
    std::size_t rest() const { return bytes_.size(); }

  private:
    std::span<const std::byte> bytes_;
};

// What the header of a block says about its records.
struct RecordSummary {
    std::uint32_t count = 0;
    std::uint32_t followers = 0;  // of those, what belongs to an event and counts leave out
    std::uint64_t types = 0;
    std::uint64_t first_sequence = 0;
    std::uint64_t last_sequence = 0;
    std::uint64_t begin_ns = UINT64_MAX;
    std::uint64_t end_ns = 0;

    void add(schema::RecordBytes record) {
        const schema::RecordHeader header = schema::header_of(record);
        first_sequence = count == 0 ? header.sequence : first_sequence;
        last_sequence = header.sequence;
        ++count;
        followers += header.type == schema::RecordId::kPartEvent ||
                     header.type == schema::RecordId::kEventObject ||
                     header.type == schema::RecordId::kDyeHit ||
                     header.type == schema::RecordId::kAnchor ||
                     header.type == schema::RecordId::kSketch;
        types |= record_type_bit(static_cast<std::uint16_t>(header.type));
        add_time(header.type, record);
    }

  private:
    void add_time(schema::RecordId type, schema::RecordBytes record) {
        using schema::RecordId;
        switch (type) {
            case RecordId::kSyscallEvent:
                return add_event(schema::as<schema::SyscallEvent>(record));
            case RecordId::kProbeEvent:
                return add_event(schema::as<schema::ProbeEvent>(record));
            case RecordId::kPartEvent:
                return add_event(schema::as<schema::PartEvent>(record));
            case RecordId::kLogEvent:
                return add_moment(schema::as<schema::LogEvent>(record),
                                  &schema::LogEvent::start_ns);
            case RecordId::kSignalEvent:
                return add_moment(schema::as<schema::SignalEvent>(record),
                                  &schema::SignalEvent::start_ns);
            case RecordId::kAccounting:
                return add_moment(schema::as<schema::Accounting>(record),
                                  &schema::Accounting::time_ns);
            case RecordId::kClockSnapshot:
                return add_moment(schema::as<schema::ClockSnapshot>(record),
                                  &schema::ClockSnapshot::boot_ns);
            case RecordId::kRetransmission:
                return add_moment(schema::as<schema::Retransmission>(record),
                                  &schema::Retransmission::time_ns);
            case RecordId::kThreadEnd:
                return add_moment(schema::as<schema::ThreadEnd>(record),
                                  &schema::ThreadEnd::end_ns);
            default:
                return;
        }
    }

    template <typename Event>
    void add_event(const Event* event) {
        if (event != nullptr) {
            begin_ns = std::min(begin_ns, event->start_ns);
            end_ns = std::max(end_ns, event->start_ns + event->duration_ns);
        }
    }

    template <typename Record>
    void add_moment(const Record* record, std::uint64_t Record::*time) {
        if (record != nullptr) {
            begin_ns = std::min(begin_ns, record->*time);
            end_ns = std::max(end_ns, record->*time);
        }
    }
};

}  // namespace dyetrace::trace
