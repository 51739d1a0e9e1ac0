// A question that counts: SELECT keys, aggregates FROM events WHERE condition GROUP BY keys, as far as it can be answered where events
// happen. What a statement asks beyond that is done with its rows (query/live).
//
//   Grouping grouping{.where = …, .keys = {column name}, .aggregates = {{kCount}, {kSum, column bytes}}};
//   GroupTable table(grouping, "node-3");
//   table.add(record, cpu, dictionary);       an event that was drained: decided here, exactly
//   table.merge(key, partials);               what was counted elsewhere: in the kernel (bpf_grouping.h), on another host
//   for (const auto& [key, partials] : table.groups()) …
//
// Partials are merged, never aggregated again: an average is a sum and a count until the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "filter/evaluator.h"
#include "filter/event_values.h"
#include "filter/expression.h"
#include "filter/predicate.h"
#include "schema/dictionary.h"
#include "schema/record.h"

namespace dyetrace::filter {

// One question has so many at most: what a program in the kernel has room for on its stack.
inline constexpr std::size_t kGroupAggregatesMax = 12;

enum class AggregateKind : std::uint8_t {
    kCount,  // of values that are not NULL; of a constant: of events
    kSum,    // of integers, as are the next two
    kLeast,
    kGreatest,
};

struct Aggregate {
    AggregateKind kind = AggregateKind::kCount;
    Expression argument = integer_constant(1);
    bool operator==(const Aggregate&) const = default;
};

struct Grouping {
    Predicate where;
    std::vector<Expression>
        keys;  // columns, what is calculated of one, and conditions: 1 where one holds, 0 elsewhere
    std::vector<Aggregate> aggregates;
    bool operator==(const Grouping&) const = default;
};

// A key as SQL writes it.
Result<Expression> parse_key(std::string_view key, const RowLayout* row = nullptr);

// What is known of an aggregate of a group.
struct Partial {
    std::uint64_t count = 0;  // values that are not NULL
    Integer value = 0;        // their sum, the least, the greatest; means nothing while count is 0

    void merge(AggregateKind kind, const Partial& other);
    bool operator==(const Partial&) const = default;
};

using GroupKey = std::vector<Constant>;  // NULL, an integer or text for each key

struct GroupKeyHash {
    std::size_t operator()(const GroupKey& key) const;
};

using Groups = std::unordered_map<GroupKey, std::vector<Partial>, GroupKeyHash>;

// A group on its way to another program or host.
struct Group {
    GroupKey key;
    std::vector<Partial> partials;
};

// One thread. Memory: groups_max groups with their texts; a group that does not fit is left out, and its events are counted.
class GroupTable {
  public:
    static constexpr std::size_t kGroupsMax = 1'000'000;

    // `host` is the column `host`.
    GroupTable(const Grouping& grouping,
               std::string_view host,
               std::size_t groups_max = kGroupsMax);

    // False if the question is not about the record.
    bool add(schema::RecordBytes record, std::uint16_t cpu, const schema::Dictionary& dictionary);
    // The same of a probe's row, which has the bytes of the grouping's fields.
    bool add_row(std::span<const std::byte> row);
    void merge(const GroupKey& key, const std::vector<Partial>& partials);

    const Groups& groups() const { return groups_; }
    // Events of groups that found no room, since the beginning; at least so many.
    std::uint64_t left_out() const { return left_out_; }
    void clear() { groups_.clear(); }

  private:
    std::vector<Partial>* group_of(const GroupKey& key);
    template <typename Values, typename Holds>
    void add_values(const Values& values, Holds holds);

    Grouping grouping_;
    Evaluator evaluator_;
    std::vector<Evaluator> conditions_;  // of the keys that are conditions
    std::string host_;
    std::size_t groups_max_;
    TextBuffers buffers_;
    GroupKey key_;  // of the event in hand: its texts keep their capacity
    Groups groups_;
    std::uint64_t left_out_ = 0;
};

}  // namespace dyetrace::filter
