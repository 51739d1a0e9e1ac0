-- What was derived of causes, as happened_before() and its like hold it in memory.

-- statement edges: event, thread and time that it comes from; event, thread and time that it goes to; rank of both; rule.
SELECT from_event, from_thread, from_at, to_event, to_thread, to_at, from_rank, to_rank, rule::UBIGINT FROM internal.derived_edges

-- statement places: event, thread, begin, end, logical order.
SELECT event, thread, begin_ns, end_ns, logical_order FROM internal.derived_causal_clocks

-- statement make_handovers: has the table made; gives no rows.
SELECT 1 FROM internal.derived_handovers LIMIT 0

-- statement make_edges: the same, of edges.
SELECT 1 FROM internal.derived_edges LIMIT 0

-- statement hosts: those of which there may be events.
SELECT host_index::UBIGINT FROM hosts ORDER BY 1
