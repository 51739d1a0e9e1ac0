#include "query/twins/derived_twins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::query {
namespace {

// Raised whenever other events are taken for the same.
constexpr std::uint32_t kTwinRulesVersion = 1;

Result<store::RowSource> start(store::Database& database) {
    TRY(const std::string shared, shared_kernels(database));
    std::optional<store::NumberScan> rows;
    if (!shared.empty()) {
        TRY(rows, database.scan_numbers(filled(sql::kTwinsRows)));
    }
    const auto scan = std::make_shared<std::optional<store::NumberScan>>(std::move(rows));
    return store::RowSource([scan](std::vector<std::uint64_t>& numbers) -> Result<void> {
        if (*scan) {
            TRY(const store::NumberBatch* const batch, (*scan)->next());
            for (std::size_t row = 0; row < batch->rows; ++row) {
                for (const std::size_t column : {0, 1, 2}) {
                    numbers.push_back(batch->columns[column][row]);
                }
            }
        }
        return {};
    });
}

}  // namespace

Result<void> make_twins(store::Database& database) {
    return each_row(database, filled(sql::kTwinsMake), [](Row) {});
}

Result<std::string> shared_kernels(store::Database& database) {
    std::map<std::uint64_t, std::vector<std::string>> hosts;
    TRY(each_row(database, filled(sql::kTwinsShared), [&](Row row) {
        hosts[number_of(row[0])].emplace_back(row[2].text);
    }));
    std::vector<std::string> kernels;
    for (const auto& [kernel, names] : hosts) {
        kernels.push_back(fmt::format("{} and {} are one kernel",
                                      fmt::join(names.begin(), names.end() - 1, ", "),
                                      names.back()));
    }
    return fmt::format("{}", fmt::join(kernels, "; "));
}

Result<void> offer_twins(store::Database& database) {
    TRY(database.register_table({"twins", kTwinRulesVersion, start}));
    return database.define_macros(filled(sql::kLone));
}

}  // namespace dyetrace::query
