-- The same, of many: how much was moved in each box of $step nanoseconds and the $boxes-th part of the file.
WITH moves AS (SELECT at_ns, access, first_byte, bytes FROM file_moves($object::BIGINT)),
bounds AS (SELECT greatest(max(first_byte + bytes) / $boxes, 1)::BIGINT AS high FROM moves)
SELECT at_ns - at_ns % $step AS at_ns, first_byte - first_byte % high AS first_byte, any_value(high) AS height, sum(bytes)::BIGINT AS bytes, count(*) AS calls
FROM moves, bounds WHERE access = $access GROUP BY 1, 2
