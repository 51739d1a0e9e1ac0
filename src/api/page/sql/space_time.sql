-- What space-time shows, by numbers alone; what they are called space_time_moves.sql says. It goes on where space_time_cluster.sql, space_time_raw.sql or space_time_order.sql ends,
-- with `moments`: the selection, each event with its x.
--
--   $lanes             'process' or 'node'
--   $is_all            calls without flows, too
--   $window_begin, $window_end   of x; NULL: all
--   $event             that is shown in any case; NULL: none
--   $lanes_max, $lines_max, $inner_max, $moves_max
--
-- A row is of a kind, which says what its columns a, b, m, n, o, s and t are:
--
--   line    flow between lanes: from_event, to_event, from_position, to_position, bytes, rule, certainty
--   inner   flow within a lane: the same
--   move    call: event_id, , x, , , lane
--   lane    , , moves, messages, first x, lane, its process in words
--   all     , , lanes in all, lines in all
--   span    , , first x, last x
--
-- `moved` and `flowing` are made once. The lanes are the busiest ones, each with those that it speaks with: a lane counts as much as the busiest one that it speaks with.
-- If there are more lines and calls than are shown, some are taken that are spread evenly, the same each time.
moved AS MATERIALIZED (
  SELECT event_id, CASE WHEN $lanes = 'node' THEN coalesce(node, host) ELSE process_id::VARCHAR END AS lane, x FROM moments
  WHERE bytes > 0 AND verb IN ('read', 'wrote', 'copied')
        AND x BETWEEN coalesce($window_begin, -9223372036854775807) AND coalesce($window_end, 9223372036854775807)),
flowing AS MATERIALIZED (
  SELECT f.from_event, f.to_event, f.from_position, f.to_position, f.bytes, f.rule, f.certainty, a.lane AS from_lane, b.lane AS to_lane
  FROM flows f JOIN moved a ON a.event_id = f.from_event JOIN moved b ON b.event_id = f.to_event),
shown AS (
  SELECT event_id, lane, x FROM moved WHERE $is_all OR event_id IN (SELECT from_event FROM flowing UNION ALL SELECT to_event FROM flowing)),
spoken AS (
  SELECT lane, other, count(*) AS messages
  FROM (SELECT from_lane AS lane, to_lane AS other FROM flowing WHERE from_lane <> to_lane
        UNION ALL SELECT to_lane, from_lane FROM flowing WHERE from_lane <> to_lane) GROUP BY ALL),
busy AS (SELECT lane, sum(messages)::BIGINT AS messages FROM spoken GROUP BY lane),
ranked AS (
  SELECT s.lane, any_value(own.messages) AS messages, max(p.messages) AS best, arg_max(s.other, (p.messages, s.other)) AS partner
  FROM spoken s JOIN busy own ON own.lane = s.lane JOIN busy p ON p.lane = s.other GROUP BY s.lane),
found AS (SELECT lane, count(*) AS moves, min(x) AS first, max(x) AS last FROM shown GROUP BY lane),
lanes AS MATERIALIZED (
  SELECT f.lane, f.moves, coalesce(r.messages, 0) AS messages, f.first FROM found f LEFT JOIN ranked r ON r.lane = f.lane
  ORDER BY greatest(r.messages, r.best) DESC NULLS LAST,
           CASE WHEN r.best > r.messages THEN r.partner WHEN r.best = r.messages THEN least(f.lane, r.partner) ELSE f.lane END,
           messages DESC, moves DESC, f.lane LIMIT $lanes_max),
flows_of_lanes AS MATERIALIZED (
  SELECT from_event, to_event, from_position, to_position, bytes, rule, certainty, from_lane <> to_lane AS is_line FROM flowing
  WHERE from_lane IN (SELECT lane FROM lanes) AND to_lane IN (SELECT lane FROM lanes)),
lines AS MATERIALIZED (
  SELECT from_event, to_event, from_position, to_position, bytes, rule, certainty FROM flows_of_lanes WHERE is_line ORDER BY hash(from_event, to_event), from_event, to_event LIMIT $lines_max),
inner_flows AS (
  SELECT from_event, to_event, from_position, to_position, bytes, rule, certainty FROM flows_of_lanes WHERE NOT is_line ORDER BY hash(from_event, to_event), from_event, to_event LIMIT $inner_max),
ends AS (SELECT from_event AS e FROM lines UNION SELECT to_event FROM lines),
moves AS (
  SELECT event_id, lane, x FROM shown WHERE lane IN (SELECT lane FROM lanes)
  ORDER BY event_id = $event::BIGINT DESC, event_id IN (SELECT e FROM ends) DESC, hash(event_id), event_id LIMIT $moves_max)
SELECT 'line' AS kind, from_event AS a, to_event AS b, from_position AS m, to_position AS n, bytes AS o, rule AS s, certainty AS t FROM lines
UNION ALL SELECT 'inner', from_event, to_event, from_position, to_position, bytes, rule, certainty FROM inner_flows
UNION ALL SELECT 'move', event_id, NULL, x, NULL, NULL, lane, NULL FROM moves
UNION ALL SELECT 'lane', NULL, NULL, moves, messages, first, lane, (SELECT process FROM _page_processes p WHERE p.process_id::VARCHAR = lane) FROM lanes
UNION ALL SELECT 'all', NULL, NULL, (SELECT count(*) FROM found), (SELECT count(*) FROM flows_of_lanes WHERE is_line), NULL, NULL, NULL
UNION ALL SELECT 'span', NULL, NULL, (SELECT min(first) FROM found), (SELECT max(last) FROM found), NULL, NULL, NULL
