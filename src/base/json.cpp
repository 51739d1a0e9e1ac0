#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_string.h"

namespace dyetrace::base {
namespace {

using Library = nlohmann::json;

std::string library_text(double number) {
    return Library(number).dump();
}

template <class T>
constexpr std::string_view kTypeName = "";
template <>
constexpr std::string_view kTypeName<bool> = "true or false";
template <>
constexpr std::string_view kTypeName<int64_t> = "a whole number";
template <>
constexpr std::string_view kTypeName<uint64_t> = "a whole number from 0";
template <>
constexpr std::string_view kTypeName<double> = "a number";
template <>
constexpr std::string_view kTypeName<std::string> = "a string";

}  // namespace

// Receives the library's parse events. `open_` holds the unfinished arrays and objects, outermost
// first.
class Json::Builder {
  public:
    bool null() { return add(Json()); }
    bool boolean(bool value) { return add(value); }
    bool number_integer(Library::number_integer_t value) { return add(value); }
    bool number_unsigned(Library::number_unsigned_t value) { return add(value); }
    bool number_float(Library::number_float_t value, const std::string&) { return add(value); }
    bool string(std::string& value) { return add(std::move(value)); }
    bool binary(Library::binary_t&) { return false; }
    bool start_array(size_t) { return begin(Json::array()); }
    bool start_object(size_t) { return begin(Json::object()); }
    bool end_array() { return end(); }
    bool end_object() { return end(); }

    bool key(std::string& name) {
        open_.back().name = std::move(name);
        return true;
    }

    bool parse_error(size_t position, const std::string&, const Library::exception& exception) {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ..."
        // "[json.exception.out_of_range.406] number overflow parsing '1e999'"
        std::string_view reason = exception.what();
        for (const std::string_view prefix_end : {"] ", ": "}) {
            const size_t end = reason.find(prefix_end);
            if (end != std::string_view::npos) reason.remove_prefix(end + prefix_end.size());
        }
        error_ = fmt::format("JSON, byte {}: {}", position, reason);
        return false;
    }

    Json take_root() { return std::move(root_); }
    const std::string& error() const { return error_; }

  private:
    struct Open {
        Json container;
        std::string name;  // of the member that comes next
    };

    bool begin(Json container) {
        open_.push_back({std::move(container), {}});
        if (open_.size() <= kJsonDepthMax) return true;
        error_ = fmt::format("JSON is nested deeper than {} levels", kJsonDepthMax);
        return false;
    }

    bool end() {
        Json finished = std::move(open_.back().container);
        open_.pop_back();
        return add(std::move(finished));
    }

    bool add(Json value) {
        if (open_.empty()) {
            root_ = std::move(value);
            return true;
        }
        Open& open = open_.back();
        if (auto* items = std::get_if<std::vector<Json>>(&open.container.value_)) {
            items->push_back(std::move(value));
        } else {
            std::get_if<std::vector<Member>>(&open.container.value_)
                ->push_back({std::move(open.name), std::move(value)});
        }
        return true;
    }

    std::vector<Open> open_;
    Json root_;
    std::string error_;
};

class Json::Writer {
  public:
    explicit Writer(bool pretty) : pretty_(pretty) {}

    void write(const Json& json) {
        std::visit([this](const auto& value) { write_value(value); }, json.value_);
    }
    std::string take_text() { return std::move(text_); }

  private:
    void write_value(std::monostate) { text_ += "null"; }
    void write_value(bool value) { text_ += value ? "true" : "false"; }
    void write_value(int64_t value) { text_ += std::to_string(value); }
    void write_value(uint64_t value) { text_ += std::to_string(value); }
    void write_value(double value) { text_ += library_text(value); }
    void write_value(const std::string& value) { append_json_string(text_, value); }
    void write_value(const std::vector<Json>& items) {
        write_list('[', items, ']', [this](const Json& item) { write(item); });
    }
    void write_value(const std::vector<Member>& members) {
        write_list('{', members, '}', [this](const Member& member) {
            write_value(member.name);
            text_ += pretty_ ? ": " : ":";
            write(member.value);
        });
    }

    template <class Element, class Write>
    void write_list(char begin, const std::vector<Element>& list, char end, Write write_element) {
        text_ += begin;
        ++depth_;
        for (const Element& element : list) {
            if (&element != &list.front()) text_ += ',';
            break_line();
            write_element(element);
        }
        --depth_;
        if (!list.empty()) break_line();
        text_ += end;
    }

    void break_line() {
        if (pretty_) text_.append(1, '\n').append(2 * depth_, ' ');
    }

    const bool pretty_;
    size_t depth_ = 0;
    std::string text_;
};

// Out of line because a vector<Member> can be destroyed only where Member is complete.
Json::Json(Value value) : value_(std::move(value)) {}
Json::Json(bool value) : value_(value) {}
Json::Json(int64_t value)
    : value_(value < 0 ? Value(value) : Value(static_cast<uint64_t>(value))) {}
Json::Json(uint64_t value) : value_(value) {}
Json::Json(double value) : value_(value) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(std::string_view value) : value_(std::string(value)) {}
Json::Json(const char* value) : value_(std::string(value)) {}
Json Json::array() {
    return Json(Value(std::vector<Json>()));
}
Json Json::object() {
    return Json(Value(std::vector<Member>()));
}

Result<Json> Json::parse(std::string_view text) {
    Builder builder;
    if (Library::sax_parse(text.begin(), text.end(), &builder)) return builder.take_root();
    return Error(ErrorCode::kCorrupt, builder.error());
}

bool Json::is_valid(std::string_view text) {
    return Library::accept(text.begin(), text.end());
}

Json& Json::set(std::string_view name, Json value) {
    auto* members = std::get_if<std::vector<Member>>(&value_);
    CHECK(members, "set() is for objects");
    const auto same_name = [&](const Member& member) { return member.name == name; };
    const auto found = std::find_if(members->begin(), members->end(), same_name);
    if (found != members->end()) {
        found->value = std::move(value);
    } else {
        members->push_back({std::string(name), std::move(value)});
    }
    return *this;
}

Json& Json::append(Json value) {
    auto* items = std::get_if<std::vector<Json>>(&value_);
    CHECK(items, "append() is for arrays");
    items->push_back(std::move(value));
    return *this;
}

const std::vector<Json>& Json::items() const {
    static const std::vector<Json> kNone;
    const auto* items = std::get_if<std::vector<Json>>(&value_);
    return items ? *items : kNone;
}

const std::vector<Json::Member>& Json::members() const {
    static const std::vector<Member> kNone;
    const auto* members = std::get_if<std::vector<Member>>(&value_);
    return members ? *members : kNone;
}

const Json* Json::find(std::string_view name) const {
    for (const Member& member : members()) {
        if (member.name == name) return &member.value;
    }
    return nullptr;
}

const std::vector<Json>& Json::items_at(std::string_view name) const {
    static const Json kNull;
    const Json* member = find(name);
    return (member ? *member : kNull).items();
}

template <class T>
std::optional<T> Json::as() const {
    if (const auto* value = std::get_if<T>(&value_)) return *value;
    if constexpr (std::same_as<T, int64_t>) {
        const auto* value = std::get_if<uint64_t>(&value_);
        if (value && std::in_range<int64_t>(*value)) return static_cast<int64_t>(*value);
    }
    if constexpr (std::same_as<T, double>) {
        if (const auto* value = std::get_if<int64_t>(&value_)) return static_cast<double>(*value);
        if (const auto* value = std::get_if<uint64_t>(&value_)) return static_cast<double>(*value);
    }
    return std::nullopt;
}

template <class T>
Result<T> Json::get(std::string_view name) const {
    const Json* member = find(name);
    if (!member) return Error(ErrorCode::kCorrupt, fmt::format("'{}' is missing", name));
    std::optional<T> value = member->as<T>();
    if (!value) {
        return Error(ErrorCode::kCorrupt, fmt::format("'{}' is not {}", name, kTypeName<T>));
    }
    return *std::move(value);
}

template std::optional<bool> Json::as() const;
template std::optional<int64_t> Json::as() const;
template std::optional<uint64_t> Json::as() const;
template std::optional<double> Json::as() const;
template std::optional<std::string> Json::as() const;
template Result<bool> Json::get(std::string_view) const;
template Result<int64_t> Json::get(std::string_view) const;
template Result<uint64_t> Json::get(std::string_view) const;
template Result<double> Json::get(std::string_view) const;
template Result<std::string> Json::get(std::string_view) const;

std::string Json::text() const {
    Writer writer(/*pretty=*/false);
    writer.write(*this);
    return writer.take_text();
}

std::string Json::pretty_text() const {
    Writer writer(/*pretty=*/true);
    writer.write(*this);
    return writer.take_text() + "\n";
}

bool operator==(const Json& left, const Json& right) {
    return left.value_ == right.value_;
}

}  // namespace dyetrace::base
