#include "capture/probe_lookup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "capture/probe_places.h"
#include "probes/kernel_types.h"
#include "probes/probe_names.h"

namespace dyetrace::capture {
namespace {

using filter::Type;
using probes::ProbeKind;
using probes::ProbeName;
using probes::ProbeValue;
using probes::ValueForm;
using probes::ValueStart;

constexpr std::string_view kArguments = "arguments.";

// What makes text of an address, and whether it is one of the process's memory; elsewhere than in the kernel all are.
struct TextFunction {
    std::string_view begin;
    bool is_in_user_memory;
};
constexpr std::array<TextFunction, 2> kTextFunctions{{{"str(", false}, {"user_str(", true}}};

struct GeneralColumn {
    std::string_view name;
    RowSource source;
    Type type = Type::kInteger;
    unsigned bits = 32;
    bool is_signed = true;
};

constexpr std::array<GeneralColumn, 12> kGeneralColumns{{
    {"pid", RowSource::kPid},
    {"tid", RowSource::kTid},
    {"uid", RowSource::kUid, Type::kInteger, 32, false},
    {"gid", RowSource::kGid, Type::kInteger, 32, false},
    {"comm", RowSource::kComm, Type::kText},
    {"cpu", RowSource::kCpu},
    {"cgroup_id", RowSource::kCgroup, Type::kInteger, 64},
    {"time_ns", RowSource::kTime, Type::kInteger, 63, false},
    {"duration_ns", RowSource::kDuration, Type::kInteger, 64},
    {"function", RowSource::kPlace, Type::kText},
    {"kernel_stack", RowSource::kKernelStack, Type::kText},
    {"user_stack", RowSource::kUserStack, Type::kText},
}};

// What recorded events have of their thread, besides `comm`.
constexpr std::array<GeneralColumn, 2> kRecordedColumns{{
    {kRecordedContext, RowSource::kContext, Type::kInteger, 32, false},
    {kRecordedThread, RowSource::kThread, Type::kInteger, 64, false},
}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kTaskValues{{
    {kRecordedThreadStart, "start_boottime"},
    {kRecordedProcessStart, "group_leader.start_boottime"},
}};

bool is_stack(RowSource source) {
    return source == RowSource::kKernelStack || source == RowSource::kUserStack;
}

ProbeColumn column_of(const std::string& name, ProbeValue value) {
    ProbeColumn column{.row = {.name = name}};
    if (value.form == ValueForm::kInteger) {
        column.row.bits = value.bits > 0 ? value.bits : value.bytes * 8;
        column.row.is_signed = value.is_signed;
    } else {
        // whole words, with a NUL after an array that is full
        column.row.type = Type::kText;
        column.row.bytes =
            value.form == ValueForm::kTextArray
                ? std::min<std::size_t>(filter::kRowTextBytes, (value.bytes + 8) / 8 * 8)
                : filter::kRowTextBytes;
    }
    column.value = std::move(value);
    return column;
}

Result<ProbeValue> value_of(const Place& place, const std::string& name);

Result<ProbeValue> text_of(const Place& place,
                           const std::string& name,
                           const TextFunction& function) {
    const std::size_t begin = function.begin.size();
    const std::string inside = name.substr(begin, name.size() - begin - 1);
    if (std::any_of(kGeneralColumns.begin(), kGeneralColumns.end(), [&](const auto& column) {
            return column.name == inside;
        })) {
        return no_value(name, fmt::format("{} is no address", inside));
    }
    TRY(ProbeValue value, value_of(place, inside));
    const bool is_program = place.place().kind == PlaceKind::kProgram;
    if (value.form == ValueForm::kInteger) {
        if (value.bytes != 8) {
            return no_value(name, fmt::format("{} is no address", inside));
        }
        value.form = ValueForm::kText;
        value.is_in_user_memory = function.is_in_user_memory || is_program;
    } else if (value.form == ValueForm::kText && value.hops.empty()) {
        value.is_in_user_memory = function.is_in_user_memory || is_program;
    }
    return value;
}

Result<ProbeValue> value_of(const Place& place, const std::string& name) {
    if (name == "result") {
        return place.result();
    }
    for (const TextFunction& function : kTextFunctions) {
        if (name.starts_with(function.begin) && name.ends_with(")")) {
            return text_of(place, name, function);
        }
    }
    if (name.starts_with(kArguments)) {
        return place.argument(name.substr(kArguments.size()));
    }
    std::vector<std::string_view> names{"result", "arguments.NAME"};
    for (const GeneralColumn& general : kGeneralColumns) {
        names.push_back(general.name);
    }
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("a probe has no column '{}'; it has {}", name, fmt::join(names, ", ")));
}

ProbeColumn column_of(const GeneralColumn& general) {
    return {.row = {.name = std::string(general.name),
                    .type = general.type,
                    .bytes = general.type == Type::kText ? filter::kCommBytes : filter::kWord,
                    .bits = general.bits,
                    .is_signed = general.is_signed,
                    .is_stack = is_stack(general.source) || general.source == RowSource::kPlace},
            .source = general.source};
}

Result<ProbeColumn> column_named(const Place& place, const std::string& name) {
    for (const GeneralColumn& general : kGeneralColumns) {
        if (general.name == name && general.source == RowSource::kDuration && !place.returns()) {
            return no_value(name, "only a function has one");
        }
        if (general.name == name) {
            return column_of(general);
        }
    }
    TRY(ProbeValue value, value_of(place, name));
    return column_of(name, std::move(value));
}

// Numbers that differ from place to place are as wide as the widest.
void widen(filter::RowColumn& column, const filter::RowColumn& other) {
    column.bits = std::max(column.bits, other.bits);
    column.is_signed = column.is_signed || other.is_signed;
    column.bytes = std::max(column.bytes, other.bytes);
}

// The row's columns begin at `first`.
Result<void> add_place(std::vector<ProbeVariant>& variants,
                       std::vector<filter::RowColumn>& row,
                       std::size_t first,
                       const Place& place,
                       std::vector<ProbeColumn> columns) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const filter::RowColumn& own = columns[i].row;
        if (variants.empty()) {
            row.push_back(own);
        } else if (row[first + i].type != own.type) {
            return no_value(own.name, "it is a number at one place and text at another");
        } else {
            widen(row[first + i], own);
        }
    }
    for (ProbeVariant& other : variants) {
        if (other.columns == columns) {
            other.places.push_back(place.place());
            return {};
        }
    }
    variants.push_back({.places = {place.place()}, .columns = std::move(columns)});
    return {};
}

Result<std::vector<ProbeVariant>> variants_of(const filter::AskedProbe& asked,
                                              std::vector<filter::RowColumn>& row) {
    TRY(const ProbeName name, probes::parse_probe_name(asked.probe));
    TRY(const Places places, places_of(name));
    const std::size_t first = row.size();
    std::vector<ProbeVariant> variants;
    for (const std::unique_ptr<Place>& place : places) {
        std::vector<ProbeColumn> columns;
        for (const std::string& column : asked.columns) {
            TRY(ProbeColumn found, column_named(*place, column));
            found.row.name = asked.name_of(column);
            columns.push_back(std::move(found));
        }
        TRY(add_place(variants, row, first, *place, std::move(columns)));
    }
    return variants;
}

// What each place has of the columns that recorded events have, but for arguments.
std::vector<std::string> recorded_names(const Places& places, RecordedStacks stacks) {
    const auto all = [&](const auto& has) {
        return std::all_of(
            places.begin(), places.end(), [&](const auto& place) { return has(*place); });
    };
    std::vector<std::string> names{"comm", "time_ns", "cpu"};
    if (places.size() > 1) {
        names.emplace_back("function");
    }
    if (all([](const Place& place) { return place.returns(); })) {
        names.emplace_back("duration_ns");
    }
    if (all([](const Place& place) { return place.result().ok(); })) {
        names.emplace_back("result");
    }
    if (stacks.of_kernel) {
        names.emplace_back("kernel_stack");
    }
    if (stacks.of_user) {
        names.emplace_back("user_stack");
    }
    return names;
}

// Who ran: the same of all places.
Result<std::vector<ProbeColumn>> task_columns() {
    std::vector<ProbeColumn> columns;
    for (const GeneralColumn& general : kRecordedColumns) {
        columns.push_back(column_of(general));
    }
    TRY(auto types, probes::KernelTypes::open({}));
    for (const auto& [name, path] : kTaskValues) {
        TRY(ProbeValue value, types.task_value(path));
        columns.push_back(column_of(std::string(name), std::move(value)));
        columns.back().source = RowSource::kStrangerValue;
    }
    return columns;
}

std::size_t bytes_in_row(const ProbeColumn& column) {
    return column.row.type == Type::kText && !column.row.is_stack ? column.row.bytes
                                                                  : filter::kWord;
}

// Takes arguments that all places have, one after another, while a row has room.
class ArgumentChoice {
  public:
    ArgumentChoice(const Places& places, const std::vector<ProbeColumn>& before) : places_(places) {
        for (const ProbeColumn& column : before) {
            take(bytes_in_row(column));
        }
    }

    void choose(RecordedProbe& chosen) {
        const probes::NamedValues all = places_.at(0)->arguments();
        for (const probes::NamedValue& argument : all.values) {
            if (const std::string reason = refuse(argument.name); reason.empty()) {
                chosen.arguments.push_back(argument.name);
            } else {
                chosen.left_out.push_back(fmt::format("{}: {}", argument.name, reason));
            }
        }
        for (const probes::LeftOutValue& left : all.left_out) {
            if (!left.name.starts_with("common_")) {
                chosen.left_out.push_back(fmt::format("{}: {}", left.name, left.reason));
            }
        }
    }

  private:
    std::string refuse(const std::string& name) {
        std::size_t bytes = 0;
        std::optional<Type> type;
        for (const std::unique_ptr<Place>& place : places_) {
            auto value = place->argument(name);
            if (!value.ok()) {
                return fmt::format("{} has none", place->place().name);
            }
            const ProbeColumn column = column_of(name, std::move(value).value());
            if (type && *type != column.row.type) {
                return "it is a number at one place and text at another";
            }
            type = column.row.type;
            bytes = std::max(bytes, bytes_in_row(column));
        }
        return take(bytes) ? "" : "an event has no room for it";
    }

    bool take(std::size_t bytes) {
        if (used_ + bytes > filter::kRowBytesMax || values_ == filter::kRowValuesMax) {
            return false;
        }
        used_ += bytes;
        ++values_;
        return true;
    }

    const Places& places_;
    std::size_t used_ = filter::kWord;  // which of them are NULL
    std::size_t values_ = 0;
};

// Where the joined values lie in the row.
Result<RowJoin> join_of(const filter::ProbeQuestion& question,
                        const std::vector<filter::RowColumn>& row) {
    RowJoin join;
    const auto number_of = [&](const filter::AskedProbe& asked, const std::string& column) {
        const auto found = std::find_if(row.begin(), row.end(), [&](const auto& each) {
            return each.name == asked.name_of(column);
        });
        return static_cast<std::size_t>(found - row.begin());
    };
    for (const auto& [own, earlier] : question.same) {
        join.own.push_back(number_of(question.fires, own));
        join.earlier.push_back(number_of(*question.before, earlier));
        for (const std::size_t number : {join.own.back(), join.earlier.back()}) {
            if (number >= row.size() || row[number].type != Type::kInteger) {
                return Error(ErrorCode::kUnsupported,
                             fmt::format("probes are joined by numbers, which {} = {} are not",
                                         question.fires.name_of(own),
                                         question.before->name_of(earlier)));
            }
        }
    }
    return join.own.size() <= kJoinKeysMax
               ? Result<RowJoin>(std::move(join))
               : Error(ErrorCode::kUnsupported,
                       fmt::format("probes are joined by at most {} numbers", kJoinKeysMax));
}

// What the kernel has as a number: its text is not known where a condition is decided.
const filter::Field* stack_in(const filter::Expression& e) {
    if (e.field && e.field->is_stack) {
        return &*e.field;
    }
    for (const filter::Expression& operand : e.operands) {
        if (const filter::Field* const found = stack_in(operand)) {
            return found;
        }
    }
    return nullptr;
}

// A probe, and the condition after it: empty if there is none.
std::pair<std::string, std::string> parted(const std::string& text) {
    constexpr std::string_view kWhere = "where";
    bool is_quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        is_quoted = is_quoted != (text[at] == '\'');
        const std::size_t word = text.find_first_not_of(" \t\n", at + 1);
        if (!is_quoted && text[at] == ')' && word != std::string::npos &&
            base::lower(text.substr(word, kWhere.size())) == kWhere) {
            return {text.substr(0, at + 1), text.substr(word + kWhere.size())};
        }
    }
    return {text, ""};
}

}  // namespace

Result<Probe> find_probe(const filter::ProbeQuestion& question) {
    Probe probe;
    TRY(probe.variants, variants_of(question.fires, probe.row));
    if (question.before) {
        TRY(probe.before, variants_of(*question.before, probe.row));
        TRY(probe.join, join_of(question, probe.row));
        if (needs_return(probe.before.at(0).columns)) {
            return Error(
                ErrorCode::kUnsupported,
                fmt::format("{} comes before: what it returns and how long it takes is not "
                            "known then",
                            question.before->alias));
        }
    }
    TRY(probe.layout, filter::RowLayout::of(probe.row));
    return probe;
}

Result<void> check_recorded_probes(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
        if (const auto name = probes::parse_probe_name(parted(text).first); !name.ok()) {
            return name.error().with_context("--probe \"" + text + '"');
        }
    }
    return {};
}

Result<RecordedProbe> find_recorded_probe(const std::string& text, RecordedStacks stacks) {
    const auto [probe_text, condition] = parted(text);
    TRY(const ProbeName name, probes::parse_probe_name(probe_text));
    TRY(const Places places, places_of(name));
    TRY(const std::vector<ProbeColumn> task, task_columns());
    const std::vector<std::string> names = recorded_names(places, stacks);
    RecordedProbe recorded;
    std::vector<filter::RowColumn>& row = recorded.probe.row;
    for (const std::unique_ptr<Place>& place : places) {
        std::vector<ProbeColumn> columns = task;
        for (const std::string& own : names) {
            TRY(ProbeColumn column, column_named(*place, own));
            columns.push_back(std::move(column));
        }
        if (row.empty()) {
            ArgumentChoice(places, columns).choose(recorded);
        }
        for (const std::string& argument : recorded.arguments) {
            TRY(ProbeValue value, place->argument(argument));
            columns.push_back(column_of(std::string(kArguments) + argument, std::move(value)));
        }
        TRY(add_place(recorded.probe.variants, row, 0, *place, std::move(columns)));
    }
    TRY(recorded.probe.layout, filter::RowLayout::of(row));
    if (!condition.empty()) {
        TRY(recorded.where, filter::Predicate::parse(condition, &recorded.probe.layout));
        if (const filter::Field* const found = stack_in(recorded.where.expression())) {
            return Error(ErrorCode::kUnsupported,
                         fmt::format("a condition on {} is for what is recorded", found->name));
        }
    }
    return recorded;
}

}  // namespace dyetrace::capture
