#include <cstdint>
#include <span>
#include <string>

#include "filter/bpf_columns.h"
#include "schema/errors.h"
#include "schema/generated/enum_names.h"
#include "schema/syscalls.h"

namespace dyetrace::filter {
namespace {

using schema::EventColumn;

std::vector<NamedNumber> named(std::span<const std::string_view> names) {
    std::vector<NamedNumber> out;
    for (std::uint32_t i = 0; i < names.size(); ++i) {
        if (!names[i].empty()) {
            out.push_back({i, names[i]});
        }
    }
    return out;
}

const std::vector<std::string>& error_names() {
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> all;
        for (std::int64_t number = 0; number <= kErrorMax; ++number) {
            all.push_back(schema::error_name(-number));
        }
        return all;
    }();
    return kNames;
}

}  // namespace

std::vector<NamedNumber> BpfColumns::names_of(const Expression& leaf) const {
    switch (leaf.column) {
        case EventColumn::kClass:
            return named(schema::class_names());
        case EventColumn::kAbi:
            return named(schema::abi_names());
        case EventColumn::kState:
            return named(schema::state_names());
        case EventColumn::kObjectType:
            return named(schema::object_type_names());
        case EventColumn::kError: {
            const auto& names = error_names();
            return named(std::vector<std::string_view>(names.begin(), names.end()));
        }
        case EventColumn::kName: {
            std::vector<NamedNumber> out;
            for (const auto& call : schema::syscalls()) {
                out.push_back(
                    {static_cast<std::uint32_t>(call.abi) << 16 | call.number, call.name});
            }
            return out;
        }
        default:
            return {};
    }
}

std::optional<filter_subject> BpfColumns::subject_of(const Expression& leaf) const {
    switch (leaf.column) {
        case EventColumn::kPath:
        case EventColumn::kPath2:
        case EventColumn::kArgumentPath:
            return FILTER_SUBJECT_PATH;
        case EventColumn::kExe:
            return FILTER_SUBJECT_EXE;
        case EventColumn::kComm:
            return FILTER_SUBJECT_COMM;
        default:
            return std::nullopt;
    }
}

}  // namespace dyetrace::filter
