-- file_moves(object): where an object was read and written in the selection. What copies from it reads it, what copies to it writes it.
CREATE OR REPLACE TEMP MACRO file_moves(object) AS TABLE
SELECT at_ns, CASE WHEN verb = 'wrote' THEN 'write' ELSE 'read' END AS access, file_offset AS first_byte, bytes, fingerprint, process, process_id, tid, duration_ns, event_id
FROM selected WHERE object_id = object AND verb IN ('read', 'wrote', 'copied') AND bytes > 0 AND file_offset IS NOT NULL
UNION ALL SELECT at_ns, 'write', file_offset2, bytes, fingerprint, process, process_id, tid, duration_ns, event_id
FROM selected WHERE object2_id = object AND verb = 'copied' AND bytes > 0 AND file_offset2 IS NOT NULL;
