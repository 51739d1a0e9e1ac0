-- Functions for questions, also for those that are answered without a trace. generate.py puts them into views.sql, before prelude.sql.
-- The greatest power of two that is no greater: `GROUP BY power_of_two(duration_ns)` is a histogram. 0 of what is not positive.
CREATE OR REPLACE MACRO power_of_two(x) AS CASE WHEN x > 0 THEN 1::HUGEINT << (length(bin(x)) - 1) WHEN x <= 0 THEN 0::HUGEINT END;
