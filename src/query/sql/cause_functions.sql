-- What statements say of causes. The first three take numbers of any type. Each step of causes() goes to the last gifts that the giver's thread had got before it gave.
CREATE OR REPLACE MACRO happened_before(a, b) AS _happened_before(a::UBIGINT, b::UBIGINT);
CREATE OR REPLACE MACRO concurrent(a, b) AS _concurrent(a::UBIGINT, b::UBIGINT);
CREATE OR REPLACE MACRO logical_order(event) AS _logical_order(event::UBIGINT)::BIGINT;
CREATE OR REPLACE MACRO causes(of_event, depth_max) AS TABLE
WITH RECURSIVE walk AS (
    SELECT 0 AS depth, NULL::UBIGINT AS event, NULL::UBIGINT AS led_to, 0::UTINYINT AS rule, thread, end_ns + 1 AS before_ns
    FROM internal.derived_causal_clocks WHERE event = of_event::UBIGINT
  UNION SELECT w.depth + 1, e.from_event, e.to_event, e.rule, e.from_thread, e.from_at
    FROM walk w JOIN internal.derived_edges e ON e.to_thread = w.thread AND e.to_at < w.before_ns WHERE w.depth < depth_max
    QUALIFY e.to_at = max(e.to_at) OVER (PARTITION BY w.thread, w.before_ns))
SELECT min(depth) AS depth, event::BIGINT AS event_id, _cause_rule_name(rule) AS rule, led_to::BIGINT AS led_to FROM walk WHERE depth > 0
GROUP BY event, led_to, rule ORDER BY 1, 2, 4;
