-- What ended a wait: woken_by() (docs/causality.md).
SELECT rule, event_id::VARCHAR AS event_id, start_ns::VARCHAR AS start_ns, what, poll_events FROM woken_by($event::BIGINT)
