#include "capture/probe_places.h"

#include <fmt/format.h>

#include <utility>

#include "probes/elf_file.h"
#include "probes/function_types.h"
#include "probes/kernel_types.h"
#include "probes/program_functions.h"
#include "probes/program_path.h"
#include "probes/tracepoints.h"
#include "probes/usdt.h"

namespace dyetrace::capture {
namespace {

using probes::NamedValues;
using probes::ProbeKind;
using probes::ProbeName;
using probes::ProbeValue;
using probes::ValueStart;

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

NamedValues register_arguments(bool is_in_user_memory) {
    NamedValues all;
    for (std::size_t i = 0; i < kRegisterArguments; ++i) {
        const std::string name = fmt::format("arg{}", i);
        all.values.push_back({name, register_argument(name, is_in_user_memory).value()});
    }
    return all;
}

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
    NamedValues arguments() const override { return fields_; }

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
    NamedValues arguments() const override {
        const auto known = types_ ? types_->signature(function_)
                                  : Result<probes::FunctionSignature>(
                                        Error(ErrorCode::kNotFound, "no types are known"));
        return known.ok() ? NamedValues{known.value().arguments, known.value().left_out}
                          : register_arguments(true);
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
    NamedValues arguments() const override {
        auto known = types_->arguments(place().name);
        return known.ok() ? std::move(known).value() : register_arguments(false);
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
    NamedValues arguments() const override { return {at_.arguments, at_.left_out}; }

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

}  // namespace

Error no_value(const std::string& name, std::string_view why) {
    return {ErrorCode::kInvalidArgument, fmt::format("the probe has no {}: {}", name, why)};
}

Result<ProbeValue> Place::argument(const std::string& path) const {
    return no_value(path, "it has no arguments");
}

Result<ProbeValue> Place::result() const {
    return no_value("result", "it is no function");
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

}  // namespace dyetrace::capture
