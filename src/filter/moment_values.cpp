// Values of what happened at a point of time, and so has no duration: lines of logs, and signals.
#include "filter/event_values.h"
#include "schema/generated/enum_names.h"
#include "schema/signals.h"

namespace dyetrace::filter {

using schema::EventColumn;

namespace {

Value state_finished() {
    return Value::of(schema::state_name(static_cast<std::uint8_t>(schema::State::kFinished)));
}

Value class_of(schema::Class event_class) {
    return Value::of(schema::class_name(static_cast<std::uint8_t>(event_class)));
}

}  // namespace

Value EventValues::of_log(EventColumn column) const {
    switch (column) {
        case EventColumn::kStartNs:
            return Value::of(Integer{log_->start_ns});
        case EventColumn::kArguments: {
            const auto text = schema::attachment(*log_, schema::Attachment::kText);
            return text ? Value::of(buffers_.escaped(column, *text)) : Value{};
        }
        case EventColumn::kName: {
            const auto name = schema::attachment(*log_, schema::Attachment::kName);
            return name ? Value::of(buffers_.escaped(column, *name)) : Value{};
        }
        case EventColumn::kKind: {
            const std::string_view kind = schema::kind_name(log_->kind);
            return kind.empty() ? Value{} : Value::of(kind);
        }
        case EventColumn::kClass:
            return class_of(schema::Class::kOther);
        case EventColumn::kState:
            return state_finished();
        default:
            return {};
    }
}

Value EventValues::of_signal(EventColumn column) const {
    switch (column) {
        case EventColumn::kStartNs:
            return Value::of(Integer{signal_->start_ns});
        case EventColumn::kArguments: {
            std::string& out = buffers_.buffer(column);
            out.clear();
            schema::append_signal_json(out, *signal_);
            return Value::of(std::string_view(out));
        }
        case EventColumn::kKind:
            return Value::of(
                schema::kind_name(static_cast<std::uint8_t>(schema::Kind::kTracepoint)));
        case EventColumn::kName:
            return Value::of(std::string_view("signal_deliver"));
        case EventColumn::kClass:
            return class_of(schema::Class::kProcess);
        case EventColumn::kState:
            return state_finished();
        case EventColumn::kResult:
            return Value::of(Integer{signal_->signal});
        default:
            return {};
    }
}

}  // namespace dyetrace::filter
