-- The columns of `events`, which a condition may name.
SELECT column_name FROM (DESCRIBE SELECT * FROM events LIMIT 0)
