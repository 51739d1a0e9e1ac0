-- How many calls there are, when the first began and the last one ended on the clock that is shown, and by how much that clock is ahead of CLOCK_BOOTTIME at any event, least and most.
WITH seen AS (SELECT time, duration_ns, epoch_ns(time) - start_ns::BIGINT AS ahead_ns, parent_event_id IS NULL AS is_whole FROM events)
SELECT count(*) FILTER (is_whole) AS events, epoch_ns(min(time) FILTER (is_whole)) AS begin_ns,
       max(epoch_ns(time) + coalesce(duration_ns, 0)::BIGINT) FILTER (is_whole) AS end_ns, min(ahead_ns) AS ahead_min_ns, max(ahead_ns) AS ahead_max_ns
FROM seen
