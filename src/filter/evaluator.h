// Decides exactly whether an event is selected, while its record passes by.
//
//   record ─► columns (event_values.h) ─► tree, three-valued ─► selected only if TRUE
//                        ▲
//      memory of text conditions per handle_id and per context_id: a path is matched once, not once per event
//
//   Evaluator evaluator(predicate, "node-3");
//   if (evaluator.matches(record, cpu, dictionary)) { ... }
//
// One thread at a time (it remembers, and keeps buffers); no allocation per event in the usual case: text of ASCII that
// needs no escape, no name joined from a directory. Limits: kRememberedMax conditions are remembered, the rest is matched
// each time; kSlots ids, a later one takes the slot of an earlier one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "filter/event_values.h"
#include "filter/predicate.h"
#include "schema/dictionary.h"
#include "schema/record.h"

namespace dyetrace::filter {

class Evaluator {
  public:
    static constexpr std::size_t kRememberedMax = 64;  // bits of a word
    static constexpr std::size_t kSlots = 4096;        // 32 bytes each; more live handles are rare

    // `host` is the column `host`: the name of the machine whose records will come.
    explicit Evaluator(const Predicate& predicate, std::string_view host = {});

    // Whether the view `events` over the same records has the row and the condition is true of it. False for records
    // that are no events. The dictionary is that of the records' host.
    bool matches(schema::RecordBytes record,
                 std::uint16_t cpu,
                 const schema::Dictionary& dictionary) const;

    const Predicate& predicate() const { return *predicate_; }

  private:
    struct Node {
        const Expression* expression = nullptr;
        std::vector<Node> operands;
        int remembered = -1;  // number of the condition, -1: is not
        bool per_task = false;
        std::vector<Integer> sorted;  // of an IN over numbers without NULL: for a binary search
    };
    struct Slot {
        std::uint32_t id = 0;
        bool used = false;
        std::uint64_t known = 0;
        std::uint64_t true_bits = 0;
        std::uint64_t null_bits = 0;
    };

    Node node_of(const Expression& expression);
    void remember(Node& node);
    Truth truth(const Node& node, const EventValues& values) const;
    Truth condition_truth(const Node& node, const EventValues& values) const;
    Truth remembered_truth(const Node& node, const EventValues& values) const;
    Truth junction(const Node& node, const EventValues& values) const;
    Truth in_truth(const Node& node, const EventValues& values) const;
    Value value(const Node& node, const EventValues& values) const;
    Slot* slot_of(const Node& node, const EventValues& values) const;

    std::unique_ptr<const Predicate> predicate_;  // nodes point into it, also after a move
    std::string host_;
    int remembered_ = 0;
    Node root_;
    mutable TextBuffers buffers_;
    mutable std::vector<Slot> handles_;
    mutable std::vector<Slot> tasks_;
};

}  // namespace dyetrace::filter
