-- file_moves(object): where an object was read and written in the selection. What takes bytes out of it to copy them reads it, what copies bytes into it writes it.
CREATE OR REPLACE TEMP MACRO file_moves(object) AS TABLE
SELECT at_ns, CASE WHEN transfer IN ('write', 'copy_from') THEN 'write' ELSE 'read' END AS access, file_offset AS first_byte, bytes, fingerprint, process, process_id, tid, duration_ns, event_id
FROM selected WHERE object_id = object AND transfer IN ('read', 'write', 'copy_to', 'copy_from') AND bytes > 0 AND file_offset IS NOT NULL
UNION ALL SELECT at_ns, CASE WHEN transfer = 'copy_to' THEN 'write' ELSE 'read' END, file_offset2, bytes, fingerprint, process, process_id, tid, duration_ns, event_id
FROM selected WHERE object2_id = object AND transfer IN ('copy_to', 'copy_from') AND bytes > 0 AND file_offset2 IS NOT NULL;
