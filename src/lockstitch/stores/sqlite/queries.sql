-- Every statement that the backend runs, by its name. {prefix} is what the tables begin with.

-- --- sessions ---

-- name: find
-- Reads what a session is, expired or not.
SELECT session, epoch, revision, start, seq, through, events, size, ttl, expires, settings
FROM {prefix}sessions WHERE tenant = ? AND id = ?

-- name: make
-- Begins a session that has no rows yet.
INSERT INTO {prefix}sessions (
    tenant, id, epoch, revision, start, seq, through, events, size, ttl,
    created, updated, expires, settings
) VALUES (?, ?, ?, 0, ?, ?, ?, 0, 0, 0, ?, ?, NULL, ?)

-- name: advance
-- Writes what every commit changes of a session.
UPDATE {prefix}sessions SET
    revision = ?, seq = ?, through = ?, events = ?, size = ?, updated = ?
WHERE session = ?

-- name: renew
-- Writes all that a commit may change of a session.
UPDATE {prefix}sessions SET
    revision = ?, seq = ?, through = ?, events = ?, size = ?, updated = ?, ttl = ?, expires = ?,
    settings = ?
WHERE session = ?

-- name: touch
-- Lets the time of a session begin anew, unless it is over.
UPDATE {prefix}sessions SET
    ttl = coalesce(:ttl, ttl),
    updated = :now,
    expires = :now + nullif(coalesce(:ttl, ttl), 0)
WHERE tenant = :tenant AND id = :id AND (expires IS NULL OR expires > :now)

-- name: sessions
-- Lists the sessions of a tenant between two ids.
SELECT id, epoch, revision, seq, created, updated, expires, size
FROM {prefix}sessions
WHERE tenant = ? AND id >= ? AND id < ? AND (expires IS NULL OR expires > ?)
ORDER BY id LIMIT ?

-- --- the view ---

-- name: head
-- Reads the head of a session.
SELECT ranges, head FROM {prefix}heads WHERE session = ?

-- name: make_head
-- Writes the first head of a session.
INSERT INTO {prefix}heads (ranges, head, session) VALUES (?, ?, ?)

-- name: set_head
-- Writes the head of a session in place of the one before.
UPDATE {prefix}heads SET ranges = ?, head = ? WHERE session = ?

-- --- the record ---

-- name: append
-- Appends a row.
INSERT INTO {prefix}rows (session, seq, mark, at, meta, payload) VALUES (?, ?, ?, ?, ?, ?)

-- name: rows
-- Reads rows by their numbers, whole.
SELECT seq, meta, payload, mark, at
FROM {prefix}rows WHERE session = ? AND seq BETWEEN ? AND ? ORDER BY seq

-- name: bare_rows
-- Reads rows by their numbers, without payloads.
SELECT seq, meta, NULL, mark, at
FROM {prefix}rows WHERE session = ? AND seq BETWEEN ? AND ? ORDER BY seq

-- name: marked
-- Finds the rows of a batch among those behind a number.
SELECT min(seq), count(*) FROM {prefix}rows WHERE session = ? AND seq > ? AND mark = ?

-- name: weigh
-- Adds up the payloads of some rows.
SELECT coalesce(sum(length(payload)), 0)
FROM {prefix}rows WHERE session = ? AND seq BETWEEN ? AND ?

-- name: purge
-- Empties some rows.
UPDATE {prefix}rows SET meta = x'', payload = x'' WHERE session = ? AND seq BETWEEN ? AND ?

-- --- keys and events ---

-- name: key
-- Reads what was stored under a key of the caller's.
SELECT first, count FROM {prefix}keys WHERE session = ? AND key = ?

-- name: set_key
-- Remembers what was stored under a key of the caller's.
INSERT INTO {prefix}keys (session, key, first, count) VALUES (?, ?, ?, ?)

-- name: event
-- Remembers an event.
INSERT INTO {prefix}events (session, number, body) VALUES (?, ?, ?)

-- name: events
-- Reads events in order, behind the first few.
SELECT body FROM {prefix}events WHERE session = ? AND number > ? ORDER BY number LIMIT ?

-- --- the end of a session ---

-- name: delete_rows
-- Deletes the record of a session.
DELETE FROM {prefix}rows WHERE session = ?

-- name: delete_head
-- Deletes the head of a session.
DELETE FROM {prefix}heads WHERE session = ?

-- name: delete_keys
-- Deletes the keys of a session.
DELETE FROM {prefix}keys WHERE session = ?

-- name: delete_events
-- Deletes the events of a session.
DELETE FROM {prefix}events WHERE session = ?

-- name: delete_session
-- Deletes a session; what belongs to it has been deleted before.
DELETE FROM {prefix}sessions WHERE session = ?

-- name: expired
-- Finds the sessions whose time is over.
SELECT session FROM {prefix}sessions WHERE expires <= ?

-- --- the schema ---

-- name: has_schema
-- Says whether there is a schema of ours at all.
SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '{prefix}schema' COLLATE NOCASE

-- name: make_schema
-- Makes the table that says which migrations were carried out.
CREATE TABLE {prefix}schema (version INTEGER PRIMARY KEY, at REAL NOT NULL)

-- name: schema
-- Reads the newest version of the schema.
SELECT coalesce(max(version), 0) FROM {prefix}schema

-- name: set_schema
-- Remembers that a migration was carried out.
INSERT INTO {prefix}schema (version, at) VALUES (?, ?)
