-- What was derived of causes, as happened_before() and its like hold it in memory.

-- statement edges: event, thread and time that it comes from; event, thread and time that it goes to; rank of both; rule.
SELECT from_event, from_thread, from_at, to_event, to_thread, to_at, from_rank, to_rank, rule::UBIGINT FROM internal.derived_edges

-- statement places: event, thread, begin, end, logical order. A twin stands where the call stands that it is a second record of.
SELECT event, thread, begin_ns, end_ns, logical_order FROM internal.derived_causal_clocks
UNION ALL SELECT id, thread, begin_ns, end_ns, logical_order FROM internal.derived_twins JOIN internal.derived_causal_clocks ON event = first_id WHERE kind = {item_kind.event}

-- statement make_handovers: has the table made; gives no rows.
SELECT 1 FROM internal.derived_handovers LIMIT 0

-- statement make_edges: the same, of edges.
SELECT 1 FROM internal.derived_edges LIMIT 0

-- statement hosts: kernels of which there may be events, each by its first host.
SELECT DISTINCT kernel::UBIGINT FROM internal.kernels ORDER BY 1
