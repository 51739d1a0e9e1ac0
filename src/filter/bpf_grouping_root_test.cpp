// Groups that a generated program adds up in the kernel, with what it passes on, against those of a GroupTable.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "filter/bpf_fixture.h"
#include "filter/bpf_grouping.h"
#include "filter/bpf_groups_fixture.h"
#include "filter/grouping.h"
#include "filter/parser.h"
#include "filter/random_cases.h"

namespace dyetrace::filter {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace): it is for these tests
using schema::SyscallEvent;

constexpr std::uint16_t kHost = 3, kCpu = 2;

const std::vector<const char*> kKeys = {"name",
                                        "class",
                                        "comm",
                                        "file_system",
                                        "error",
                                        "state",
                                        "object_type",
                                        "abi",
                                        "host",
                                        "kind",
                                        "pid",
                                        "tid",
                                        "process_id",
                                        "uid",
                                        "fd",
                                        "cpu",
                                        "object_id",
                                        "bytes & 4095",
                                        "bytes % 7",
                                        "bytes // 100",
                                        "power_of_two(duration_ns)",
                                        "tid - pid",
                                        "duration_ns >> 10",
                                        "local_port",
                                        "part",
                                        "offset_certain",
                                        "result + 3",
                                        "container"};
const std::vector<std::pair<AggregateKind, const char*>> kAggregates = {
    {AggregateKind::kCount, "1"},
    {AggregateKind::kCount, "bytes"},
    {AggregateKind::kCount, "error"},
    {AggregateKind::kCount, "part"},
    {AggregateKind::kSum, "bytes"},
    {AggregateKind::kSum, "result"},
    {AggregateKind::kSum, "start_ns"},
    {AggregateKind::kSum, "fd * 3"},
    {AggregateKind::kLeast, "result"},
    {AggregateKind::kLeast, "duration_ns"},
    {AggregateKind::kGreatest, "result"},
    {AggregateKind::kGreatest, "file_offset"}};

Grouping random_grouping(RandomCases& cases) {
    Grouping grouping;
    if (cases.chance(70)) {
        if (auto where = Predicate::parse(cases.condition()); where.ok()) {
            grouping.where = std::move(where).value();
        }
    }
    for (std::uint64_t i = cases.below(4); i > 0; --i) {
        grouping.keys.push_back(parse_value(kKeys[cases.below(kKeys.size())]).value());
    }
    if (cases.chance(40)) {
        if (auto condition = parse_key(cases.condition()); condition.ok()) {
            grouping.keys.push_back(std::move(condition).value());
        }
    }
    for (std::uint64_t i = cases.below(6) + 1; i > 0; --i) {
        const auto& [kind, argument] = kAggregates[cases.below(kAggregates.size())];
        grouping.aggregates.push_back({kind, parse_value(argument).value()});
    }
    return grouping;
}

class BpfGroupingTest : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(kernel_.works())
            << "bpf(): " << strerror(errno) << "; this test needs CAP_BPF and CAP_PERFMON";
    }

    // Counts in the kernel what can be counted there, the rest in the table that it returns.
    Groups count(const Grouping& grouping,
                 const BpfGrouping& program,
                 const std::vector<schema::OwnedRecord>& events,
                 const schema::Dictionary& dictionary,
                 RandomCases& cases,
                 std::uint32_t groups_max) {
        const FileDescriptor groups(
            create_map(BPF_MAP_TYPE_HASH, program.key_bytes(), program.value_bytes(), groups_max));
        const FileDescriptor blank(create_map(BPF_MAP_TYPE_ARRAY, 4, program.value_bytes(), 1));
        StringAtoms atoms;
        const auto code = program.program(
            kernel_.layout(),
            {.groups_map_fd = groups.get(), .blank_map_fd = blank.get(), .counted_index = {}},
            atoms);
        EXPECT_TRUE(code);
        std::string log;
        const FileDescriptor loaded(load_program(*code, log));
        EXPECT_GE(loaded.get(), 0) << log.c_str();
        GroupTable table(grouping, "node-3");
        for (const auto& record : events) {
            const auto& event = *schema::as<SyscallEvent>(record.bytes());
            Scratch scratch = scratch_of(event, dictionary, atoms.atoms());
            if (cases.chance(20)) {  // something is not known yet
                scratch.input.known &= ~(1u << cases.below(4));
            }
            const std::uint32_t verdict = kernel_.run(loaded.get(), scratch);
            counted_ += verdict == 2 ? 1 : 0;
            passed_ += verdict == 1 ? 1 : 0;
            if (verdict == 1) {
                table.add(record.bytes(), kCpu, dictionary);
            }
        }
        take(groups.get(), program, table);
        return table.groups();
    }

    Kernel kernel_;
    std::size_t counted_ = 0, passed_ = 0;
};

TEST_F(BpfGroupingTest, counts_what_a_table_counts) {
    constexpr std::uint64_t kSeed = 77;
    std::size_t questions = 0, refused = 0;
    for (std::uint64_t round = 0; round < 40; ++round) {
        RandomCases cases(kSeed + round);
        schema::Dictionary dictionary(kHost);
        for (const auto& record : cases.world()) {
            dictionary.add(record.bytes());
        }
        std::vector<schema::OwnedRecord> events;
        for (std::uint64_t i = 0; i < 100; ++i) {
            events.push_back(cases.syscall_event(i));
        }
        for (int i = 0; i < 30; ++i) {
            const Grouping grouping = random_grouping(cases);
            const auto program = BpfGrouping::of(grouping, "node-3");
            if (!program.ok()) {
                EXPECT_EQ(program.error().code(), ErrorCode::kUnsupported);
                ++refused;
                continue;
            }
            ++questions;
            GroupTable wanted(grouping, "node-3");
            for (const auto& record : events) {
                wanted.add(record.bytes(), kCpu, dictionary);
            }
            const std::uint32_t room = cases.chance(30) ? 3 : 1000;  // what finds none is passed on
            EXPECT_EQ(count(grouping, program.value(), events, dictionary, cases, room),
                      wanted.groups())
                << "seed " << kSeed + round << ", question " << i << ": "
                << grouping.where.to_sql();
            ASSERT_FALSE(HasFailure());
        }
    }
    EXPECT_GT(questions, 800u);
    EXPECT_GT(refused, 0u);  // the container is not known in the kernel
    EXPECT_GT(counted_, 10'000u);
    EXPECT_GT(passed_, 1'000u);
}

TEST_F(BpfGroupingTest, adds_numbers_of_either_sign_beyond_64_bits) {
    Grouping grouping;
    grouping.aggregates = {{AggregateKind::kSum, parse_value("result").value()},
                           {AggregateKind::kSum, parse_value("start_ns").value()},
                           {AggregateKind::kLeast, parse_value("result").value()},
                           {AggregateKind::kGreatest, parse_value("result").value()}};
    const auto program = BpfGrouping::of(grouping, "node-3");
    ASSERT_TRUE(program.ok()) << program.error().text();
    std::vector<schema::OwnedRecord> events;
    for (const std::int64_t result : {INT64_MIN, INT64_MIN, std::int64_t{-1}, INT64_MIN}) {
        SyscallEvent event{};
        event.present = SyscallEvent::kHasResult;
        event.result = result;
        event.start_ns = INT64_MAX;
        events.push_back(schema::build(event));
    }
    RandomCases cases(1);
    const Groups groups =
        count(grouping, program.value(), events, schema::Dictionary(kHost), cases, 10);
    ASSERT_EQ(groups.size(), 1u);
    const std::vector<Partial>& sums = groups.begin()->second;
    EXPECT_TRUE(sums[0].value == Integer{INT64_MIN} * 3 - 1);
    EXPECT_TRUE(sums[1].value == Integer{INT64_MAX} * 4);
    EXPECT_TRUE(sums[2].value == Integer{INT64_MIN});
    EXPECT_TRUE(sums[3].value == Integer{-1});
    EXPECT_EQ(counted_ + passed_, 4u);
}

}  // namespace
}  // namespace dyetrace::filter
