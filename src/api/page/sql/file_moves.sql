-- Where an object was read, or written: $access.
SELECT at_ns, first_byte, bytes, process || ' ' || tid AS thread FROM file_moves($object::BIGINT) WHERE access = $access ORDER BY at_ns
