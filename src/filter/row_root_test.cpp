// Rows of a probe that a generated program counts in the kernel, with what it passes on, against those of a GroupTable.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
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

constexpr std::ptrdiff_t kRowAt = -504;

// Numbers of every width and sign, and texts of two lengths.
RowLayout layout() {
    return RowLayout::of({{.name = "pid", .bits = 32},
                          {.name = "arguments.size", .bits = 64, .is_signed = false},
                          {.name = "result", .bits = 64},
                          {.name = "arguments.flags", .bits = 8, .is_signed = false},
                          {.name = "comm", .type = Type::kText, .bytes = kCommBytes},
                          {.name = "str(arguments.path)", .type = Type::kText, .bytes = 64}})
        .value();
}

const std::vector<const char*> kRowConditions = {"TRUE",
                                                 "pid > 3",
                                                 "pid IN (1, 2, -5)",
                                                 "\"arguments.size\" >= 9223372036854775808",
                                                 "result < 0 AND pid <> 2",
                                                 "result IS NULL OR \"arguments.flags\" & 3 = 1",
                                                 "comm = 'sh'",
                                                 "comm <> 'sh' AND pid BETWEEN 0 AND 4",
                                                 "comm LIKE 'p%' OR result = 7",
                                                 "comm IS NOT NULL",
                                                 "\"str(arguments.path)\" = '/etc/passwd'",
                                                 "NOT (\"str(arguments.path)\" IN ('/a', '/b'))",
                                                 "starts_with(\"str(arguments.path)\", '/etc')",
                                                 "arguments.size % 10 = 3"};
const std::vector<const char*> kRowKeys = {"pid",
                                           "\"arguments.size\"",
                                           "result",
                                           "\"arguments.flags\"",
                                           "comm",
                                           "\"str(arguments.path)\"",
                                           "\"arguments.size\" >> 60",
                                           "result % 3",
                                           "result // -7",
                                           "power_of_two(result)",
                                           "power_of_two(\"arguments.size\")",
                                           "\"arguments.flags\" - pid",
                                           "pid + 4"};
const std::vector<std::pair<AggregateKind, const char*>> kRowAggregates = {
    {AggregateKind::kCount, "1"},
    {AggregateKind::kCount, "result"},
    {AggregateKind::kCount, "comm"},
    {AggregateKind::kSum, "\"arguments.size\""},
    {AggregateKind::kSum, "result"},
    {AggregateKind::kSum, "pid * 5"},
    {AggregateKind::kLeast, "result"},
    {AggregateKind::kLeast, "\"arguments.size\""},
    {AggregateKind::kGreatest, "result"},
    {AggregateKind::kGreatest, "pid"}};
const std::vector<std::string> kRowTexts = {
    "", "sh", "postgres", "/etc/passwd", "/etc/hosts", "/a", "\xff\x01 b\\", "fifteen letters"};
const std::vector<std::int64_t> kRowNumbers = {0,
                                               1,
                                               -1,
                                               2,
                                               7,
                                               -5,
                                               std::numeric_limits<std::int64_t>::max(),
                                               std::numeric_limits<std::int64_t>::min()};

Grouping random_grouping(RandomCases& cases, const RowLayout& row) {
    Grouping grouping;
    grouping.where =
        Predicate::parse(kRowConditions[cases.below(kRowConditions.size())], &row).value();
    for (std::uint64_t i = cases.below(4); i > 0; --i) {
        grouping.keys.push_back(parse_value(kRowKeys[cases.below(kRowKeys.size())], &row).value());
    }
    if (cases.chance(40)) {
        grouping.keys.push_back(
            parse_key(kRowConditions[cases.below(kRowConditions.size())], &row).value());
    }
    for (std::uint64_t i = cases.below(6) + 1; i > 0; --i) {
        const auto& [kind, argument] = kRowAggregates[cases.below(kRowAggregates.size())];
        grouping.aggregates.push_back({kind, parse_value(argument, &row).value()});
    }
    return grouping;
}

void put_word(std::vector<std::byte>& row, std::size_t offset, std::uint64_t word) {
    std::memcpy(row.data() + offset, &word, sizeof(word));
}

std::vector<std::byte> random_row(RandomCases& cases, const RowLayout& layout) {
    std::vector<std::byte> row(layout.bytes());
    std::uint64_t nulls = 0;
    for (const Expression& e : layout.fields()) {
        const Field& field = *e.field;
        if (cases.chance(15)) {
            nulls |= std::uint64_t{1} << field.number;
        } else if (e.type == Type::kText) {
            const std::string& text = kRowTexts[cases.below(kRowTexts.size())];
            std::memcpy(row.data() + field.offset, text.data(), text.size());
        } else {
            const std::int64_t number = kRowNumbers[cases.below(kRowNumbers.size())];
            const auto narrow = field.bits == 32  ? static_cast<std::int32_t>(number)
                                : field.bits == 8 ? static_cast<std::uint8_t>(number)
                                                  : number;
            put_word(row, field.offset, static_cast<std::uint64_t>(narrow));
        }
    }
    put_word(row, 0, nulls);
    return row;
}

void put_first(int map, const void* value) {
    const std::uint32_t first = 0;
    bpf_attr update{};
    update.map_fd = static_cast<std::uint32_t>(map);
    update.key = address_of(&first);
    update.value = address_of(value);
    ASSERT_EQ(bpf(BPF_MAP_UPDATE_ELEM, update), 0) << strerror(errno);
}

// Copies the row from a map and counts it: returns 2, passes it on: 1, or 0.
std::vector<bpf_insn> program_of(const BpfGrouping& grouping,
                                 const RowLayout& layout,
                                 int row_map,
                                 const BpfGroupTargets& targets) {
    Assembler code;
    const Label found = code.new_label(), is_not = code.new_label(), pass = code.new_label();
    code.set(Register::k6, Register::k1);
    code.set(Register::k1, 0);
    code.store(Register::kFrame, -4, Register::k1, 4);
    code.set(Register::k2, Register::kFrame);
    code.calculate(BPF_ADD, Register::k2, -4);
    code.set_map(Register::k1, row_map);
    code.call(BPF_FUNC_map_lookup_elem);
    code.jump_if(BPF_JNE, Register::k0, 0, found);
    code.exit();
    code.place(found);
    for (std::size_t at = 0; at < layout.bytes(); at += 8) {
        code.load(Register::k1, Register::k0, at, 8);
        code.store(Register::kFrame, kRowAt + static_cast<std::ptrdiff_t>(at), Register::k1, 8);
    }
    grouping.count_row(code, kRowAt, targets, is_not, pass);
    code.set(Register::k0, 2);
    code.exit();
    code.place(pass);
    code.set(Register::k0, 1);
    code.exit();
    code.place(is_not);
    code.set(Register::k0, 0);
    code.exit();
    return std::move(code).finish().value();
}

std::uint32_t run(int program) {
    bpf_attr trial{};
    trial.test.prog_fd = static_cast<std::uint32_t>(program);
    EXPECT_EQ(bpf(BPF_PROG_TEST_RUN, trial), 0) << strerror(errno);
    return trial.test.retval;
}

TEST(RowGrouping, counts_in_the_kernel_what_the_table_counts) {
    const RowLayout row = layout();
    RandomCases cases(19);
    std::size_t counted = 0, passed = 0, left = 0;
    for (int round = 0; round < 400; ++round) {
        const Grouping grouping = random_grouping(cases, row);
        const auto program = BpfGrouping::of_rows(grouping);
        if (!program.ok()) {
            EXPECT_EQ(program.error().code(), ErrorCode::kUnsupported) << program.error().text();
            continue;  // keys that are too long together
        }
        const std::uint32_t groups_max = cases.chance(30) ? 4 : 1000;
        const FileDescriptor row_map(create_map(BPF_MAP_TYPE_ARRAY, 4, row.bytes(), 1));
        const FileDescriptor blank(
            create_map(BPF_MAP_TYPE_ARRAY, 4, program.value().value_bytes(), 1));
        const FileDescriptor groups(create_map(BPF_MAP_TYPE_HASH,
                                               program.value().key_bytes(),
                                               program.value().value_bytes(),
                                               groups_max));
        const FileDescriptor tables(create_map(BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 1, groups.get()));
        ASSERT_GE(groups.get(), 0) << strerror(errno);
        const int table_fd = groups.get();
        put_first(tables.get(), &table_fd);
        std::string log;
        const FileDescriptor loaded(load_program(program_of(program.value(),
                                                            row,
                                                            row_map.get(),
                                                            {.tables_map_fd = tables.get(),
                                                             .blank_map_fd = blank.get(),
                                                             .is_preemptible = round % 2 == 0,
                                                             .counted_index = {}}),
                                                 log));
        ASSERT_GE(loaded.get(), 0) << log.c_str();
        GroupTable expected(grouping, ""), found(grouping, "");
        for (int i = 0; i < 60; ++i) {
            const std::vector<std::byte> bytes = random_row(cases, row);
            put_first(row_map.get(), bytes.data());
            const std::uint32_t verdict = run(loaded.get());
            counted += verdict == 2 ? 1 : 0;
            if (verdict == 1) {
                passed += found.add_row(bytes) ? 1 : 0;
            }
            left += expected.add_row(bytes) ? 0 : 1;
        }
        take(groups.get(), program.value(), found);
        EXPECT_EQ(found.groups(), expected.groups()) << grouping.where.to_sql();
    }
    EXPECT_GT(counted, 2000u);
    EXPECT_GT(passed, 300u);
    EXPECT_GT(left, 1000u);
}

}  // namespace
}  // namespace dyetrace::filter
