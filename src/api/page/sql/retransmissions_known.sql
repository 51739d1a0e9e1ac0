-- For each host whether anybody looked for what TCP sends again (not an older recorder, another tracer, a kernel that does not tell), and beside it how many
-- segments were sent again on all sockets of the selection.
SELECT host, host IN (SELECT host FROM coverage WHERE source = 'retransmissions' AND state IN ('on', 'partial')) AS is_known,
       (SELECT coalesce(sum(segments), 0)::BIGINT FROM sent_again(since_ns := $from_ns, until_ns := $to_ns)) AS segments
FROM hosts ORDER BY host
