-- What the commands of the prompt of `dyetrace sql` ask.

-- statement tables: table, what it holds.
SELECT "table", comment FROM internal.comments WHERE "column" IS NULL ORDER BY 1;

-- statement columns: column, type, what it holds, of $table.
SELECT c.column_name AS "column", c.data_type AS type, m.comment
FROM duckdb_columns() c LEFT JOIN internal.comments m ON m."table" = c.table_name AND m."column" = c.column_name
WHERE c.schema_name = 'main' AND c.table_name = $table ORDER BY c.column_index;

-- statement commands: one row that tells them.
SELECT '.tables  .schema TABLE  .quit' AS commands;
