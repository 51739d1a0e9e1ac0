#include "importer/falcon_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <utility>

#include "base/json.h"

namespace dyetrace::importer {
namespace {

using base::Json;

constexpr std::pair<std::string_view, FalconType> kTypeNames[] = {
    {"CREATE", FalconType::kCreate},
    {"START", FalconType::kStart},
    {"END", FalconType::kEnd},
    {"JOIN", FalconType::kJoin},
    {"LOG", FalconType::kLog},
    {"R", FalconType::kVariableRead},
    {"W", FalconType::kVariableWrite},
    {"SND", FalconType::kSend},
    {"RCV", FalconType::kReceive},
    {"CLOSE", FalconType::kClose},
    {"CONNECT", FalconType::kConnect},
    {"ACCEPT", FalconType::kAccept},
    {"SHUTDOWN", FalconType::kShutdown},
    {"HANDLERBEGIN", FalconType::kHandlerBegin},
    {"HANDLEREND", FalconType::kHandlerEnd},
    {"LOCK", FalconType::kLock},
    {"UNLOCK", FalconType::kUnlock},
    {"WAIT", FalconType::kWait},
    {"NOTIFY", FalconType::kNotify},
    {"NOTIFYALL", FalconType::kNotifyAll},
    {"WR", FalconType::kFileWrite},
    {"RD", FalconType::kFileRead},
    {"OPEN", FalconType::kFileOpen},
    {"CLOSE", FalconType::kFileClose},
    {"FSYNC", FalconType::kFileSync},
};

constexpr std::uint64_t kLargestNumber = 24;

Error wrong(std::string_view what) {
    return Error(ErrorCode::kCorrupt, std::string(what));
}

// A whole number as a number or, as Falcon's solver writes timestamps, as text.
template <class Number>
std::optional<Number> number_in(const Json& value) {
    using Wide = std::conditional_t<std::is_signed_v<Number>, std::int64_t, std::uint64_t>;
    if (const auto number = value.as<Wide>()) {
        return std::in_range<Number>(*number) ? std::optional(static_cast<Number>(*number))
                                              : std::nullopt;
    }
    const auto text = value.as<std::string>();
    Number number = 0;
    if (!text || text->empty()) {
        return std::nullopt;
    }
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    return error == std::errc() && end == text->data() + text->size() ? std::optional(number)
                                                                      : std::nullopt;
}

class Members {
  public:
    explicit Members(const Json& object) : object_(&object) {
        const Json* const data = object.find("data");
        data_ = data != nullptr && data->is_object() ? data : nullptr;
    }

    // Empty if it is not there.
    Result<std::string> text(const char* name) const { return text_of(object_->find(name), name); }
    Result<std::string> needed_text(const char* name) const {
        TRY(std::string found, text(name));
        if (found.empty()) {
            return wrong(fmt::format("an event without '{}'", name));
        }
        return found;
    }
    // A member of "data" that is text; empty if there is none.
    std::string detail(const char* name) const {
        const Json* const value = data_ != nullptr ? data_->find(name) : nullptr;
        return value != nullptr ? value->as<std::string>().value_or("") : "";
    }

    template <class Number>
    Result<std::optional<Number>> number(const char* name) const {
        const Json* value = object_->find(name);
        if (value == nullptr && data_ != nullptr) {
            value = data_->find(name);
        }
        if (value == nullptr || value->is_null()) {
            return std::optional<Number>();
        }
        const auto found = number_in<Number>(*value);
        if (!found) {
            return wrong(fmt::format("an event whose '{}' is no number or too large", name));
        }
        return found;
    }

    const Json* find(const char* name) const { return object_->find(name); }

  private:
    static Result<std::string> text_of(const Json* value, const char* name) {
        if (value == nullptr || value->is_null()) {
            return std::string();
        }
        if (auto found = value->as<std::string>()) {
            return std::move(*found);
        }
        if (const auto number =
                value->as<std::uint64_t>()) {  // ids that were written without quotes
            return fmt::format("{}", *number);
        }
        return wrong(fmt::format("an event whose '{}' is no text", name));
    }

    const Json* object_;
    const Json* data_;
};

std::optional<FalconType> type_named(std::string_view name) {
    const auto found = std::find_if(std::begin(kTypeNames),
                                    std::end(kTypeNames),
                                    [&](const auto& known) { return known.first == name; });
    return found == std::end(kTypeNames) ? std::nullopt : std::optional(found->second);
}

Result<FalconType> type_in(const Members& event) {
    const Json* const value = event.find("type");
    if (value == nullptr) {
        return wrong("an event without 'type'");
    }
    std::optional<FalconType> type;
    if (const auto number = number_in<std::uint64_t>(*value)) {
        if (*number >= 1 && *number <= kLargestNumber) {
            type = static_cast<FalconType>(*number);
        }
    } else if (const auto name = value->as<std::string>()) {
        type = type_named(*name);
    }
    if (!type) {
        return wrong("an event of a type that is neither Falcon's nor CaT's");
    }
    const bool has_socket = event.find("socket") != nullptr || event.find("src") != nullptr;
    if (*type == FalconType::kShutdown && !has_socket) {
        return FalconType::kFileSync;
    }
    return *type == FalconType::kClose && !has_socket ? FalconType::kFileClose : *type;
}

Result<void> read_ends(const Members& members, FalconEvent& event) {
    TRY(event.source.address, members.needed_text("src"));
    TRY(event.destination.address, members.needed_text("dst"));
    TRY(const auto from, members.number<std::uint16_t>("src_port"));
    TRY(const auto to, members.number<std::uint16_t>("dst_port"));
    event.source.port = from.value_or(0);
    event.destination.port = to.value_or(0);
    TRY(event.socket, members.text("socket"));
    if (event.socket.empty()) {  // a name for both directions, as Falcon makes it
        std::string a = fmt::format("{}:{}", event.source.address, event.source.port);
        std::string b = fmt::format("{}:{}", event.destination.address, event.destination.port);
        event.socket = a < b ? a + "-" + b : b + "-" + a;
    }
    TRY(const std::string type, members.text("socket_type"));
    event.is_udp = type == "UDP";
    return {};
}

bool needs_socket(FalconType type) {
    return type >= FalconType::kSend && type <= FalconType::kShutdown;
}

bool needs_variable(FalconType type) {
    return type == FalconType::kVariableRead || type == FalconType::kVariableWrite ||
           (type >= FalconType::kLock && type <= FalconType::kNotifyAll);
}

bool is_file(FalconType type) {
    return type >= FalconType::kFileWrite;
}

Result<void> read_details(const Members& members, FalconEvent& event) {
    if (event.type == FalconType::kCreate || event.type == FalconType::kJoin) {
        TRY(event.child, members.needed_text("child"));
    }
    if (needs_variable(event.type)) {
        TRY(event.variable, members.needed_text("variable"));
    }
    if (needs_socket(event.type)) {
        TRY(read_ends(members, event));
    }
    if (is_file(event.type)) {
        TRY(event.file_name, members.text("filename"));
    }
    TRY(event.text, members.text("message"));
    TRY(event.location, members.text("loc"));
    TRY(event.fd, members.number<std::int32_t>("fd"));
    TRY(event.offset, members.number<std::int64_t>("offset"));
    TRY(event.size, members.number<std::int64_t>("size"));
    TRY(event.returned, members.number<std::int64_t>("returned_value"));
    if ((event.type == FalconType::kSend || event.type == FalconType::kReceive) && !event.size &&
        !event.returned) {
        return wrong("an event without 'size'");
    }
    return {};
}

}  // namespace

std::string_view name_of(FalconType type) {
    const auto found = std::find_if(std::begin(kTypeNames),
                                    std::end(kTypeNames),
                                    [&](const auto& known) { return known.second == type; });
    return found->first;
}

std::string_view name_before_at(std::string_view thread) {
    return thread.substr(0, thread.find('@'));
}

std::string_view host_after_at(std::string_view thread) {
    const std::size_t at = thread.find('@');
    return at == std::string_view::npos ? thread : thread.substr(at + 1);
}

std::uint64_t FalconEvent::bytes() const {
    const std::int64_t moved = returned.value_or(size.value_or(0));
    return moved > 0 ? static_cast<std::uint64_t>(moved) : 0;
}

Result<FalconEvent> parse_falcon_event(std::string_view text) {
    const Result<Json> parsed = Json::parse(text);
    if (!parsed.ok() || !parsed.value().is_object()) {
        return wrong("no JSON object");
    }
    const Members members(parsed.value());
    FalconEvent event;
    TRY(event.type, type_in(members));
    TRY(event.thread, members.needed_text("thread"));
    TRY(const auto timestamp, members.number<std::uint64_t>("timestamp"));
    if (!timestamp) {
        return wrong("an event without 'timestamp'");
    }
    event.timestamp = *timestamp;
    TRY(event.pid, members.number<std::uint32_t>("pid"));
    event.comm = members.detail("comm");
    event.level = members.detail("level");
    event.host = host_after_at(event.thread);
    if (event.thread.find('@') == std::string::npos) {
        if (std::string host = members.detail("host"); !host.empty()) {
            event.host = std::move(host);
        }
    }
    TRY(read_details(members, event));
    return event;
}

}  // namespace dyetrace::importer
