-- round_trips(): a row per receive of the selection that follows a send on the same socket, by the same process.
CREATE OR REPLACE TEMP MACRO round_trips() AS TABLE
SELECT process_id, process, peer, object_id, connection_id, at_ns + duration_ns::BIGINT - trip_ns AS sent_at_ns, trip_ns, waited_ns, bytes, sent_event_id, event_id
FROM socket_calls() WHERE trip_ns IS NOT NULL;
