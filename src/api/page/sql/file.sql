-- What an object is: its last known name, its type, its host, how many names it had.
SELECT path, object_type, host, names FROM objects WHERE object_id = $object::BIGINT
