-- What was read of an object, in order. The n-th reading of a place by a process is of epoch n; those of the first $epochs are told.
SELECT epoch, first_byte, bytes, fingerprint::VARCHAR AS fingerprint, process
FROM (SELECT first_byte, bytes, fingerprint, process, at_ns, event_id,
             row_number() OVER (PARTITION BY process_id, first_byte ORDER BY at_ns, event_id) AS epoch
      FROM file_moves($object::BIGINT) WHERE access = 'read')
WHERE epoch <= $epochs ORDER BY epoch, at_ns, event_id
