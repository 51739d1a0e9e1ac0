-- What the help of `dyetrace` and of its verbs sql and live show, one line each.

-- statement calls: how often each call was made.
SELECT name, count(*) FROM events GROUP BY 1

-- statement bytes: bytes by path.
SELECT path, sum(bytes) FROM events GROUP BY 1 ORDER BY 2

-- statement errors: what was looked for and is not there.
SELECT * FROM events WHERE error = 'ENOENT'

-- statement content: who moved these bytes.
FROM events WHERE fingerprint = fingerprint_of('hello')

-- statement times: how sure the time of an event is.
SELECT host, time, time_uncertainty_ns FROM events

-- statement causes: what an event depended on, ten steps back.
FROM causes(4398046511105, 10)

-- statement woken_by: what ended a wait.
FROM woken_by(4398046511105)

-- statement conversations: who waited longest for whom.
FROM conversations() ORDER BY waited_ns DESC
