#include "store/arguments_function.h"

#include <gtest/gtest.h>

#include <random>

#include "schema/record_builder.h"
#include "schema/syscalls.h"
#include "store/store_fixture.h"

namespace dyetrace::store {
namespace {

constexpr int kTimes = 40;  // each call
constexpr const char* kHostileNames[] = {"user.x",
                                         "",
                                         "a\"b\\c/\n\x01\x1f",
                                         "\xff\xfe not UTF-8",
                                         "\u202e雪",
                                         "\b\f\r\t\x1b\x7f\u0080\u2028\ufeff"};

// Numbers as calls have them: small, single flags, many flags, negative, addresses.
std::uint64_t register_in(std::mt19937_64& random) {
    switch (random() % 6) {
        case 0:
            return random() % 64;
        case 1:
            return std::uint64_t{1} << (random() % 64);
        case 2:
            return random() & random() & 0xffffffff;
        case 3:
            return ~(random() % 4096);
        case 4:
            return 0xffffffff - random() % 3;
        default:
            return random();
    }
}

schema::OwnedRecord event_of(const schema::SyscallInfo& call,
                             std::uint64_t sequence,
                             std::mt19937_64& random) {
    schema::SyscallEvent event{};
    event.header.sequence = sequence;
    event.syscall = call.number;
    event.abi = static_cast<std::uint8_t>(call.abi);
    for (std::uint64_t& argument : event.arguments) {
        argument = register_in(random);
    }
    if (!call.choices.empty()) {
        const auto command = call.choices[random() % call.choices.size()].command;
        event.arguments[random() % 2] = command;
    }
    const std::string name = kHostileNames[random() % std::size(kHostileNames)];
    const std::string name2 = kHostileNames[random() % std::size(kHostileNames)];
    switch (random() % 3) {
        case 0:
            return schema::build(event);
        case 1:
            return schema::build(event, {{schema::Attachment::kName, name}});
        default:
            return schema::build(
                event, {{schema::Attachment::kName, name}, {schema::Attachment::kName2, name2}});
    }
}

// The view `events` takes the first, who reads a trace without us the second.
constexpr const char* kBothForms =
    "FROM (SELECT k.name, e.argument0, _arguments_json(e.abi, e.syscall, e.argument0, e.argument1, "
    "e.argument2, e.argument3, e.argument4, "
    "e.argument5, e.name, e.name2) AS ours, _arguments_text(k.labels, k.types, k.sets, k.pair, "
    "k.choices, e.argument0, e.argument1, "
    "e.argument2, e.argument3, e.argument4, e.argument5, e.name, e.name2) AS macros FROM "
    "internal.raw_syscall_event e LEFT JOIN "
    "internal.syscall_words k ON k.abi = e.abi AND k.number = e.syscall)";

TEST(ArgumentsFunction, says_of_every_call_what_the_macro_says) {
    constexpr std::uint64_t kSeed = 11;
    std::mt19937_64 random(kSeed);
    StoreFixture fixture;
    auto writer = trace::SegmentWriter::create(fixture.folder(), 0).value();
    std::uint64_t events = 0;
    for (const schema::SyscallInfo& call : schema::syscalls()) {
        for (int i = 0; i < kTimes; ++i) {
            writer.append(0, schema::Stream::kEvents, event_of(call, events++, random).bytes())
                .value();
        }
    }
    schema::SyscallInfo unknown{};
    unknown.number = 0xfff0;
    writer.append(0, schema::Stream::kEvents, event_of(unknown, events++, random).bytes()).value();
    writer.close().value();
    fixture.folder().finish().value();
    const auto database = fixture.database();
    EXPECT_EQ(ask(*database, std::string("SELECT count(*), count(ours) ") + kBothForms),
              std::to_string(events) + " " + std::to_string(events - 1) + "\n");
    EXPECT_EQ(ask(*database,
                  std::string("SELECT name, argument0, ours, macros ") + kBothForms +
                      " WHERE ours IS DISTINCT FROM macros LIMIT 10"),
              "");
}

TEST(ArgumentsFunction, says_of_every_signal_what_the_macro_says) {
    constexpr std::uint64_t kSeed = 12;
    std::mt19937_64 random(kSeed);
    StoreFixture fixture;
    auto writer = trace::SegmentWriter::create(fixture.folder(), 0).value();
    constexpr std::uint32_t kSignals = 65, kEach = 40;
    std::uint64_t sequence = 0;
    for (std::uint32_t signal = 0; signal < kSignals; ++signal) {
        for (std::uint32_t i = 0; i < kEach; ++i) {
            schema::SignalEvent event{};
            event.header.sequence = sequence++;
            event.signal = signal;
            event.code = static_cast<std::int32_t>(random() % 200) - 60;
            event.present = static_cast<std::uint32_t>(random() % 64);
            event.sender_pid = static_cast<std::uint32_t>(random());
            event.sender_uid = static_cast<std::uint32_t>(random());
            event.status = static_cast<std::int32_t>(random());
            event.timer = static_cast<std::int32_t>(random());
            event.overrun = static_cast<std::int32_t>(random());
            event.user_ticks = random();
            event.system_ticks = random();
            event.value = random();
            event.address = random();
            writer.append(0, schema::Stream::kEvents, schema::build(event).bytes()).value();
        }
    }
    writer.close().value();
    fixture.folder().finish().value();
    const auto database = fixture.database();
    const std::string both =
        "FROM (SELECT _signal_json(e.signal, e.code, e.sender_pid, e.sender_uid, e.status, "
        "e.user_ticks, e.system_ticks, e.timer, "
        "e.overrun, e.value, e.address) AS ours, _signal_words(s.signals, s.codes, e.signal, "
        "e.code, e.sender_pid, e.sender_uid, "
        "e.status, e.user_ticks, e.system_ticks, e.timer, e.overrun, e.value, e.address) AS macros "
        "FROM internal.raw_signal_event e "
        "CROSS JOIN internal.signal_words s)";
    EXPECT_EQ(ask(*database, "SELECT count(*), count(ours) " + both),
              std::to_string(sequence) + " " + std::to_string(sequence) + "\n");
    EXPECT_EQ(ask(*database,
                  "SELECT ours, macros " + both + " WHERE ours IS DISTINCT FROM macros LIMIT 10"),
              "");
}

TEST(ArgumentsFunction, is_what_the_view_takes) {
    StoreFixture fixture;
    fixture.record(1, 100);
    const std::string plan = fixture.ask("EXPLAIN SELECT arguments FROM events");
    EXPECT_NE(plan.find("argument5"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("labels"), std::string::npos) << "the macro needs them: " << plan;
}

}  // namespace
}  // namespace dyetrace::store
