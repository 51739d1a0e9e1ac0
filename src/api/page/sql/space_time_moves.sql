-- What the calls were that space-time shows, by their ids.
SELECT event_id, host, at_ns, verb, name, process, coalesce(target, '') AS target, bytes, fingerprint, coalesce(dye_hits, 0) AS dyes
FROM selected WHERE event_id IN (SELECT unnest($events::BIGINT[]))
