-- What of a trace cannot all be true, where no order is needed to see it.

-- statement unlike: CTEs up to `unlike`: the same bytes at both ends of a flow that have different fingerprints. Rules up to `file` number bytes. (Compared by a CASE: of two that equal a third
-- DuckDB makes a join, of all calls of one size with each other.)
printed AS (SELECT _event_id(host_index, cpu, sequence) AS event, bytes, fingerprint FROM internal.raw_syscall_event WHERE unread_bytes = 0 AND fingerprint IS NOT NULL
  UNION ALL SELECT _event_id(host_index, cpu, sequence), bytes, fingerprint FROM internal.raw_part_event WHERE unread_bytes = 0 AND fingerprint IS NOT NULL),
unlike AS (SELECT f.from_event, f.to_event, f.rule FROM internal.derived_flows f JOIN printed a ON a.event = f.from_event JOIN printed b ON b.event = f.to_event
  WHERE f.rule <= {flow_rule.file} AND f.certainty = {certainty.certain} AND CASE WHEN f.bytes = a.bytes AND f.bytes = b.bytes THEN a.fingerprint <> b.fingerprint END)

-- statement unsent: CTEs up to `unsent`: bytes that a connection delivered and that nobody is known to have sent, though the other end was watched when they were: a call of it
-- on that end is in the trace from before (connect, accept, an earlier byte) and one from after (a later byte, shutdown, close, the end of its process).
ended AS (SELECT DISTINCT process_id AS process FROM internal.lone_thread_ends WHERE tid = pid),
touched AS (
  SELECT _event_id(e.host_index, e.cpu, e.sequence) AS event, k.name, e.bytes, e.stream_offset, h.object_id AS object, h.connection_id, c.process_id AS process,
    _transfer(k.transfer, e.open_flags, _message_flags(k.message_flags_at, e.argument2, e.argument3)) AS transfer
  FROM internal.lone_calls e JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall
  JOIN internal.lone_contexts c USING (host_index, context_id)
  JOIN internal.lone_connections h ON h.host_index = e.host_index AND h.handle_id = e.handle_id
  WHERE k.transfer IS NOT NULL OR k.name IN ('connect', 'accept', 'accept4', 'shutdown', 'close')),
watched AS (
  SELECT object, connection_id, min(CASE WHEN name IN ('connect', 'accept', 'accept4') THEN 0 WHEN sends THEN stream_offset END) AS from_at,
    max(CASE WHEN name IN ('shutdown', 'close') OR e.process IS NOT NULL THEN 18446744073709551615 WHEN sends THEN stream_offset + bytes END) AS to_at
  FROM (SELECT *, bytes > 0 AND transfer IN ('write', 'copy_from') AS sends FROM touched) t
  LEFT JOIN ended e USING (process) GROUP BY 1, 2),
sent AS (SELECT to_event AS event, sum(bytes) AS bytes FROM internal.derived_flows WHERE rule = {flow_rule.tcp} GROUP BY 1),
unsent AS (
  SELECT r.event FROM touched r JOIN watched w ON w.connection_id = r.connection_id AND w.object <> r.object LEFT JOIN sent s USING (event)
  WHERE r.transfer IN ('read', 'copy_to') AND r.bytes > 0 AND r.stream_offset BETWEEN w.from_at AND w.to_at - r.bytes
    AND coalesce(s.bytes, 0) < r.bytes)

-- statement alone: kind, likely cause, rule, from_event, to_event.
WITH @contradictions_unlike,
@contradictions_unsent
SELECT {contradiction_kind.different_bytes}::UBIGINT,
  CASE rule WHEN {flow_rule.tcp} THEN {contradiction_cause.port_reuse} ELSE {contradiction_cause.truncated_capture} END::UBIGINT,
  CASE rule WHEN {flow_rule.tcp} THEN {cause_rule.tcp} WHEN {flow_rule.pipe} THEN {cause_rule.pipe} WHEN {flow_rule.unix} THEN {cause_rule.unix} ELSE {cause_rule.file} END::UBIGINT,
  from_event, to_event
FROM (SELECT DISTINCT * FROM unlike ORDER BY ALL)
UNION ALL
SELECT {contradiction_kind.missing_send}::UBIGINT, {contradiction_cause.truncated_capture}::UBIGINT, {cause_rule.tcp}::UBIGINT, NULL::UBIGINT, event
FROM (FROM unsent ORDER BY ALL)
