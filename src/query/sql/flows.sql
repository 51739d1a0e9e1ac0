-- Flows, as reports and pictures read them. The numbers of a rule and of a certainty grow with what they say (schema/enums.toml).

-- statement make: has the table made, which can be cancelled; gives no rows.
SELECT bytes FROM flows LIMIT 0

-- statement pieces: from_event, to_event, offset of the piece in each, its position in what each moved, bytes, rule, certainty; from $certainty on.
SELECT from_event, to_event, from_offset, to_offset, from_position, to_position, bytes, rule::UBIGINT AS rule, certainty::UBIGINT AS certainty
FROM internal.derived_flows WHERE certainty >= $certainty

-- statement arrows: from_event, to_event, bytes, whether it is certain; at most $most.
SELECT from_event, to_event, bytes, (certainty = {certainty.certain})::UBIGINT FROM internal.derived_flows LIMIT $most

-- statement gaps: host, begin, end, events lost.
SELECT host_index, begin_ns, end_ns, lost FROM internal.raw_gap
