#include "query/twins/derived_twins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "analysis/twins/twin_finder.h"
#include "base/check.h"
#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"
#include "query/twins/twin_marks.h"
#include "schema/generated/records.h"

namespace dyetrace::query {
namespace {

using analysis::TwinFinder;
using analysis::TwinHandle;
using analysis::Twins;
using Numbers = std::vector<std::uint64_t>;

// Raised whenever other events are taken for the same.
constexpr std::uint32_t kTwinRulesVersion = 2;

enum RecordColumn : std::uint8_t {  // as `records` gives them
    kRecordThread,
    kRecordWhat,
    kRecordStart,
    kRecordEnd,
    kRecordId,
    kRecordHandle,
    kRecordHandle2,
    kRecordPart,
    kRecordPartId,
};

constexpr unsigned kHostShift = 54;  // in ids of events (schema/dictionary.h)

void append(schema::ItemKind kind, std::uint64_t id, std::uint64_t first_id, Numbers& numbers) {
    numbers.insert(numbers.end(), {static_cast<std::uint64_t>(kind), id, first_id});
}

// Objects that are the same: of twins that acted on them, and those which the kernel itself numbers. Each is the same as the first of all that it was found to be.
class TwinObjects {
  public:
    void add(const std::vector<TwinHandle>& handles) {
        handles_.insert(handles.begin(), handles.end());
    }

    // kind, id, first id of each.
    Result<Numbers> rows(store::Database& database) const {
        std::map<std::uint64_t, std::uint64_t> firsts;
        const auto add_first = [&](std::uint64_t object, std::uint64_t first) {
            if (first < object) {
                const auto [at, is_new] = firsts.emplace(object, first);
                at->second = std::min(at->second, first);
            }
        };
        TRY(const auto objects, objects_of_handles(database));
        for (const TwinHandle& twin : handles_) {
            const auto object = objects.find({twin.host, twin.handle});
            const auto first = objects.find({twin.first_host, twin.first_handle});
            if (object != objects.end() && first != objects.end() &&
                object->second.type == first->second.type) {
                add_first(object->second.id, first->second.id);
            }
        }
        TRY(each_number_row(
            database, filled(sql::kTwinsAlike), [&](const auto& columns, std::size_t row) {
                add_first(columns[0][row], columns[1][row]);
            }));
        Numbers numbers;
        for (auto [object, first] : firsts) {
            for (auto before = firsts.find(first); before != firsts.end();
                 before = firsts.find(first)) {
                first = before->second;
            }
            append(schema::ItemKind::kObject, object, first, numbers);
        }
        return numbers;
    }

  private:
    struct Object {
        std::uint64_t id, type;
    };
    using Handle = std::pair<std::uint32_t, std::uint64_t>;  // of which host

    // Knows only the objects that twins acted on.
    Result<std::map<Handle, Object>> objects_of_handles(store::Database& database) const {
        std::map<Handle, Object> objects;
        for (const TwinHandle& twin : handles_) {
            objects.try_emplace({twin.host, twin.handle});
            objects.try_emplace({twin.first_host, twin.first_handle});
        }
        TRY(each_number_row(
            database, filled(sql::kTwinsHandles), [&](const auto& columns, std::size_t row) {
                const auto at =
                    objects.find({static_cast<std::uint32_t>(columns[0][row]), columns[1][row]});
                if (at != objects.end()) {
                    at->second = {columns[2][row], columns[3][row]};
                }
            }));
        return objects;
    }

    std::set<TwinHandle> handles_;
};

// The rows of the table: those of records as they are found, then those of objects.
class TwinRows {
  public:
    TwinRows(store::Database& database, store::NumberScan scan)
        : database_(database), scan_(std::move(scan)) {}

    Result<void> next(Numbers& numbers) {
        while (numbers.empty() && !is_at_end_) {
            TRY(const store::NumberBatch* const batch, scan_.next());
            for (std::size_t row = 0; row < batch->rows; ++row) {
                take(batch->columns, row);
            }
            is_at_end_ = batch->rows == 0;
            if (is_at_end_) {
                finder_.end(found_);
            }
            for (const auto& [id, first_id] : found_.records) {
                append(schema::ItemKind::kEvent, id, first_id, numbers);
            }
            objects_.add(found_.handles);
            found_.records.clear();
            found_.handles.clear();
            if (is_at_end_) {
                TRY(const Numbers rows, objects_.rows(database_));
                numbers.insert(numbers.end(), rows.begin(), rows.end());
            }
        }
        return {};
    }

  private:
    void take(const store::NumberColumns& columns, std::size_t row) {
        if (!columns[kRecordPart].is_null(row)) {
            finder_.add_part(
                {.id = columns[kRecordPartId][row], .part = columns[kRecordPart][row]});
            return;
        }
        const std::uint64_t id = columns[kRecordId][row];
        finder_.add({.thread = columns[kRecordThread][row],
                     .what = columns[kRecordWhat][row],
                     .start_ns = columns[kRecordStart][row],
                     .end_ns = columns[kRecordEnd].optional(row),
                     .id = id,
                     .host = static_cast<std::uint32_t>(id >> kHostShift),
                     .handle = columns[kRecordHandle].optional(row),
                     .handle2 = columns[kRecordHandle2].optional(row)},
                    found_);
    }

    store::Database& database_;
    store::NumberScan scan_;
    TwinFinder finder_;
    Twins found_;
    TwinObjects objects_;
    bool is_at_end_ = false;
};

Result<store::RowSource> start(store::Database& database) {
    TRY(const std::string shared, shared_kernels(database));
    if (shared.empty()) {
        return store::RowSource([](Numbers&) -> Result<void> { return {}; });
    }
    TRY(store::NumberScan scan, database.scan_numbers(filled(sql::kTwinsRecords)));
    const auto rows = std::make_shared<TwinRows>(database, std::move(scan));
    return store::RowSource([rows](Numbers& numbers) { return rows->next(numbers); });
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
    kernels.reserve(hosts.size());
    for (const auto& [kernel, names] : hosts) {
        kernels.push_back(fmt::format("{} and {} are one kernel",
                                      fmt::join(names.begin(), names.end() - 1, ", "),
                                      names.back()));
    }
    return fmt::format("{}", fmt::join(kernels, "; "));
}

void offer_twins(store::Database& database) {
    if (database.makes_table("twins")) {
        return;
    }
    database.register_table({"twins", kTwinRulesVersion, start});
    const Result<void> registered = register_twin_function(database);
    CHECK(registered.ok());
    database.define(filled(sql::kLone));
}

}  // namespace dyetrace::query
