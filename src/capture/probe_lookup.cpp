#include "capture/probe_lookup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "probes/elf_file.h"
#include "probes/function_types.h"
#include "probes/kernel_types.h"
#include "probes/probe_names.h"
#include "probes/program_functions.h"
#include "probes/program_path.h"
#include "probes/tracepoints.h"
#include "probes/usdt.h"

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

bool is_stack(RowSource source) {
    return source == RowSource::kKernelStack || source == RowSource::kUserStack;
}

Error no_value(const std::string& name, std::string_view why) {
    return {ErrorCode::kInvalidArgument, fmt::format("the probe has no {}: {}", name, why)};
}

constexpr std::size_t kRegisterArguments = 6;  // of functions of C on x86-64; arm64 has 8

// "arg0" to "arg5".
Result<ProbeValue> register_argument(const std::string& path, bool is_in_user_memory) {
    if (path.size() == 4 && path.starts_with("arg") && path[3] >= '0' &&
        path[3] < '0' + static_cast<char>(kRegisterArguments)) {
        return ProbeValue{.number = path[3] - '0',
                          .is_signed = true,
                          .is_in_user_memory = is_in_user_memory,
                          .type = "register"};
    }
    return no_value(path,
                    fmt::format("no types are known; arguments.arg0 to arguments.arg{} are what "
                                "its registers hold",
                                kRegisterArguments - 1));
}

// One place that a name means, and the values that it has.
class Place {
  public:
    explicit Place(ProbePlace place) : place_(std::move(place)) {}
    virtual ~Place() = default;
    const ProbePlace& place() const { return place_; }
    // Finds "arguments.PATH" by its path.
    virtual Result<ProbeValue> argument(const std::string& path) const {
        return no_value(path, "it has no arguments");
    }
    virtual Result<ProbeValue> result() const { return no_value("result", "it is no function"); }
    virtual bool returns() const { return false; }

  private:
    ProbePlace place_;
};

using Places = std::vector<std::unique_ptr<Place>>;

class TracepointPlace : public Place {
  public:
    explicit TracepointPlace(probes::Tracepoint point)
        : Place({.kind = PlaceKind::kTracepoint,
                 .name = point.category + ":" + point.name,
                 .number = point.id}),
          fields_(std::move(point.fields)) {}

    Result<ProbeValue> argument(const std::string& path) const override {
        return probes::value_named(fields_, path, place().name);
    }

  private:
    probes::NamedValues fields_;
};

// Without types there is what the calling convention says of any function: the first arguments, and the result, as registers have them.
class UserFunctionPlace : public Place {
  public:
    using Types = std::shared_ptr<const probes::FunctionTypes>;  // of all functions of the program

    UserFunctionPlace(const std::string& file, probes::ProgramFunction function, Types types)
        : Place({.kind = PlaceKind::kProgram,
                 .name = function.shown,
                 .file = file,
                 .number = function.offset}),
          function_(std::move(function)),
          types_(std::move(types)) {}

    Result<ProbeValue> argument(const std::string& path) const override {
        auto value = register_argument(path, true);
        return types_ && !value.ok() ? types_->argument(function_, path) : value;
    }
    Result<ProbeValue> result() const override {
        auto typed = types_ ? types_->result(function_, "")
                            : Result<ProbeValue>(Error(ErrorCode::kNotFound, ""));
        return typed.ok() ? typed
                          : ProbeValue{.start = ValueStart::kResult,
                                       .is_signed = true,
                                       .is_in_user_memory = true};
    }
    bool returns() const override { return true; }

    static Result<Places> of(const ProbeName& name) {
        TRY(const std::string path, probes::program_path(name.arguments.at(0)));
        TRY(const auto functions, probes::ProgramFunctions::open(path));
        TRY(const auto found, functions.matching(name.arguments.at(1)));
        auto opened = probes::FunctionTypes::open(path);
        const Types types =
            opened.ok() ? std::make_shared<const probes::FunctionTypes>(std::move(opened).value())
                        : nullptr;
        Places places;
        for (const probes::ProgramFunction& function : found) {
            places.push_back(std::make_unique<UserFunctionPlace>(path, function, types));
        }
        return places;
    }

  private:
    probes::ProgramFunction function_;
    Types types_;
};

class KernelFunctionPlace : public Place {
  public:
    using Types = std::shared_ptr<probes::KernelTypes>;

    KernelFunctionPlace(const std::string& name, Types types)
        : Place({.kind = PlaceKind::kKernelFunction, .name = name, .file = name}),
          types_(std::move(types)) {}

    Result<ProbeValue> argument(const std::string& path) const override {
        auto value = register_argument(path, false);
        return value.ok() ? value : types_->value(place().name, path);
    }
    Result<ProbeValue> result() const override {
        TRY(auto value, types_->result(place().name));
        return value ? Result<ProbeValue>(*std::move(value))
                     : no_value("result", "it returns nothing");
    }
    bool returns() const override { return true; }

    static Result<Places> of(const ProbeName& name) {
        TRY(auto opened, probes::KernelTypes::open({}));
        const auto types = std::make_shared<probes::KernelTypes>(std::move(opened));
        const std::string& pattern = name.arguments.at(0);
        Places places;
        for (const probes::KernelFunction& function : types->functions(pattern)) {
            places.push_back(std::make_unique<KernelFunctionPlace>(function.name, types));
        }
        if (places.empty()) {
            TRY(const auto arguments, types->arguments(pattern));  // which says what is near
            return no_value(pattern, "it is not in this kernel");
        }
        return places;
    }

  private:
    Types types_;
};

class UsdtPlace : public Place {
  public:
    UsdtPlace(const std::string& file, const probes::UsdtMark& mark, const probes::UsdtPlace& at)
        : Place({.kind = PlaceKind::kProgram,
                 .name = mark.provider + ":" + mark.name,
                 .file = file,
                 .number = at.offset,
                 .semaphore = at.semaphore}),
          at_(at) {}

    Result<ProbeValue> argument(const std::string& path) const override {
        for (const probes::NamedValue& argument : at_.arguments) {
            if (argument.name == path) {
                return argument.value;
            }
        }
        for (const probes::LeftOutValue& refused : at_.left_out) {
            if (refused.name == path) {
                return no_value(path, refused.reason);
            }
        }
        return no_value(path,
                        fmt::format("{} has {} arguments", place().name, at_.arguments.size()));
    }

    static Result<Places> of(const ProbeName& name) {
        TRY(const std::string path, probes::program_path(name.arguments.at(0)));
        TRY(const auto program, probes::ElfFile::open(path));
        TRY(const auto marks, probes::usdt_marks(program));
        const bool has_provider = name.arguments.size() > 2;
        TRY(const auto found,
            probes::matching_marks(
                program, marks, has_provider ? name.arguments[1] : "*", name.arguments.back()));
        Places places;
        for (const probes::UsdtMark& mark : found) {
            for (const probes::UsdtPlace& at : mark.places) {
                places.push_back(std::make_unique<UsdtPlace>(program.path(), mark, at));
            }
        }
        return places;
    }

  private:
    probes::UsdtPlace at_;
};

Places one(std::unique_ptr<Place> place) {
    Places places;
    places.push_back(std::move(place));
    return places;
}

Result<Places> tracepoints_of(const ProbeName& name) {
    TRY(const auto all, probes::Tracepoints::of_this_kernel());
    TRY(auto found, all.find(name.arguments.at(0), name.arguments.at(1)));
    return one(std::make_unique<TracepointPlace>(std::move(found)));
}

Result<Places> places_of(const ProbeName& name) {
    switch (name.kind) {
        case ProbeKind::kTracepoint:
            return tracepoints_of(name);
        case ProbeKind::kUserFunction:
            return UserFunctionPlace::of(name);
        case ProbeKind::kUsdt:
            return UsdtPlace::of(name);
        case ProbeKind::kTimer:
            return one(std::make_unique<Place>(ProbePlace{
                .kind = PlaceKind::kTimer,
                .name = probes::to_text(name),
                .number = static_cast<std::uint64_t>(probes::timer_period(name).count())}));
        case ProbeKind::kSample:
            return one(std::make_unique<Place>(ProbePlace{.kind = PlaceKind::kSample,
                                                          .name = probes::to_text(name),
                                                          .number = probes::sample_hz(name)}));
        case ProbeKind::kKernelFunction:
            return KernelFunctionPlace::of(name);
    }
    return Places();
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

Result<ProbeColumn> column_named(const Place& place, const std::string& name) {
    for (const GeneralColumn& general : kGeneralColumns) {
        if (general.name != name) {
            continue;
        }
        if (general.source == RowSource::kDuration && !place.returns()) {
            return no_value(name, "only a function has one");
        }
        return ProbeColumn{
            .row = {.name = name,
                    .type = general.type,
                    .bytes = filter::kCommBytes,
                    .bits = general.bits,
                    .is_signed = general.is_signed,
                    .is_stack = is_stack(general.source) || general.source == RowSource::kPlace},
            .source = general.source};
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
                       const filter::AskedProbe& asked) {
    ProbeVariant variant{.places = {place.place()}, .columns = {}};
    for (const std::string& column : asked.columns) {
        TRY(ProbeColumn found, column_named(place, column));
        found.row.name = asked.name_of(column);
        variant.columns.push_back(std::move(found));
    }
    for (std::size_t i = 0; i < asked.columns.size(); ++i) {
        const filter::RowColumn& own = variant.columns[i].row;
        if (variants.empty()) {
            row.push_back(own);
        } else if (row[first + i].type != own.type) {
            return no_value(own.name, "it is a number at one place and text at another");
        } else {
            widen(row[first + i], own);
        }
    }
    for (ProbeVariant& other : variants) {
        if (other.columns == variant.columns) {
            other.places.push_back(place.place());
            return {};
        }
    }
    variants.push_back(std::move(variant));
    return {};
}

Result<std::vector<ProbeVariant>> variants_of(const filter::AskedProbe& asked,
                                              std::vector<filter::RowColumn>& row) {
    TRY(const ProbeName name, probes::parse_probe_name(asked.probe));
    TRY(const Places places, places_of(name));
    const std::size_t first = row.size();
    std::vector<ProbeVariant> variants;
    for (const std::unique_ptr<Place>& place : places) {
        TRY(add_place(variants, row, first, *place, asked));
    }
    return variants;
}

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

}  // namespace dyetrace::capture
