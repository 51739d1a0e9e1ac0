#include "query/flows/flow_rows.h"

#include <fmt/format.h>

#include "schema/generated/records.h"

namespace dyetrace::query {
namespace {

using analysis::Channel;
using analysis::Operation;
using analysis::Side;

// What each handle stands for. Files that the kernel makes up while they are read do not give back
// what was written. The other end of a TCP connection must be in the trace, else nothing would ever
// take what is sent.
constexpr const char* kObjects = R"(
connected AS (SELECT connection_id FROM internal.handles WHERE connection_id IS NOT NULL
    GROUP BY 1 HAVING count(DISTINCT object_id) > 1),
tcp AS (SELECT object_id, max(connection_id) AS connection_id FROM internal.handles SEMI JOIN connected USING (connection_id)
    GROUP BY 1),
ids AS (SELECT DISTINCT r.host_index, r.object_id AS kernel_id, h.object_id
    FROM internal.raw_handle r JOIN internal.handles h USING (host_index, handle_id)),
pairs AS (SELECT h.object_id, i.object_id AS peer FROM internal.raw_socket s JOIN internal.handles h USING (host_index, handle_id)
    JOIN ids i ON i.host_index = s.host_index AND i.kernel_id = s.peer_object_id WHERE s.family = 1 AND s.peer_object_id > 0),
peers AS (SELECT object_id, max(peer) AS peer FROM (FROM pairs UNION ALL SELECT peer, object_id FROM pairs) GROUP BY 1),
born AS (SELECT h.object_id FROM internal.raw_event_object e JOIN internal.handles h USING (host_index, handle_id)
    WHERE _event_role_name(e.role) = 'created'
  UNION SELECT h.object_id FROM internal.raw_syscall_event e JOIN internal.handles h USING (host_index, handle_id)
    JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall WHERE e.result >= 0 AND h.object_type IN ('pipe', 'socket')
    AND k.name IN ('open', 'openat', 'openat2', 'socket', 'accept', 'accept4')),
whole AS (SELECT (SELECT count(*) FROM internal.raw_gap) = 0 AND
    (SELECT coalesce(max(filtered), 0) FROM internal.raw_accounting) = 0 AS nothing_missing),
items AS (SELECT h.host_index, h.handle_id, h.object_id,
    CASE WHEN h.object_type IN ('file', 'block_device', 'memory') THEN
            CASE WHEN h.file_system IN ('proc', 'sysfs', 'cgroup', 'cgroup2', 'debugfs', 'tracefs', 'securityfs', 'configfs', 'bpf')
                THEN 0 ELSE 1 END
        WHEN t.connection_id IS NOT NULL THEN 2
        WHEN h.object_type = 'pipe' THEN 3
        WHEN h.family = 1 THEN CASE WHEN h.socket_type = 1 THEN 4 ELSE 5 END
        WHEN h.protocol = 17 THEN 6
        ELSE 0 END AS channel,
    coalesce(t.connection_id, p.peer, 0) AS other, coalesce(h.local_port, 0)::UBIGINT AS own_port, coalesce(h.remote_port, 0)::UBIGINT AS peer_port,
    h.local_address AS own_address, h.remote_address AS peer_address,
    channel IN (1, 2) OR (b.object_id IS NOT NULL AND w.nothing_missing) AS counted
    FROM internal.handles h LEFT JOIN tcp t USING (object_id) LEFT JOIN peers p USING (object_id) LEFT JOIN born b USING (object_id), whole w)
)";

// One row per call or part that moves bytes or cuts a file. open cuts what was in a file that is empty afterwards; fallocate may punch holes, and in
// 32-bit programs has each of its numbers in two registers, as ftruncate64 has.
constexpr const char* kMoves = R"(
calls AS (SELECT abi, number, transfer, message_flags_at, cuts FROM internal.syscalls WHERE transfer IS NOT NULL OR cuts IS NOT NULL),
moved AS (
  SELECT e.host_index, e.cpu, e.sequence, e.start_ns, e.duration_ns, e.context_id, e.handle_id, e.handle2_id,
    _transfer(k.transfer, e.open_flags, _message_flags(k.message_flags_at, e.argument2, e.argument3)) AS transfer, k.cuts, k.abi << 16 | k.number AS call,
    e.bytes, e.result, e.state = 1 AS unfinished,
    e.open_flags, e.file_offset, e.offset_certain, e.file_offset2, e.offset2_certain, e.object_size, e.stream_offset,
    CASE WHEN e.unread_bytes = 0 THEN e.fingerprint END AS fingerprint, e.distinct_bytes, e.address, e.address_port,
    CASE WHEN k.cuts IN ('allocate', 'allocate_split') THEN e.argument1 ELSE 0 END AS hole_mode,
    CASE k.cuts WHEN 'truncate' THEN e.argument1 WHEN 'allocate' THEN e.argument2 WHEN 'truncate_split' THEN e.argument1 | (e.argument2 << 32)
      WHEN 'allocate_split' THEN e.argument2 | (e.argument3 << 32) END AS hole_begin,
    CASE k.cuts WHEN 'allocate' THEN e.argument3 WHEN 'allocate_split' THEN e.argument4 | (e.argument5 << 32) END AS hole_bytes
  FROM internal.raw_syscall_event e JOIN calls k ON k.abi = e.abi AND k.number = e.syscall
  WHERE NOT e.names_base AND CASE WHEN k.cuts IS NULL THEN e.bytes > 0 OR e.state = 1 WHEN k.cuts = 'open' THEN e.result >= 0 AND e.object_size = 0
    ELSE e.result = 0 AND (k.cuts IN ('truncate', 'truncate_split') OR e.argument1 <> 0) END
  UNION ALL BY NAME
  SELECT e.host_index, e.cpu, e.sequence, e.start_ns, e.duration_ns, e.context_id, e.handle_id,
    _transfer(k.transfer, e.open_flags, CASE WHEN e.peeks THEN 2 WHEN e.reports_error THEN 8192 ELSE 0 END) AS transfer, k.abi << 16 | k.number AS call, e.bytes, e.result,
    false AS unfinished, e.open_flags, e.file_offset, e.offset_certain, e.stream_offset,
    CASE WHEN e.unread_bytes = 0 THEN e.fingerprint END AS fingerprint, e.distinct_bytes, e.address, e.address_port
  FROM internal.raw_part_event e JOIN calls k ON k.abi = e.abi AND k.number = e.operation
  WHERE e.bytes > 0 AND e.result >= 0 AND k.cuts IS NULL),
named AS (
  SELECT e.*, c.process_id, c.thread_id, a.object_id, a.channel, a.counted, b.object_id AS object2_id, b.channel AS channel2,
    b.other AS other2, b.counted AS counted2, start_ns + coalesce(duration_ns, 0) AS end_ns,
    coalesce(e.address_port::UBIGINT, a.peer_port) AS far_port,
    CASE WHEN a.channel <> 6 THEN a.other WHEN a.own_port = 0 OR far_port = 0 THEN 0
      WHEN transfer IN ('read', 'peek', 'copy_to') THEN far_port << 16 | a.own_port ELSE a.own_port << 16 | far_port END AS other,
    CASE WHEN a.channel = 6 THEN _address_number(a.own_address, e.host_index) << 32 | _address_number(coalesce(e.address, a.peer_address), e.host_index)
      ELSE 0::UBIGINT END AS addresses
  FROM moved e LEFT JOIN internal.contexts c USING (host_index, context_id)
  LEFT JOIN items a ON a.host_index = e.host_index AND a.handle_id = e.handle_id
  LEFT JOIN items b ON b.host_index = e.host_index AND b.handle_id = e.handle2_id
  WHERE transfer IS NOT NULL OR cuts IS NOT NULL)
)";

// Narrow, for they are sorted. A position of which nothing is known is NULL; after an append it is
// the size of the file, if nobody else wrote meanwhile.
constexpr const char* kNarrow = R"(
narrow AS (
  SELECT is_start, _event_id(host_index, cpu, sequence) AS event, start_ns, end_ns, process_id, coalesce(_transfer_number(transfer), 0)::UTINYINT AS transfer,
    coalesce(bytes, 0)::UINTEGER AS bytes, unfinished, object_id, channel::UTINYINT AS channel, other, counted,
    CASE channel WHEN 1 THEN CASE WHEN file_offset >= 0 THEN file_offset WHEN object_size >= bytes THEN object_size - bytes END::UBIGINT
      WHEN 2 THEN stream_offset END AS offset1,
    channel <> 1 OR (file_offset IS NOT NULL AND offset_certain) AS is_certain, object2_id, channel2::UTINYINT AS channel2, other2, counted2,
    CASE channel2 WHEN 1 THEN CASE WHEN file_offset2 >= 0 THEN file_offset2 END::UBIGINT WHEN 2 THEN stream_offset END AS offset2,
    channel2 <> 1 OR (file_offset2 IS NOT NULL AND offset2_certain) AS is_certain2, fingerprint,
    coalesce(distinct_bytes, 0)::UTINYINT AS distinct_bytes,
    CASE WHEN cuts IN ('truncate', 'truncate_split') OR hole_mode & 58 <> 0 THEN hole_begin ELSE 0::UBIGINT END AS cut_begin,
    CASE WHEN cuts IN ('open', 'truncate', 'truncate_split') OR hole_mode & 40 <> 0 THEN 18446744073709551614::UBIGINT
      WHEN hole_mode & 18 <> 0 THEN hole_begin + hole_bytes ELSE 0::UBIGINT END AS cut_end, call::UINTEGER AS call, addresses
  FROM named,
)";

constexpr const char* kInOrder = R"((VALUES (false), (true)) s(is_start)
  WHERE NOT is_start OR (duration_ns > 0 AND bytes > 0 AND (channel >= 3 OR channel2 >= 3 OR (channel = 1 AND transfer IN ('write', 'copy_from'))
    OR (channel2 = 1 AND transfer = 'copy_to')))
  ORDER BY CASE WHEN is_start THEN start_ns ELSE end_ns END, is_start, event
)";

constexpr const char* kSelect = R"()
SELECT is_start::UBIGINT, event, start_ns, end_ns, process_id, transfer::UBIGINT, bytes::UBIGINT, unfinished::UBIGINT,
  coalesce(object_id, 0), coalesce(channel, 0)::UBIGINT, coalesce(other, 0), coalesce(counted, false)::UBIGINT, offset1, coalesce(is_certain, true)::UBIGINT,
  coalesce(object2_id, 0), coalesce(channel2, 0)::UBIGINT, coalesce(other2, 0), coalesce(counted2, false)::UBIGINT, offset2,
  coalesce(is_certain2, false)::UBIGINT, fingerprint, distinct_bytes::UBIGINT,
  cut_begin, cut_end, call::UBIGINT, addresses
FROM narrow
)";

std::string moves_from(const char* rows) {
    return fmt::format("WITH {}, {}, {} {} {}", kObjects, kMoves, kNarrow, rows, kSelect);
}

Side side_of(const store::NumberColumns& columns,
             std::size_t row,
             MoveColumn first,
             bool is_certain) {
    Side side;
    side.object = columns[first][row];
    side.channel = static_cast<Channel>(columns[first + 1u][row]);
    side.other = columns[first + 2u][row];
    side.certain = columns[first + 3u][row] != 0 && is_certain;
    side.offset = columns[first + 4u].value_or(row, analysis::kUnknown);
    return side;
}

}  // namespace

std::string moves_sql() {
    return moves_from(kInOrder);
}

// A call has begun to send its last byte when it began, and has taken its last byte when it ended. Times beyond 2^62 ns (146 years) are damage.
constexpr const char* kMessages = R"(
ways AS (
  SELECT host_index, other AS connection, transfer IN ('write', 'copy_from') AS sends, stream_offset AS stream_begin, stream_offset + bytes AS stream_end, start_ns, end_ns
  FROM named WHERE channel = 2 AND transfer IN ('read', 'write', 'copy_to', 'copy_from') AND bytes > 0 AND stream_offset IS NOT NULL AND NOT unfinished
  UNION ALL
  SELECT host_index, other2, true, stream_offset, stream_offset + bytes, start_ns, end_ns
  FROM named WHERE channel2 = 2 AND transfer = 'copy_to' AND bytes > 0 AND stream_offset IS NOT NULL AND NOT unfinished),
ends AS (SELECT connection, min(host_index) AS a, max(host_index) AS b FROM ways GROUP BY 1 HAVING count(DISTINCT host_index) = 2),
across AS (SELECT w.*, a + b - host_index AS peer FROM ways w JOIN ends USING (connection) SEMI JOIN internal.hosts USING (host_index)
  WHERE end_ns < 4611686018427387904),
sent AS (SELECT * FROM across WHERE sends),
taken AS (SELECT * FROM across WHERE NOT sends),
-- Which datagram it was its bytes tell, if nobody sent and nobody took the same ones a second time.
letters AS (SELECT host_index, transfer = 'write' AS sends, start_ns, end_ns, other, bytes, fingerprint,
    CASE WHEN sends THEN addresses >> 32 ELSE addresses & 4294967295 END AS sender, CASE WHEN sends THEN addresses & 4294967295 ELSE addresses >> 32 END AS taker
  FROM named SEMI JOIN internal.hosts USING (host_index)
  WHERE channel = 6 AND other <> 0 AND bytes > 0 AND fingerprint IS NOT NULL AND NOT unfinished AND transfer <> 'peek' AND end_ns < 4611686018427387904),
datagrams AS (
  SELECT min(host_index) FILTER (sends) AS from_host, min(start_ns) FILTER (sends) AS sent_ns,
    min(host_index) FILTER (NOT sends) AS to_host, min(end_ns) FILTER (NOT sends) AS received_ns
  FROM letters GROUP BY other, bytes, fingerprint HAVING count(*) FILTER (sends) = 1 AND count(*) = 2
    AND (min(sender) = 0 OR min(sender) = max(sender)) AND (min(taker) = 0 OR min(taker) = max(taker))),
messages AS (
  SELECT s.host_index AS from_host, s.start_ns AS sent_ns, t.host_index AS to_host, t.end_ns AS received_ns
  FROM taken t ASOF JOIN sent s ON s.connection = t.connection AND s.host_index = t.peer AND s.stream_begin <= t.stream_end - 1 WHERE s.stream_end >= t.stream_end
  UNION ALL
  SELECT s.host_index, s.start_ns, t.host_index, t.end_ns
  FROM sent s ASOF JOIN taken t ON t.connection = s.connection AND t.host_index = s.peer AND t.stream_begin <= s.stream_end - 1 WHERE t.stream_end > s.stream_end
  UNION ALL
  FROM datagrams WHERE from_host <> to_host)
SELECT from_host::UBIGINT, sent_ns, to_host::UBIGINT, received_ns FROM messages m JOIN internal.hosts o ON o.host_index = m.to_host
JOIN shifts USING (host_index) ORDER BY received_ns::HUGEINT + o.wall_offset_ns + shift_ns, sent_ns
)";

std::string messages_sql(std::span<const std::int64_t> shifts) {
    std::vector<std::string> rows;
    for (std::size_t host = 0; host < shifts.size(); ++host) {
        rows.push_back(fmt::format("({},{})", host, shifts[host]));
    }
    return fmt::format("WITH shifts(host_index, shift_ns) AS (VALUES {}), {}, {}, {}",
                       fmt::join(rows, ","),
                       kObjects,
                       kMoves,
                       kMessages);
}

std::string datagrams_sql() {
    return fmt::format(
        "WITH {}, {} SELECT _event_id(host_index, cpu, sequence) AS event, transfer = 'write' AS "
        "sends, object_id AS object, thread_id AS thread, other, addresses FROM named WHERE "
        "channel = {} AND bytes > 0 AND transfer IN ('read', 'peek', 'write')",
        kObjects,
        kMoves,
        static_cast<int>(Channel::kDatagrams));
}

std::string unordered_moves_sql() {
    return moves_from("(VALUES (false)) s(is_start)");
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
    Side first = side_of(columns, row, kMoveObject, number(kMoveOffsetCertain) != 0);
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
