// The world's mistakes return.
//
// A function that a kernel, disk, network or user can make fail returns Result<T>: a T or an Error.
//
//   Result<Segment> open_newest(const std::string& folder) {
//       TRY(std::vector<std::string> names, list_folder(folder));    a value, or return the error
//       TRY(verify(names));                                          nothing, or return the error
//       if (names.empty()) return Error(ErrorCode::kNotFound, "no segment is left");
//       return open_segment(names.back()).with_context("trace '" + folder + "'");
//   }
//
//   Error  code     what a caller may branch on
//          message  one clause for people, no full stop: what, where, what to do
//          cause    the Error below it, or none; text() reads "message: cause's message: ..."
//
// value() of a failed Result and error() of a good one are our mistakes: they abort.
// TRY's declaration must not hold a comma outside parentheses: write `auto` for std::map<K, V>.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"

namespace dyetrace::base {

enum class ErrorCode : uint8_t {
    kInvalidArgument,   // what a person or caller asked for makes no sense
    kNotFound,          // it is not there
    kAlreadyExists,     // it is there and should not be
    kPermissionDenied,  // this user may not
    kUnsupported,       // this kernel, file system or format version cannot
    kCorrupt,           // bytes from outside that are not what they claim to be
    kLimitReached,      // a named limit or a full disk
    kOutOfMemory,       // of what it may have: a limit of memory, or the machine
    kUnavailable,       // not now: busy, disconnected, timed out
    kInterrupted,       // stopped by a signal or a person
    kIo,                // any other failure of the operating system
};

std::string_view name_of(ErrorCode code);

class [[nodiscard]] Error {
  public:
    Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

    // The code that fits errno, and "message: No such file or directory (ENOENT)".
    static Error from_errno(int error_number, std::string_view message);

    // The same failure seen from one floor higher: keeps the code, `*this` becomes the cause.
    Error with_context(std::string message) &&;
    Error with_context(std::string message) const&;

    ErrorCode code() const { return code_; }
    const std::string& message() const { return message_; }
    const Error* cause() const { return cause_.empty() ? nullptr : &cause_.front(); }
    std::string text() const;

  private:
    ErrorCode code_;
    std::string message_;
    std::vector<Error> cause_;  // none or one; a vector may hold its own type and copies deeply
};

template <class T>
class [[nodiscard]] Result {
  public:
    using value_type = T;

    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }

    const T& value() const& { return (require_ok(), *std::get_if<0>(&state_)); }
    T& value() & { return (require_ok(), *std::get_if<0>(&state_)); }
    T&& value() && { return (require_ok(), std::move(*std::get_if<0>(&state_))); }
    T value_or(T otherwise) && { return ok() ? std::move(*this).value() : std::move(otherwise); }

    const Error& error() const& { return (require_error(), *std::get_if<1>(&state_)); }
    Error&& error() && { return (require_error(), std::move(*std::get_if<1>(&state_))); }

    Result with_context(std::string message) && {
        if (ok()) return std::move(*this);
        return std::move(*this).error().with_context(std::move(message));
    }

  private:
    void require_ok() const { CHECK(ok(), error().text()); }
    void require_error() const { CHECK(!ok(), "a good Result has no error"); }

    std::variant<T, Error> state_;
};

// Success without a value is `return {};`.
template <>
class [[nodiscard]] Result<void> {
  public:
    using value_type = void;

    Result() = default;
    Result(Error error) { error_.push_back(std::move(error)); }

    bool ok() const { return error_.empty(); }
    void value() const { CHECK(ok(), error().text()); }

    const Error& error() const& { return (require_error(), error_.front()); }
    Error&& error() && { return (require_error(), std::move(error_.front())); }

    Result with_context(std::string message) && {
        if (ok()) return {};
        return std::move(*this).error().with_context(std::move(message));
    }

  private:
    void require_error() const { CHECK(!ok(), "a good Result has no error"); }

    std::vector<Error> error_;  // none or one
};

}  // namespace dyetrace::base

namespace dyetrace {

// Every folder speaks these words, so every folder has them without a prefix.
using base::Error;
using base::ErrorCode;
using base::Result;

}  // namespace dyetrace

#define TRY(first, ...)                                                             \
    DYETRACE_SECOND_OF(__VA_OPT__(_, DYETRACE_TRY_VALUE, ) _, DYETRACE_TRY_VOID, _) \
    (DYETRACE_JOIN(try_result_, __COUNTER__), first __VA_OPT__(, ) __VA_ARGS__)

#define DYETRACE_TRY_VALUE(result, declaration, ...) \
    auto result = (__VA_ARGS__);                     \
    if (!result.ok()) [[unlikely]]                   \
        return std::move(result).error();            \
    declaration = std::move(result).value()

#define DYETRACE_TRY_VOID(result, expression)                      \
    do {                                                           \
        if (auto result = (expression); !result.ok()) [[unlikely]] \
            return std::move(result).error();                      \
    } while (false)

#define DYETRACE_SECOND_OF(first, second, ...) second
#define DYETRACE_JOIN(left, right) DYETRACE_JOIN_EXPANDED(left, right)
#define DYETRACE_JOIN_EXPANDED(left, right) left##right
