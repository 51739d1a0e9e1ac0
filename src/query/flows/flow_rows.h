// Operations for the flow engine, out of a trace: the SQL that asks for them, and what its rows mean.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/dataflow/operation.h"
#include "store/number_scan.h"

namespace dyetrace::query {

// The operations of a trace in order of time, ends before starts: a row of numbers each (MoveColumn).
std::string moves_sql();

// The same, each once, in any order.
std::string unordered_moves_sql();

// Datagrams (UDP) that were sent or taken, each once, in any order: event, sends, object, thread, other (Side::other), addresses (kMoveAddresses).
std::string datagrams_sql();

// What went over TCP between different hosts: for each call that took bytes, and each that sent some, the other one that had its last
// byte, in the order in which they were received by the wall clocks, each moved by what `shifts` says (host_index, nanoseconds). A row
// of numbers each (MessageColumn).
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
    kMoveDistinctBytes,
    kMoveCutBegin,
    kMoveCutEnd,
    kMoveCall,       // abi << 16 | number
    kMoveAddresses,  // UDP: own << 32 | of the other end
    kMoveColumns,
};

// `columns` as moves_sql() gives them.
analysis::Operation operation_in(const store::NumberColumns& columns, std::size_t row);

}  // namespace dyetrace::query
