// A probe's row: what a question wants to know of one firing, side by side, as a generated program puts it together.
//
//   vfs_read, asked for comm and arguments.count
//
//   | which are NULL: bit i is about value i | comm: 16 bytes, NULs to their end | arguments.count: 8 bytes |
//     word 0                                   value 0                             value 1
//
// A number has 8 bytes, whatever its type; text ends with a NUL. What a condition or a key names is a field of the row
// (expression.h), found by its name. Limits: kRowBytesMax, of a program's stack; kRowValuesMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "filter/expression.h"

namespace dyetrace::filter {

inline constexpr std::size_t kWord = 8;
inline constexpr std::size_t kRowBytesMax = 240;
inline constexpr std::size_t kRowValuesMax = 29;
inline constexpr std::size_t kCommBytes = 16;
inline constexpr std::size_t kRowTextBytes = 64;

struct RowColumn {
    std::string name;
    Type type = Type::kInteger;  // or kText
    std::size_t bytes = 8;       // of text, with the NUL after it
    unsigned bits = 64;          // of a number
    bool is_signed = true;
    bool is_stack = false;  // text that the kernel has as a number
    bool operator==(const RowColumn&) const = default;
};

inline std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t offset) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + offset, sizeof(word));
    return word;
}

class RowLayout {
  public:
    // kUnsupported: there is no room for them.
    static Result<RowLayout> of(const std::vector<RowColumn>& columns);
    RowLayout() = default;

    // kField expressions, in the order of the columns.
    const std::vector<Expression>& fields() const { return fields_; }
    // nullptr: there is none of this name.
    const Expression* find(std::string_view name) const;
    std::size_t bytes() const { return bytes_; }

  private:
    std::vector<Expression> fields_;
    std::size_t bytes_ = 8;
};

// The values of one row, in user space.
class RowValues {
  public:
    // `row` has the layout's bytes, and outlives this.
    explicit RowValues(std::span<const std::byte> row) : row_(row) {}

    // The value that a field has. Text is as it is shown (schema/text.h), and valid until the next call.
    Value of(const Expression& field) const;

  private:
    std::span<const std::byte> row_;
    mutable std::string text_;
};

// Whether a condition over the row's fields holds.
Truth truth_of(const Expression& condition, const RowValues& values);
// A field, a constant, or what is calculated of them.
Value value_of(const Expression& expression, const RowValues& values);

}  // namespace dyetrace::filter
