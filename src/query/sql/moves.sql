-- Operations for the flow engine: what moved bytes, or cut a file. Names of channels are those of analysis::Channel, whose order is looked at: from kPipe on bytes have no offset.

-- statement items: CTEs up to `items`: what each handle stands for. Files that the kernel makes up while they are read do not give back what was written. The other end of a
-- TCP connection must be in the trace, else nothing would ever take what is sent. A queue of messages is one for the calls of messages only;
-- one of System V was made by msgget if its key is IPC_PRIVATE (0) or IPC_EXCL (1024) was asked for. A file that somebody maps for
-- writing, or whose shared mapping mprotect makes writable, may hold from then on what no call wrote. What a sum says of a pipe or unix
-- socket holds where all processes were watched, or (`is_private` is false) where the kernel says that no other process could use it. A FIFO was made by mknod; who opens it may have company. DuckDB plans the handles once, not for each that asks for them.
lone_handles AS MATERIALIZED (SELECT host_index, handle_id, object_id, connection_id, object_type, file_system, device, inode, family, socket_type, protocol, local_address, local_port,
    remote_address, remote_port, network_namespace FROM internal.lone_handles),
connected AS (SELECT connection_id FROM lone_handles WHERE connection_id IS NOT NULL
    GROUP BY 1 HAVING count(DISTINCT object_id) > 1),
tcp AS (SELECT host_index, handle_id, connection_id FROM internal.lone_connections SEMI JOIN connected USING (connection_id)),
ids AS (SELECT DISTINCT r.host_index, r.object_id AS kernel_id, h.object_id
    FROM internal.raw_handle r JOIN lone_handles h USING (host_index, handle_id)),
pairs AS (SELECT s.host_index, s.handle_id, h.object_id, i.object_id AS peer FROM internal.raw_socket s JOIN lone_handles h USING (host_index, handle_id)
    JOIN ids i ON i.host_index = s.host_index AND i.kernel_id = s.peer_object_id WHERE s.family = {socket_family.AF_UNIX} AND s.peer_object_id > 0),
peers AS (SELECT object_id, max(peer) AS peer FROM (SELECT object_id, peer FROM pairs UNION ALL SELECT peer, object_id FROM pairs) GROUP BY 1 HAVING min(peer) = max(peer)),
handle_peers AS (SELECT host_index, handle_id, max(peer) AS peer FROM pairs GROUP BY ALL),
everywhere AS (SELECT DISTINCT host_index FROM internal.raw_coverage WHERE path = 'all processes'),
born AS (SELECT h.object_id FROM internal.raw_event_object e JOIN lone_handles h USING (host_index, handle_id)
    WHERE _event_role_name(e.role) = 'created'
  UNION SELECT h.object_id FROM internal.lone_calls e JOIN lone_handles h USING (host_index, handle_id)
    JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall WHERE e.result >= 0 AND h.object_type IN ('pipe', 'socket')
    AND (k.name IN ('socket', 'accept', 'accept4', 'mknod', 'mknodat') OR (k.name IN ('open', 'openat', 'openat2') AND h.host_index IN (FROM everywhere)))
  UNION SELECT h.object_id FROM internal.lone_calls e JOIN lone_handles h USING (host_index, handle_id)
    JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall WHERE e.result >= 0 AND k.name = 'mq_open'
    AND e.argument1 & {open_flags.O_CREAT} <> 0 AND e.argument1 & {open_flags.O_EXCL} <> 0),
shared AS (
    SELECT h.object_id, e.start_ns AS since_ns, e.argument2 & {mmap_protection.PROT_WRITE} <> 0 AS is_writable FROM internal.lone_calls e JOIN lone_handles h USING (host_index, handle_id)
      JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall WHERE k.name IN ('mmap', 'mmap2') AND e.result >= 0
      AND e.argument3 & {mmap_flags.MAP_SHARED} <> 0 AND e.argument3 & {mmap_flags.MAP_ANONYMOUS} = 0
    UNION ALL SELECT h.object_id, 0, s.is_writable <> 0 FROM internal.raw_shared_mapping s JOIN lone_handles h USING (host_index, device, inode)),
mapped AS (SELECT object_id, min(since_ns)::UBIGINT AS mapped_ns FROM (
    SELECT object_id, since_ns FROM shared WHERE is_writable
    UNION ALL SELECT h.object_id, e.start_ns FROM internal.lone_calls e JOIN lone_handles h USING (host_index, handle_id)
      JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall SEMI JOIN shared s ON s.object_id = h.object_id
      WHERE k.name IN ('mprotect', 'pkey_mprotect') AND e.result >= 0 AND e.argument2 & {mmap_protection.PROT_WRITE} <> 0)
  GROUP BY 1),
queue_messages AS (SELECT host_index, cpu, parent_sequence AS sequence, nullif(range_begin, -1) AS type, CASE WHEN handle_id = 0 THEN range_end END AS ipc_namespace,
    CASE WHEN handle_id > 0 THEN range_end END AS left_over FROM internal.raw_event_object WHERE role = {event_role.message}),
queues_made AS (SELECT _queue_of(n.kernel, m.ipc_namespace, e.result::UBIGINT) AS queue FROM internal.lone_calls e JOIN queue_messages m USING (host_index, cpu, sequence)
    JOIN internal.kernels n USING (host_index) JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall
    WHERE k.name = 'msgget' AND (e.argument0 & 4294967295 = 0 OR e.argument1 & 1024 <> 0)),
whole AS (SELECT (SELECT count(*) FROM internal.raw_gap) = 0 AS nothing_lost,
    (SELECT coalesce(max(filtered), 0) FROM internal.raw_accounting) = 0 AS nothing_filtered),
items AS (SELECT h.host_index, h.handle_id, h.object_id,
    CASE WHEN h.object_type IN ('file', 'block_device', 'memory') THEN
            CASE WHEN h.file_system IN ('proc', 'sysfs', 'cgroup', 'cgroup2', 'debugfs', 'tracefs', 'securityfs', 'configfs', 'bpf', 'mqueue')
                THEN {Channel.kNone} ELSE {Channel.kFile} END
        WHEN t.connection_id IS NOT NULL THEN {Channel.kTcp}
        WHEN h.object_type = 'pipe' THEN {Channel.kPipe}
        WHEN h.family = {socket_family.AF_UNIX} THEN
            CASE WHEN h.socket_type = {socket_type.SOCK_STREAM} THEN {Channel.kUnixStream} ELSE {Channel.kUnixMessages} END
        WHEN h.protocol = {ip_protocol.IPPROTO_UDP} THEN {Channel.kDatagrams}
        ELSE {Channel.kNone} END AS channel,
    coalesce(t.connection_id, c.peer, p.peer, 0) AS other, coalesce(h.local_port, 0)::UBIGINT AS own_port, coalesce(h.remote_port, 0)::UBIGINT AS peer_port,
    h.local_address AS own_address, h.remote_address AS peer_address, h.network_namespace,
    CASE WHEN channel IN ({Channel.kFile}, {Channel.kTcp}) THEN {Counted.kCertainly} WHEN NOT w.nothing_lost THEN {Counted.kNot}
      WHEN b.object_id IS NOT NULL AND w.nothing_filtered THEN {Counted.kCertainly} WHEN channel = {Channel.kUnixMessages} THEN {Counted.kNot} ELSE {Counted.kWhereItBalances} END AS counted,
    channel NOT IN ({Channel.kPipe}, {Channel.kUnixStream}) OR counted <> {Counted.kWhereItBalances} OR (w.nothing_filtered AND h.host_index IN (FROM everywhere)) AS is_private, CASE WHEN channel = {Channel.kFile} THEN m.mapped_ns END AS mapped_ns
    FROM lone_handles h LEFT JOIN tcp t ON t.host_index = h.host_index AND t.handle_id = h.handle_id LEFT JOIN handle_peers c ON c.host_index = h.host_index AND c.handle_id = h.handle_id LEFT JOIN peers p USING (object_id) LEFT JOIN born b USING (object_id)
    LEFT JOIN mapped m USING (object_id), whole w)

-- statement named: CTEs up to `named`: one row per call or part that moves bytes or cuts a file, and per range that an ioctl changed, with what it made it of. open cuts what was in a file that is empty afterwards; fallocate may punch
-- holes, and in 32-bit programs has each of its numbers in two registers, as ftruncate64 has. A call `empties` a pipe or unix socket if the kernel saw nothing left in it, if it got less than it asked for,
-- or, which is all that a row with `found_nothing` is there for, EAGAIN, an end, a FIFO that was empty when it was opened (what all had closed has lost what was in it), or a poll or select that had nothing to read of it; on unix sockets a call may end where
-- descriptors come with the bytes, and packets of a pipe (O_DIRECT) where they end, and the rest of one is lost: they are not counted.
-- A path that truncate was given may have led to a file that nobody knows: it has no object. What msgrcv only looks at (MSG_COPY, 16384) is none. What is read in the memory of another process (`by_other`) was given by that one, which made no call: it is told so, by the same event.
@moves_items,
calls AS (SELECT abi, number, name, starts_with(name, 'mq_timed') OR name IN ('msgsnd', 'msgrcv') AS is_queue, name IN ('recvmsg', 'recvmmsg') AS is_messages, name IN ('process_vm_readv', 'process_vm_writev') AS is_memory, transfer, message_flags_at, cuts FROM internal.syscalls WHERE transfer IS NOT NULL OR cuts IS NOT NULL),
moved AS (
  SELECT e.host_index, e.cpu, e.sequence, e.start_ns, e.duration_ns, e.context_id, CASE WHEN NOT e.names_base THEN e.handle_id END AS handle_id, e.handle2_id, e.target_start_ns, e.target_tid, k.is_memory, false AS by_other, k.is_queue,
    CASE WHEN k.is_queue AND e.handle_id IS NULL THEN e.argument0 END AS msqid, m.type AS message_type, m.ipc_namespace, m.left_over,
    _transfer(k.transfer, e.open_flags, _message_flags(k.message_flags_at, e.argument2, e.argument3)) AS transfer, k.cuts, k.abi << 16 | k.number AS call,
    e.bytes, e.result, e.state = {state.unfinished} AS unfinished,
    e.open_flags, e.file_offset, e.offset_certain, e.file_offset2, e.offset2_certain, e.object_size, e.stream_offset,
    e.held_alone, k.cuts IS NULL AND (e.result = -{errors.EAGAIN} OR (e.result = 0 AND e.left_nothing)) AS found_nothing,
    found_nothing OR e.left_nothing OR coalesce(m.left_over = 0, false) AS empties, e.bytes < e.requested AND k.transfer = 'read' AND NOT k.is_messages AND NOT k.is_queue AND e.open_flags & {open_flags.O_DIRECT} = 0 AS got_less,
    CASE WHEN e.unread_bytes = 0 THEN e.fingerprint END AS fingerprint, CASE WHEN e.unread_bytes = 0 THEN e.content_sum END AS content_sum, e.distinct_bytes, e.address, e.address_port,
    CASE WHEN k.cuts IN ('allocate', 'allocate_split') THEN e.argument1 ELSE 0 END AS hole_mode,
    CASE k.cuts WHEN 'truncate' THEN e.argument1 WHEN 'allocate' THEN e.argument2 WHEN 'truncate_split' THEN e.argument1 | (e.argument2 << 32)
      WHEN 'allocate_split' THEN e.argument2 | (e.argument3 << 32) END AS hole_begin,
    CASE k.cuts WHEN 'allocate' THEN e.argument3 WHEN 'allocate_split' THEN e.argument4 | (e.argument5 << 32) END AS hole_bytes
  FROM internal.lone_calls e JOIN calls k ON k.abi = e.abi AND k.number = e.syscall LEFT JOIN queue_messages m USING (host_index, cpu, sequence)
  WHERE (NOT e.names_base OR k.cuts IN ('truncate', 'truncate_split')) AND NOT (k.name = 'msgrcv' AND e.argument4 & 16384 <> 0) AND CASE WHEN k.is_queue THEN e.result >= 0 OR e.state = {state.unfinished} WHEN k.cuts IS NULL THEN e.bytes > 0 OR e.state = {state.unfinished} OR e.result = -{errors.EAGAIN} OR e.left_nothing WHEN k.cuts = 'open' THEN e.result >= 0 AND e.object_size = 0
    ELSE e.result = 0 AND (k.cuts IN ('truncate', 'truncate_split') OR e.argument1 <> 0) END
  UNION ALL BY NAME
  SELECT e.host_index, e.cpu, e.sequence, e.start_ns, e.duration_ns, e.context_id, e.handle_id,
    _transfer(k.transfer, e.open_flags, CASE WHEN e.peeks THEN {message_flags.MSG_PEEK} WHEN e.reports_error THEN {message_flags.MSG_ERRQUEUE} ELSE 0 END) AS transfer, k.abi << 16 | k.number AS call, e.bytes, e.result,
    false AS unfinished, false AS found_nothing, false AS empties, e.open_flags, e.file_offset, e.offset_certain, e.stream_offset,
    CASE WHEN e.unread_bytes = 0 THEN e.fingerprint END AS fingerprint, CASE WHEN e.unread_bytes = 0 THEN e.content_sum END AS content_sum, e.distinct_bytes, e.address, e.address_port
  FROM internal.lone_parts e JOIN calls k ON k.abi = e.abi AND k.number = e.operation
  WHERE e.bytes > 0 AND e.result >= 0 AND k.cuts IS NULL
  UNION ALL BY NAME
  SELECT e.host_index, e.cpu, e.sequence, e.start_ns, e.duration_ns, e.context_id, o.handle_id, 'read' AS transfer, e.abi << 16 | e.syscall AS call, 0 AS bytes, 0 AS result,
    false AS unfinished, true AS found_nothing, true AS empties
  FROM internal.raw_event_object o JOIN internal.lone_calls e ON e.host_index = o.host_index AND e.cpu = o.cpu AND e.sequence = o.parent_sequence
  WHERE o.asked_events & {poll_events.POLLIN} <> 0 AND o.events = 0 AND e.result >= 0 AND e.state <> {state.unfinished}
  UNION ALL BY NAME
  SELECT e.host_index, e.cpu, e.sequence, e.start_ns, e.duration_ns, e.context_id, e.handle_id, 'read' AS transfer, k.abi << 16 | k.number AS call, 0 AS bytes, 0 AS result,
    false AS unfinished, true AS found_nothing, true AS empties
  FROM internal.lone_calls e JOIN calls k ON k.abi = e.abi AND k.number = e.syscall WHERE k.cuts = 'open' AND e.left_nothing
  UNION ALL BY NAME
  SELECT e.host_index, e.cpu, e.sequence, e.start_ns, e.duration_ns, e.context_id, o.handle_id, c.handle_id AS handle2_id, CASE WHEN c.range_end >= 0 THEN 'copy_from' END AS transfer, 'changed' AS cuts,
    e.abi << 16 | e.syscall AS call, CASE WHEN c.range_end >= 0 THEN (c.range_end - c.range_begin)::UBIGINT ELSE 0 END AS bytes, 0 AS result, false AS unfinished, false AS found_nothing, false AS empties, o.range_begin AS file_offset, true AS offset_certain,
    c.range_begin AS file_offset2, true AS offset2_certain, greatest(o.range_begin, 0)::UBIGINT AS hole_begin, CASE WHEN o.range_end >= 0 THEN (o.range_end - o.range_begin)::UBIGINT END AS hole_bytes
  FROM internal.raw_event_object o JOIN internal.lone_calls e ON e.host_index = o.host_index AND e.cpu = o.cpu AND e.sequence = o.parent_sequence
  LEFT JOIN (FROM internal.raw_event_object WHERE role = {event_role.copied}) c ON c.host_index = o.host_index AND c.cpu = o.cpu AND c.parent_sequence = o.parent_sequence
  WHERE o.role = {event_role.changed}
  UNION ALL BY NAME
  SELECT e.host_index, e.cpu, e.sequence, e.start_ns, e.duration_ns, e.context_id, e.target_start_ns, e.target_tid, true AS is_memory, true AS by_other,
    CASE k.transfer WHEN 'read' THEN 'write' ELSE 'read' END AS transfer, k.abi << 16 | k.number AS call, e.bytes, e.result, false AS unfinished, false AS found_nothing,
    false AS empties, CASE WHEN e.unread_bytes = 0 THEN e.fingerprint END AS fingerprint, CASE WHEN e.unread_bytes = 0 THEN e.content_sum END AS content_sum, e.distinct_bytes
  FROM internal.lone_calls e JOIN calls k ON k.abi = e.abi AND k.number = e.syscall WHERE k.is_memory AND e.bytes > 0 AND e.target_start_ns > 0),
named AS NOT MATERIALIZED (
  SELECT e.*, n.kernel, _task_id(n.kernel, e.target_start_ns, e.target_tid) AS target, CASE WHEN by_other THEN target ELSE c.process_id END AS process_id, c.thread_id,
    CASE WHEN is_memory THEN _memory_of(CASE WHEN by_other THEN c.process_id ELSE target END) WHEN e.msqid IS NOT NULL THEN _queue_of(n.kernel, e.ipc_namespace, e.msqid) ELSE a.object_id END AS object_id,
    CASE WHEN is_queue THEN {Channel.kQueue} ELSE a.channel END AS channel,
    CASE WHEN a.mapped_ns < start_ns + coalesce(duration_ns, 0) THEN {Counted.kMapped} WHEN a.channel = {Channel.kPipe} AND e.open_flags & {open_flags.O_DIRECT} <> 0 THEN {Counted.kNot} WHEN e.msqid IS NULL THEN a.counted WHEN NOT w.nothing_lost THEN {Counted.kNot} WHEN (CASE WHEN e.msqid IS NOT NULL THEN _queue_of(n.kernel, e.ipc_namespace, e.msqid) END) IN (SELECT queue FROM queues_made) AND w.nothing_filtered THEN {Counted.kCertainly}
      ELSE {Counted.kWhereItBalances} END AS counted, b.object_id AS object2_id, b.channel AS channel2,
    a.is_private, b.is_private AS is_private2, b.other AS other2, CASE WHEN b.mapped_ns < start_ns + coalesce(duration_ns, 0) THEN {Counted.kMapped} ELSE b.counted END AS counted2, start_ns + coalesce(duration_ns, 0) AS end_ns,
    coalesce(e.address_port::UBIGINT, a.peer_port) AS far_port,
    CASE WHEN is_queue THEN coalesce(message_type + 1, 0)::UBIGINT WHEN a.channel <> {Channel.kDatagrams} THEN a.other WHEN a.own_port = 0 OR far_port = 0 THEN 0
      WHEN transfer IN ('read', 'peek', 'copy_to') THEN far_port << 16 | a.own_port ELSE a.own_port << 16 | far_port END AS other,
    CASE WHEN a.channel = {Channel.kDatagrams} THEN _address_number(a.own_address, n.kernel, a.network_namespace) << 32 | _address_number(coalesce(e.address, a.peer_address), n.kernel, a.network_namespace)
      ELSE 0::UBIGINT END AS addresses
  FROM moved e JOIN internal.kernels n USING (host_index) LEFT JOIN internal.lone_contexts c USING (host_index, context_id)
  LEFT JOIN items a ON a.host_index = e.host_index AND a.handle_id = e.handle_id
  LEFT JOIN items b ON b.host_index = e.host_index AND b.handle_id = e.handle2_id, whole w
  WHERE (transfer IS NOT NULL OR cuts IS NOT NULL) AND (NOT found_nothing OR (transfer = 'read' AND a.channel IN ({Channel.kPipe}, {Channel.kUnixStream}))))

-- statement columns: of `narrow`, which is sorted. A position of which nothing is known is NULL; after an append it is the size of the file, if nobody else wrote meanwhile.
-- 18446744073709551614 is the end of any file.
SELECT is_start, _event_id(host_index, cpu, sequence) AS event, start_ns, end_ns, process_id, coalesce(_transfer_number(transfer), 0)::UTINYINT AS transfer,
    coalesce(bytes, 0)::UBIGINT AS bytes, unfinished, object_id, channel::UTINYINT AS channel, other, counted,
    CASE channel WHEN {Channel.kFile} THEN CASE WHEN file_offset >= 0 THEN file_offset WHEN object_size >= bytes THEN object_size - bytes END::UBIGINT
      WHEN {Channel.kTcp} THEN stream_offset END AS offset1,
    (channel <> {Channel.kFile} OR (file_offset IS NOT NULL AND offset_certain)) AND (is_private OR coalesce(held_alone, false)) AS is_certain, object2_id, channel2::UTINYINT AS channel2, other2, counted2,
    CASE channel2 WHEN {Channel.kFile} THEN CASE WHEN file_offset2 >= 0 THEN file_offset2 END::UBIGINT WHEN {Channel.kTcp} THEN stream_offset END AS offset2,
    (channel2 <> {Channel.kFile} OR (file_offset2 IS NOT NULL AND offset2_certain)) AND (is_private2 OR coalesce(held_alone, false)) AS is_certain2, fingerprint, content_sum,
    coalesce(distinct_bytes, 0)::UTINYINT AS distinct_bytes,
    CASE WHEN cuts IN ('truncate', 'truncate_split', 'changed') OR hole_mode & ({fallocate_mode.FALLOC_FL_PUNCH_HOLE} | {fallocate_mode.FALLOC_FL_COLLAPSE_RANGE} | {fallocate_mode.FALLOC_FL_ZERO_RANGE}
      | {fallocate_mode.FALLOC_FL_INSERT_RANGE})::UBIGINT <> 0 THEN hole_begin ELSE 0::UBIGINT END AS cut_begin,
    CASE WHEN cuts IN ('open', 'truncate', 'truncate_split') OR (cuts = 'changed' AND hole_bytes IS NULL) OR hole_mode & ({fallocate_mode.FALLOC_FL_COLLAPSE_RANGE} | {fallocate_mode.FALLOC_FL_INSERT_RANGE})::UBIGINT <> 0 THEN 18446744073709551614::UBIGINT
      WHEN cuts = 'changed' OR hole_mode & ({fallocate_mode.FALLOC_FL_PUNCH_HOLE} | {fallocate_mode.FALLOC_FL_ZERO_RANGE})::UBIGINT <> 0 THEN hole_begin + hole_bytes ELSE 0::UBIGINT END AS cut_end, call::UINTEGER AS call, addresses,
    (empties OR (got_less AND channel <> {Channel.kUnixStream})) AND transfer IN ('read', 'copy_to') AS empties

-- statement rows: of numbers (MoveColumn).
SELECT is_start::UBIGINT, event, start_ns, end_ns, process_id, transfer::UBIGINT, bytes::UBIGINT, unfinished::UBIGINT,
  coalesce(object_id, 0), coalesce(channel, 0)::UBIGINT, coalesce(other, 0), coalesce(counted, 0)::UBIGINT, offset1, coalesce(is_certain, true)::UBIGINT,
  coalesce(object2_id, 0), coalesce(channel2, 0)::UBIGINT, coalesce(other2, 0), coalesce(counted2, 0)::UBIGINT, offset2,
  coalesce(is_certain2, false)::UBIGINT, fingerprint, content_sum, distinct_bytes::UBIGINT,
  cut_begin, cut_end, call::UBIGINT, addresses, coalesce(empties, false)::UBIGINT
FROM narrow

-- statement in_order: in order of time, ends before starts. Only what is in another order by its start than by its end has a row for its start; of reads from files those longer than kShortReadNs.
WITH @moves_named,
narrow AS (
  @moves_columns
  FROM named, (VALUES (false), (true)) s(is_start)
  WHERE NOT is_start OR (duration_ns > 0 AND bytes > 0 AND (channel >= {Channel.kPipe} OR channel2 >= {Channel.kPipe} OR (channel = {Channel.kFile} AND transfer IN ('write', 'copy_from'))
    OR (channel2 = {Channel.kFile} AND transfer = 'copy_to') OR (channel = {Channel.kFile} AND duration_ns > 20000)))
  ORDER BY CASE WHEN is_start THEN start_ns ELSE end_ns END, is_start, event, by_other IS TRUE
)
@moves_rows

-- statement in_any_order: the same, each once.
WITH @moves_named,
narrow AS (
  @moves_columns
  FROM named, (VALUES (false)) s(is_start) WHERE NOT found_nothing AND by_other IS NOT TRUE
)
@moves_rows

-- statement datagrams: those (UDP) that were sent or taken, each once, in any order: event, sends, object, thread, other (Side::other), addresses (kMoveAddresses).
WITH @moves_named
SELECT _event_id(host_index, cpu, sequence) AS event, transfer = 'write' AS sends, object_id AS object, thread_id AS thread, other, addresses
FROM named WHERE channel = {Channel.kDatagrams} AND bytes > 0 AND transfer IN ('read', 'peek', 'write')
