#include "query/flows/flow_rows.h"

#include <fmt/format.h>

#include "query/named_sql.h"
#include "query/sql.h"
#include "schema/generated/records.h"

namespace dyetrace::query {
namespace {

using analysis::Channel;
using analysis::Operation;
using analysis::Side;

Side side_of(const store::NumberColumns& columns,
             std::size_t row,
             MoveColumn first,
             bool is_certain) {
    Side side;
    side.object = columns[first][row];
    side.channel = static_cast<Channel>(columns[first + 1u][row]);
    side.other = columns[first + 2u][row];
    const auto counted = static_cast<analysis::Counted>(columns[first + 3u][row]);
    side.certain = counted != analysis::Counted::kNot && is_certain;
    side.mapped = counted == analysis::Counted::kMapped;
    side.balanced = counted == analysis::Counted::kWhereItBalances;
    side.offset = columns[first + 4u].value_or(row, analysis::kUnknown);
    return side;
}

}  // namespace

std::string messages_sql(std::span<const std::int64_t> shifts) {
    std::vector<std::string> rows;
    for (std::size_t host = 0; host < shifts.size(); ++host) {
        rows.push_back(fmt::format("({},{})", host, shifts[host]));
    }
    return filled(sql::kMessages, {{"shifts", SqlPiece{fmt::format("{}", fmt::join(rows, ","))}}});
}

Operation operation_in(const store::NumberColumns& columns, std::size_t row) {
    const auto number = [&](MoveColumn column) { return columns[column][row]; };
    Operation operation;
    operation.event = number(kMoveEvent);
    operation.start_ns = number(kMoveStart);
    operation.end_ns = number(kMoveEnd);
    operation.process = columns[kMoveProcess].value_or(row, analysis::kUnknown);
    operation.bytes = number(kMoveBytes);
    operation.unfinished = number(kMoveUnfinished) != 0;
    operation.distinct_bytes = static_cast<std::uint32_t>(number(kMoveDistinctBytes));
    operation.cut_begin = number(kMoveCutBegin);
    operation.cut_end = number(kMoveCutEnd);
    operation.fingerprint = columns[kMoveFingerprint].optional(row);
    operation.sum = columns[kMoveContentSum].optional(row);
    Side first = side_of(columns, row, kMoveObject, number(kMoveOffsetCertain) != 0);
    first.empties = number(kMoveEmpties) != 0;
    first.own_address = static_cast<std::uint32_t>(number(kMoveAddresses) >> 32);
    first.far_address = static_cast<std::uint32_t>(number(kMoveAddresses));
    const Side second = side_of(columns, row, kMoveObject2, number(kMoveOffset2Certain) != 0);
    switch (const auto transfer = static_cast<schema::Transfer>(number(kMoveTransfer)); transfer) {
        case schema::Transfer::kRead:
        case schema::Transfer::kPeek:
            operation.from = first;
            operation.from.peeks = transfer == schema::Transfer::kPeek;
            break;
        case schema::Transfer::kCopyTo:
        case schema::Transfer::kTee:
            operation.from = first;
            operation.from.peeks = transfer == schema::Transfer::kTee;
            operation.to = second;
            break;
        case schema::Transfer::kCopyFrom:
            operation.from = second;
            operation.to = first;
            break;
        default:  // a write, or nothing but a cut
            operation.to = first;
            break;
    }
    return operation;
}

}  // namespace dyetrace::query
