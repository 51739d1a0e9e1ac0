-- Pages of files that were not in memory, by program.
SELECT comm, count(*) AS pages
FROM tracepoint('filemap', 'mm_filemap_add_to_page_cache') GROUP BY ALL ORDER BY pages DESC LIMIT 30
