-- socket_uses(): the calls of the selection that moved bytes through a socket, or would have, each once for each socket: it may be the second object of a call (splice), and `transfer`
-- is what was done to it. The ends of the call are then those of that socket.
CREATE OR REPLACE TEMP MACRO socket_uses() AS TABLE
SELECT process_id, process, object_id, connection_id, host, target, at_ns, event_id, greatest(coalesce(bytes, 0), 0) AS bytes, verb, transfer, error,
       coalesce(duration_ns, 0) AS duration_ns, coalesce(duration_ns - on_cpu_ns, 0) AS waited_ns
FROM selected_calls() WHERE object_type = 'socket' AND transfer IS NOT NULL
UNION ALL
SELECT process_id, process, object2_id, connection_id, host, _target_label(name, 'socket', path2, local_port, remote_address, remote_port), at_ns, event_id,
       greatest(coalesce(bytes, 0), 0), verb, CASE transfer WHEN 'copy_from' THEN 'copy_to' ELSE 'copy_from' END, error,
       coalesce(duration_ns, 0), coalesce(duration_ns - on_cpu_ns, 0)
FROM selected_calls() WHERE transfer IN ('copy_to', 'copy_from', 'tee') AND object_type <> 'socket' AND object2_id IN (SELECT object_id FROM sockets);
