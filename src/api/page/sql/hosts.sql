-- Names of the hosts that were recorded.
SELECT host FROM hosts ORDER BY host
