// Operations for the flow engine, out of a trace: what the rows of sql/moves.sql and sql/messages.sql mean.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/dataflow/operation.h"
#include "store/number_scan.h"

namespace dyetrace::query {

// sql/messages.sql of a trace, with what its hosts' clocks are moved by, each by its index. A row of numbers each (MessageColumn).
std::string messages_sql(std::span<const std::int64_t> shifts);

enum MessageColumn : std::uint8_t {
    kMessageFrom,
    kMessageSent,
    kMessageTo,
    kMessageReceived,
};

enum MoveColumn : std::uint8_t {
    kMoveIsStart,
    kMoveEvent,
    kMoveStart,
    kMoveEnd,
    kMoveProcess,
    kMoveTransfer,  // schema::Transfer; 0: it only cuts
    kMoveBytes,
    kMoveUnfinished,
    kMoveObject,
    kMoveChannel,
    kMoveOther,
    kMoveCounted,
    kMoveOffset,
    kMoveOffsetCertain,
    kMoveObject2,
    kMoveChannel2,
    kMoveOther2,
    kMoveCounted2,
    kMoveOffset2,
    kMoveOffset2Certain,
    kMoveFingerprint,
    kMoveContentSum,
    kMoveDistinctBytes,
    kMoveCutBegin,
    kMoveCutEnd,
    kMoveCall,       // abi << 16 | number
    kMoveAddresses,  // UDP: own << 32 | of the other end
    kMoveEmpties,
    kMoveColumns,
};

// `columns` as sql/moves.sql gives them.
analysis::Operation operation_in(const store::NumberColumns& columns, std::size_t row);

}  // namespace dyetrace::query
