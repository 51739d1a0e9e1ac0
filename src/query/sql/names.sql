-- What objects and events are called, and what is called so.

-- statement objects_called: objects that had the name $path at some time.
SELECT DISTINCT object_id FROM object_names WHERE path = $path ORDER BY 1

-- statement alike: names that may have been meant. $name: / and the last component; at most $most.
SELECT DISTINCT path FROM object_names WHERE ends_with(path, $name) ORDER BY 1 LIMIT $most

-- statement of_objects: object, what people call it; of $ids, numbers with commas between.
SELECT o.object_id, coalesce(s.ends, o.path, o.object_type || ' ' || o.object_id)
FROM objects o LEFT JOIN (
  SELECT object_id, any_value(local_address || ':' || local_port || '→' || remote_address || ':' || remote_port) AS ends
  FROM sockets GROUP BY object_id) s USING (object_id)
WHERE o.object_id IN ($ids)

-- statement of_events: event, who did what to what; of $ids, numbers with commas between.
SELECT event_id, concat_ws(' ', _on_host(host, comm || '[' || pid || ']'), name, path) FROM events WHERE event_id IN ($ids)

-- statement parts_of_events: event, who, what, path, path2, whether it is of a socket, its own end, the other end, start_ns; of $ids, numbers with commas between.
SELECT event_id, _on_host(host, comm || '[' || pid || ']'), name, path, path2, object_type = 'socket',
       coalesce(local_address, '?') || ':' || local_port, coalesce(remote_address, '?') || ':' || remote_port, start_ns
FROM events WHERE event_id IN ($ids)
