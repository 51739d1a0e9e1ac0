-- space_time.sql in logical order: x is an event's number in it.
WITH moments AS (SELECT event_id, process_id, node, host, bytes, verb, logical_order(event_id)::BIGINT AS x FROM selected),
