-- The selection. Bounds of the time are told a second time as those of start_ns, which is on disk: what lies outside of them is left out before anything is looked up for it.

-- statement view: $events: the table or view of which it is a part.
CREATE OR REPLACE TEMP VIEW selected AS SELECT * FROM $events WHERE $condition

-- statement from: $condition, and nothing that ended before $from_ns, which is $start_ns on the clock of the disk.
($condition) AND at_ns + coalesce(duration_ns, 0)::BIGINT >= $from_ns AND start_ns::BIGINT + coalesce(duration_ns, 0)::BIGINT >= $start_ns

-- statement to: $condition, and nothing that began after $to_ns.
($condition) AND at_ns <= $to_ns AND start_ns::BIGINT <= $start_ns
