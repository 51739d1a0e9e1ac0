-- file_uses(): the calls of the selection that acted on an object, each once for each object: a copy reads the one and writes the other, whichever of them is the call's first.
--
-- `uses` is 0 in the second row of a call that copies within one object, so that it is counted once; its time stands in the first row.
CREATE OR REPLACE TEMP MACRO file_uses() AS TABLE
SELECT event_id, object_id, object_type, path, host, process_id, process, tid, 1 AS uses, bytes, class, error, duration_ns,
       CASE WHEN transfer IN ('read', 'peek', 'copy_to', 'tee') THEN 'read' WHEN transfer IN ('write', 'copy_from') THEN 'wrote' ELSE verb END AS verb
FROM selected WHERE object_id IS NOT NULL
UNION ALL
SELECT event_id, object2_id, (SELECT any_value(h.object_type) FROM internal.handles h WHERE h.object_id = object2_id), path2, host, process_id, process, tid,
       CASE WHEN object_id = object2_id THEN 0 ELSE 1 END, bytes, class, error, CASE WHEN object_id = object2_id THEN NULL ELSE duration_ns END,
       CASE WHEN transfer IN ('copy_to', 'tee') THEN 'wrote' WHEN transfer = 'copy_from' THEN 'read' END
FROM selected WHERE object2_id IS NOT NULL AND (object_id IS DISTINCT FROM object2_id OR transfer IN ('copy_to', 'copy_from', 'tee'));
