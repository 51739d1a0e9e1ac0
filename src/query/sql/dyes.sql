-- Dyes by name, for `follow` and `verify-copies`.

-- statement names: names of dyes; at most $most.
SELECT DISTINCT dye FROM dyes ORDER BY 1 LIMIT $most

-- statement count: one number: how many dyes are called $dye.
SELECT count(*) FROM dyes WHERE dye = $dye

-- statement first_event: the event that first had met $dye when it ended.
SELECT e.event_id FROM dye_hits d JOIN events e USING (event_id) WHERE d.dye = $dye
ORDER BY epoch_ns(e.time) + coalesce(e.duration_ns, 0), 1 LIMIT 1
