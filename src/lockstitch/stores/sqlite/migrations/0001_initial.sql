-- The first schema. Every table begins with the prefix, so that a database can be shared.

-- One session: its version, and what every operation on it needs to know.
CREATE TABLE {prefix}sessions (
    session INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,            -- lockstitch.stores.names.tenant_name
    id TEXT NOT NULL,                -- lockstitch.stores.names.escaped, whole: lists go by its beginning
    epoch TEXT NOT NULL,             -- escaped
    revision INTEGER NOT NULL,       -- how often the head was written
    start INTEGER NOT NULL,          -- the number behind which its rows begin
    seq INTEGER NOT NULL,            -- the number of its newest row
    through INTEGER NOT NULL,        -- the rows above this one follow the head
    events INTEGER NOT NULL,         -- how many there are
    size INTEGER NOT NULL,           -- the bytes of its payloads
    ttl REAL NOT NULL,               -- in seconds; 0 for never
    created REAL NOT NULL,           -- in seconds since 1970, as the next two
    updated REAL NOT NULL,
    expires REAL,
    settings BLOB NOT NULL,
    UNIQUE (tenant, id)
);

-- What a sweep looks for; sessions that never expire are not in it.
CREATE INDEX {prefix}expiring ON {prefix}sessions (expires) WHERE expires IS NOT NULL;

-- The head of a session that has one. It is apart from the session because an append writes the
-- row of the session anew, and a head may be large.
CREATE TABLE {prefix}heads (
    session INTEGER PRIMARY KEY,
    ranges BLOB NOT NULL,            -- [first,last,first,last,...], as JSON
    head BLOB NOT NULL
);

-- The record. A table with rowids: without them, rows of more than a quarter of a page spill into
-- pages of their own, which made an append of two rows of 1.5 KB take twice as long.
CREATE TABLE {prefix}rows (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    mark TEXT NOT NULL,              -- escaped
    at REAL NOT NULL,
    meta BLOB NOT NULL,
    payload BLOB NOT NULL,
    PRIMARY KEY (session, seq)
);

-- The callers' own keys, and what was stored under each.
CREATE TABLE {prefix}keys (
    session INTEGER NOT NULL,
    key TEXT NOT NULL,               -- escaped
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (session, key)
) WITHOUT ROWID;

-- What is remembered of each session.
CREATE TABLE {prefix}events (
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,         -- 1, 2, 3, ...
    body BLOB NOT NULL,
    PRIMARY KEY (session, number)
) WITHOUT ROWID;
