-- socket_waits(): the calls of the selection that waited for a socket, and for how long.
CREATE OR REPLACE TEMP MACRO socket_waits() AS TABLE
SELECT at_ns, process, target, name, duration_ns, coalesce(duration_ns - on_cpu_ns, 0)::BIGINT AS waited_ns, bytes, event_id
FROM selected WHERE object_type = 'socket' AND verb IS NOT NULL AND coalesce(duration_ns - on_cpu_ns, 0)::BIGINT > 0;
