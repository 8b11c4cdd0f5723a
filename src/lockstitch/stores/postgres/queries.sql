-- Every statement that is sent, one a name. A reply has its columns in this order; rows are read by
-- `lockstitch.stores.postgres.replies`.

-- name: append
-- Commits what most commits are: rows, perhaps a note.
SELECT {append}(
    %(name)s, %(id)s, %(mark)s, %(epoch)s, %(revision)s, %(seq)s, %(metas)s, %(payloads)s, %(size)s,
    %(look)s, %(exclusive)s, %(born)s, %(after)s, %(initial)s, %(note)s
)

-- name: commit
-- Commits whatever there is; replies as `append` does.
SELECT {commit}(
    %(name)s, %(id)s, %(mark)s, %(epoch)s, %(revision)s, %(seq)s, %(metas)s, %(payloads)s, %(size)s,
    %(look)s, %(exclusive)s, %(born)s, %(after)s, %(initial)s, %(note)s,
    %(key)s, %(settings)s, %(ttl)s,
    %(head)s, %(ranges)s, %(through)s, %(strict)s, %(event)s, %(purge)s
)

-- name: view
-- Reads the session, as the row at place 0 in columns that fit, and behind it the rows of its view.
WITH s AS MATERIALIZED (
    SELECT id, epoch, revision, seq, settings, head, ranges, through, expires,
        coalesce(
            epoch = %(epoch)s AND revision = %(revision)s AND seq >= %(seq)s, false
        ) AS same
    FROM {sessions}
    WHERE name = %(name)s AND expires > clock_timestamp()
)
SELECT 0 AS place, seq, epoch AS mark, date_part('epoch', nullif(expires, 'infinity')) AS at, settings AS meta,
    CASE WHEN NOT same THEN head END AS payload, revision, through
FROM s
UNION ALL
SELECT p.place, r.seq, r.mark, date_part('epoch', r.at), r.meta,
    CASE WHEN %(payloads)s THEN r.payload END, NULL, NULL
FROM {pairs}((SELECT ranges FROM s WHERE NOT same)) AS p
JOIN {rows} AS r ON r.session = (SELECT id FROM s) AND r.seq BETWEEN p.first AND p.last
UNION ALL
SELECT 2147483647, r.seq, r.mark, date_part('epoch', r.at), r.meta,
    CASE WHEN %(payloads)s THEN r.payload END, NULL, NULL
FROM {rows} AS r
WHERE r.session = (SELECT id FROM s)
    -- The same number as TAIL in lockstitch.stores.base.
    AND r.seq > (SELECT CASE WHEN same THEN %(seq)s ELSE greatest(through, seq - 4096) END FROM s)

-- name: rows
-- Reads rows of the record by their numbers.
SELECT r.seq, r.mark, date_part('epoch', r.at), r.meta, CASE WHEN %(payloads)s THEN r.payload END
FROM {rows} AS r
WHERE r.session = (
        SELECT id FROM {sessions}
        WHERE name = %(name)s AND expires > clock_timestamp()
    )
    AND r.seq BETWEEN %(first)s AND %(last)s
ORDER BY r.seq

-- name: events
-- Reads events in order.
SELECT e.body
FROM {events} AS e
WHERE e.session = (
        SELECT id FROM {sessions}
        WHERE name = %(name)s AND expires > clock_timestamp()
    )
    AND e.number > %(after)s
ORDER BY e.number
LIMIT %(limit)s

-- name: sessions
-- Lists sessions of a tenant. What the index holds of an id is compared before the id itself; no
-- escaped text has a letter that comes behind `~`.
SELECT i.id, s.epoch, s.revision, s.seq, date_part('epoch', s.created),
    date_part('epoch', s.updated), date_part('epoch', nullif(s.expires, 'infinity')), s.size
FROM {ids} AS i JOIN {sessions} AS s ON s.name = i.name
WHERE i.tenant = %(tenant)s
    AND left(i.id, 400) >= left(%(start)s, 400)
    AND left(i.id, 400) < left(%(prefix)s, 400) || '~'
    AND starts_with(i.id, %(prefix)s)
    AND (%(after)s::text IS NULL OR i.id > %(after)s::text)
    AND s.expires > clock_timestamp()
ORDER BY left(i.id, 400), i.id
LIMIT %(limit)s

-- name: delete
-- Removes a session, and says whether there was one.
SELECT {delete}(%(name)s)

-- name: touch
-- Lets the time of a session begin anew, and says whether there is one.
SELECT {touch}(%(name)s, %(ttl)s)

-- name: sweep
-- Removes so many sessions that have expired, and says how many.
SELECT {sweep}(%(limit)s)

-- name: schema_there
-- Says whether there is a schema of any version.
SELECT to_regclass(%(table)s::text) IS NOT NULL

-- name: schema_version
-- Says which version the schema is.
SELECT coalesce(max(version), 0) FROM {schema}
