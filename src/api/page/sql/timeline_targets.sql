-- When calls of one host were made, how long they took and what they act on, or wait for, where it is known. A process that is waited for is known by its pid: the low 22 bits of its id.
-- The calls began between the two $start_ns of the host's CLOCK_BOOTTIME: by that they are found without looking at all events.
SELECT event_id::VARCHAR AS event_id, at_ns, duration_ns, on_cpu_ns, coalesce(nullif(target, '?'), 'process ' || (target_process_id & 4194303)) AS target
FROM selected
WHERE event_id IN (SELECT unnest($events::BIGINT[])) AND start_ns BETWEEN $start_min_ns::BIGINT AND $start_max_ns::BIGINT
