-- The receives that waited longest: what a service is slow for.
SELECT at_ns, process, target, name, duration_ns, waited_ns, bytes, event_id FROM socket_waits() ORDER BY waited_ns DESC, event_id LIMIT 12
