#include "store/arguments_function.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/flags.h"
#include "schema/signals.h"
#include "schema/syscalls.h"

namespace dyetrace::store {
namespace {

constexpr idx_t kRegisters = 6;

enum Parameter : idx_t {
    kAbi,
    kSyscall,
    kFirstRegister,
    kName1 = kFirstRegister + kRegisters,
    kName2
};

struct InputColumn {
    InputColumn(duckdb_data_chunk input, idx_t index) {
        duckdb_vector vector = duckdb_data_chunk_get_vector(input, index);
        values = static_cast<const std::uint64_t*>(duckdb_vector_get_data(vector));
        validity = duckdb_vector_get_validity(vector);
    }
    bool has(idx_t row) const {
        return validity == nullptr || duckdb_validity_row_is_valid(validity, row);
    }

    const std::uint64_t* values;
    std::uint64_t* validity;
};

struct TextColumn {
    TextColumn(duckdb_data_chunk input, idx_t index) {
        duckdb_vector vector = duckdb_data_chunk_get_vector(input, index);
        values = static_cast<duckdb_string_t*>(duckdb_vector_get_data(vector));
        validity = duckdb_vector_get_validity(vector);
    }
    std::optional<std::string_view> at(idx_t row) const {
        if (validity != nullptr && !duckdb_validity_row_is_valid(validity, row)) {
            return std::nullopt;
        }
        return std::string_view(duckdb_string_t_data(&values[row]),
                                duckdb_string_t_length(values[row]));
    }

    duckdb_string_t* values;
    std::uint64_t* validity;
};

// nullptr: nobody knows the call.
const schema::SyscallInfo* call_at(const InputColumn& abi, const InputColumn& number, idx_t row) {
    if (!abi.has(row) || !number.has(row) || number.values[row] > UINT16_MAX ||
        abi.values[row] > UINT8_MAX) {
        return nullptr;
    }
    return schema::find_syscall(static_cast<schema::Abi>(abi.values[row]),
                                static_cast<std::uint16_t>(number.values[row]));
}

void say_calls(duckdb_function_info, duckdb_data_chunk input, duckdb_vector output) {
    const InputColumn abi(input, kAbi), number(input, kSyscall);
    const TextColumn name(input, kName1), name2(input, kName2);
    std::array<const std::uint64_t*, kRegisters> registers{};
    for (idx_t i = 0; i < kRegisters; ++i) {
        registers[i] = InputColumn(input, kFirstRegister + i).values;
    }
    duckdb_vector_ensure_validity_writable(output);
    std::uint64_t* const validity = duckdb_vector_get_validity(output);
    std::string text;
    for (idx_t row = 0; row < duckdb_data_chunk_get_size(input); ++row) {
        const schema::SyscallInfo* const info = call_at(abi, number, row);
        duckdb_validity_set_row_validity(validity, row, info != nullptr);
        if (info == nullptr) {
            continue;
        }
        std::array<std::uint64_t, kRegisters> arguments{};
        for (idx_t i = 0; i < kRegisters; ++i) {
            arguments[i] = registers[i][row];
        }
        text.clear();
        schema::append_arguments_json(text, *info, arguments, name.at(row), name2.at(row));
        duckdb_vector_assign_string_element_len(output, row, text.data(), text.size());
    }
}

// What a signal came with, where it is there.
void say_signals(duckdb_function_info, duckdb_data_chunk input, duckdb_vector output) {
    using schema::SignalEvent;
    enum Column : idx_t {
        kSignal,
        kCode,
        kPid,
        kUid,
        kStatus,
        kUserTicks,
        kSystemTicks,
        kTimer,
        kOverrun,
        kValue,
        kAddress,
        kCount
    };
    std::vector<InputColumn> columns;
    for (idx_t i = 0; i < kCount; ++i) {
        columns.emplace_back(input, i);
    }
    std::string text;
    for (idx_t row = 0; row < duckdb_data_chunk_get_size(input); ++row) {
        const auto number = [&](Column column) {
            return columns[column].has(row) ? columns[column].values[row] : 0;
        };
        const auto bit = [&](Column column, std::uint32_t present) {
            return columns[column].has(row) ? present : 0u;
        };
        SignalEvent event{};
        event.signal = static_cast<std::uint32_t>(number(kSignal));
        event.code = static_cast<std::int32_t>(number(kCode));
        event.sender_pid = static_cast<std::uint32_t>(number(kPid));
        event.sender_uid = static_cast<std::uint32_t>(number(kUid));
        event.status = static_cast<std::int32_t>(number(kStatus));
        event.user_ticks = number(kUserTicks);
        event.system_ticks = number(kSystemTicks);
        event.timer = static_cast<std::int32_t>(number(kTimer));
        event.overrun = static_cast<std::int32_t>(number(kOverrun));
        event.value = number(kValue);
        event.address = number(kAddress);
        event.present = bit(kCode, SignalEvent::kHasCode) | bit(kPid, SignalEvent::kHasSender) |
                        bit(kStatus, SignalEvent::kHasChild) | bit(kTimer, SignalEvent::kHasTimer) |
                        bit(kValue, SignalEvent::kHasValue) |
                        bit(kAddress, SignalEvent::kHasAddress);
        text.clear();
        schema::append_signal_json(text, event);
        duckdb_vector_assign_string_element_len(output, row, text.data(), text.size());
    }
}

// U: unsigned, S: signed, T: text. NULL is handed to it, too.
Result<void> register_function(const Engine& engine,
                               const char* name,
                               std::string_view parameters,
                               duckdb_scalar_function_t function) {
    const Owned<duckdb_scalar_function, duckdb_destroy_scalar_function> scalar(
        duckdb_create_scalar_function());
    const OwnedLogicalType unsigned_numbers(duckdb_create_logical_type(DUCKDB_TYPE_UBIGINT));
    const OwnedLogicalType numbers(duckdb_create_logical_type(DUCKDB_TYPE_BIGINT));
    const OwnedLogicalType texts(duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR));
    duckdb_scalar_function_set_name(scalar.get(), name);
    for (const char parameter : parameters) {
        duckdb_scalar_function_add_parameter(scalar.get(),
                                             parameter == 'U'   ? unsigned_numbers.get()
                                             : parameter == 'S' ? numbers.get()
                                                                : texts.get());
    }
    duckdb_scalar_function_set_return_type(scalar.get(), texts.get());
    duckdb_scalar_function_set_special_handling(scalar.get());
    duckdb_scalar_function_set_function(scalar.get(), function);
    if (duckdb_register_scalar_function(engine.connection(), scalar.get()) != DuckDBSuccess) {
        return Error(ErrorCode::kUnsupported, std::string("DuckDB refuses the function ") + name);
    }
    return {};
}

}  // namespace

Result<void> register_argument_functions(const Engine& engine) {
    TRY(register_function(engine, "_arguments_json", "UUUUUUUUTT", &say_calls));
    return register_function(engine, "_signal_json", "USUUSUUSSUU", &say_signals);
}

}  // namespace dyetrace::store
