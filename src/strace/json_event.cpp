#include "strace/json_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "base/json_string.h"
#include "filter/event_values.h"
#include "schema/flags.h"
#include "schema/generated/columns.h"
#include "schema/signals.h"

namespace dyetrace::strace {
namespace {

using schema::EventColumn;
using schema::SyscallEvent;

class JsonPrinter {
  public:
    JsonPrinter(HostFacts host, const schema::Dictionary& dictionary)
        : host_(std::move(host)), dictionary_(dictionary), values_(buffers_, host_.name) {}

    void append(std::string& out, std::uint32_t cpu, schema::RecordBytes event) {
        if (!values_.set(event, static_cast<std::uint16_t>(cpu), dictionary_)) {
            return;
        }
        first_ = true;
        out.push_back('{');
        for (const schema::EventColumnInfo& column : schema::event_columns()) {
            append_column(out, column, event);
        }
        out.append("}\n");
    }

  private:
    void append_column(std::string& out,
                       const schema::EventColumnInfo& column,
                       schema::RecordBytes event) {
        switch (column.column) {
            case EventColumn::kNode:
                append_text(out, column.name, host_.name);
                return;
            case EventColumn::kTime:
                append_text(out, column.name, timestamp_text(start_of() + host_.wall_offset_ns));
                return;
            case EventColumn::kArguments:
                append_arguments(out, event);
                return;
            case EventColumn::kOpenFlags:
                append_open_flags(out, event);
                return;
            default:
                break;
        }
        const filter::Value value = values_.of(column.column);
        switch (value.type) {
            case filter::Type::kNull:
                return;
            case filter::Type::kBoolean:
                append_name(out, column.name).append(value.integer != 0 ? "true" : "false");
                return;
            case filter::Type::kText:
                append_text(out, column.name, value.text);
                return;
            case filter::Type::kInteger:
                break;
        }
        const bool is_id = column.type == schema::SqlType::kBigint &&
                           (column.name.ends_with("_id") || column.name == "fingerprint" ||
                            column.name == "content_sum");
        const std::string_view quote = is_id ? "\"" : "";
        fmt::format_to(std::back_inserter(append_name(out, column.name)),
                       "{}{}{}",
                       quote,
                       value.integer,
                       quote);
    }

    std::int64_t start_of() const {
        return static_cast<std::int64_t>(values_.of(EventColumn::kStartNs).integer);
    }

    std::string& append_name(std::string& out, std::string_view name) {
        out.append(first_ ? "\"" : ",\"").append(name).append("\":");
        first_ = false;
        return out;
    }

    void append_text(std::string& out, std::string_view name, std::string_view text) {
        base::append_json_string(append_name(out, name), text);
    }

    void append_arguments(std::string& out, schema::RecordBytes event) {
        if (const auto* signal = schema::as<schema::SignalEvent>(event)) {
            schema::append_signal_json(append_name(out, "arguments"), *signal);
            return;
        }
        const auto* call = schema::as<SyscallEvent>(event);
        const auto* info =
            call == nullptr
                ? nullptr
                : schema::find_syscall(static_cast<schema::Abi>(call->abi), call->syscall);
        if (info != nullptr) {
            std::string arguments;
            schema::append_arguments_json(arguments, *info, *call);
            base::append_harmless_json(append_name(out, "arguments"), arguments);
        }
    }

    void append_open_flags(std::string& out, schema::RecordBytes event) {
        const auto* call = schema::as<SyscallEvent>(event);
        if (call != nullptr && (call->present & SyscallEvent::kHasOpenFlags) != 0) {
            append_text(out, "open_flags", schema::flags_text("open_flags", call->open_flags));
        }
    }

    HostFacts host_;
    const schema::Dictionary& dictionary_;
    filter::TextBuffers buffers_;
    filter::EventValues values_;
    bool first_ = true;
};

}  // namespace

std::string timestamp_text(std::int64_t wall_ns) {
    constexpr std::int64_t kNsPerSecond = 1'000'000'000;
    const std::int64_t fraction = ((wall_ns % kNsPerSecond) + kNsPerSecond) % kNsPerSecond;
    const std::time_t seconds = (wall_ns - fraction) / kNsPerSecond;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:09}",
                       parts.tm_year + 1900,
                       parts.tm_mon + 1,
                       parts.tm_mday,
                       parts.tm_hour,
                       parts.tm_min,
                       parts.tm_sec,
                       fraction);
}

EventPrinter json_printer(HostFacts host, const schema::Dictionary& dictionary) {
    // shared, because a std::function is copied
    auto printer = std::make_shared<JsonPrinter>(std::move(host), dictionary);
    return [printer](std::string& out, std::uint32_t cpu, schema::RecordBytes event) {
        printer->append(out, cpu, event);
    };
}

}  // namespace dyetrace::strace
