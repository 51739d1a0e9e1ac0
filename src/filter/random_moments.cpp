#include "filter/random_cases.h"
#include "schema/record_builder.h"

namespace dyetrace::filter {

schema::OwnedRecord RandomCases::log_event(std::uint64_t sequence) {
    schema::LogEvent e{};
    e.header.sequence = sequence;
    e.start_ns = number() / 2;  // make_timestamp_ns takes a BIGINT
    e.context_id = static_cast<std::uint32_t>(below(kTasks + 2));
    e.kind = static_cast<std::uint8_t>(6 + below(4));
    return chance(50) ? schema::build(e, {{schema::Attachment::kText, "hello"}})
                      : schema::build(e,
                                      {{schema::Attachment::kText, "{}"},
                                       {schema::Attachment::kName, chance(50) ? "read" : "LOCK"}});
}

schema::OwnedRecord RandomCases::signal_event(std::uint64_t sequence) {
    schema::SignalEvent e{};
    e.header.sequence = sequence;
    e.start_ns = number() / 2;  // make_timestamp_ns takes a BIGINT
    e.context_id = static_cast<std::uint32_t>(below(kTasks + 2));
    e.signal = static_cast<std::uint32_t>(below(70));
    e.code = chance(20) ? 0x80 : static_cast<std::int32_t>(below(20)) - 8;
    e.present = static_cast<std::uint32_t>(random_() & 0x3f);
    e.sender_pid = static_cast<std::uint32_t>(below(8));
    e.sender_uid = static_cast<std::uint32_t>(number());
    e.status = static_cast<std::int32_t>(number());
    e.timer = static_cast<std::int32_t>(number());
    e.address = number();
    e.value = number();
    return schema::build(e);
}

}  // namespace dyetrace::filter
