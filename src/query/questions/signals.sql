-- Signals, by number and by whom they are for.
SELECT arguments.sig AS signal, arguments.comm AS receiver, comm AS sender, count(*) AS times
FROM tracepoint('signal', 'signal_generate') GROUP BY ALL ORDER BY times DESC LIMIT 30
