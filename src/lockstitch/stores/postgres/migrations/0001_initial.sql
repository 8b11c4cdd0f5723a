-- Sessions, their rows, the keys that were used, their events; and the functions that write them.
--
-- Words in braces are names of ours, with their schema and prefix. A migration that was released is
-- never changed: older processes go on calling its functions while newer ones are started.
--
-- No foreign keys: each appended row would look its session up once more. Whoever writes or removes
-- anything of a session has locked its row in {sessions} first, so that nothing is left over.

CREATE TABLE {schema} (
    version integer PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- One index, and no other: each one is opened by each commit. What every commit changes comes first:
-- the less of a row differs, the less goes into the log. Room is left (fillfactor) for a row to be
-- written anew beside itself, which leaves the index alone. Nothing is NULL, so that columns are
-- where they always are.
CREATE TABLE {sessions} (
    id bigint GENERATED ALWAYS AS IDENTITY,
    seq bigint NOT NULL,
    size bigint NOT NULL DEFAULT 0,
    events bigint NOT NULL DEFAULT 0,
    updated timestamptz NOT NULL,
    expires timestamptz NOT NULL DEFAULT 'infinity',
    revision bigint NOT NULL DEFAULT 0,
    through bigint NOT NULL,
    created timestamptz NOT NULL,
    ttl double precision NOT NULL DEFAULT 0,
    due integer NOT NULL DEFAULT 2147483647,
    name text COLLATE "C" PRIMARY KEY,
    epoch text COLLATE "C" NOT NULL,
    settings bytea NOT NULL,
    head bytea NOT NULL DEFAULT '',
    ranges bigint[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 70);

-- What sessions are found by other than their name. `due` is the hour of `expires`, counted since
-- 1970: it changes once an hour and not with every commit. {sessions} has it too, to see whether it
-- has changed.
CREATE TABLE {ids} (
    name text COLLATE "C" PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    due integer NOT NULL DEFAULT 2147483647
);

-- An index takes no more than 2,700 bytes an entry, and an id may be longer.
CREATE INDEX ON {ids} (tenant, left(id, 400));
CREATE INDEX ON {ids} (due) WHERE due < 2147483647;

CREATE TABLE {rows} (
    session bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamptz NOT NULL,
    mark text COLLATE "C" NOT NULL,
    meta bytea NOT NULL,
    payload bytea NOT NULL,
    PRIMARY KEY (session, seq)
);

-- Halves what is large in a fourth of the time that PostgreSQL's own method takes, where it is built
-- in. Payloads that are sealed are let alone by both after their first kilobyte.
DO $lz4$
BEGIN
    ALTER TABLE {rows} ALTER COLUMN payload SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END
$lz4$;

CREATE TABLE {keys} (
    session bigint NOT NULL,
    key bytea NOT NULL,
    first bigint NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (session, key)
);

CREATE TABLE {events} (
    session bigint NOT NULL,
    number bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (session, number)
);


-- Packs a row without its payload, as {commit} replies it.
CREATE FUNCTION {packed}(p_seq bigint, p_at timestamptz, p_mark text, p_meta bytea) RETURNS bytea
LANGUAGE sql STABLE AS $body$
    SELECT int8send(p_seq) || float8send(date_part('epoch', p_at))
        || int4send(octet_length(p_mark)) || convert_to(p_mark, 'UTF8')
        || int4send(octet_length(p_meta)) || p_meta
$body$;


-- Appends rows, perhaps with a note: what most commits do, and mostly to exactly what was expected.
-- Then no row is above it that could carry the mark, and no check can fail: one UPDATE locks,
-- compares and counts. It finds nothing where anything is otherwise, and then all is looked at in
-- order, by {commit}.
--
-- The reply is one value, since a reply of several columns takes a third longer than all the rest:
-- a zero byte, when the session expires, up to which row the head goes, the settings; whatever else
-- there is to say is as expected. Or it is that of {commit}.
CREATE FUNCTION {append}(
    p_name text,
    p_id text,
    p_mark text,
    p_epoch text,
    p_revision bigint,
    p_seq bigint,
    p_metas bytea[],
    p_payloads bytea[],
    p_size bigint,
    p_look boolean,
    p_exclusive boolean,
    p_born text,
    p_after bigint,
    p_initial bytea,
    p_note bytea
) RETURNS bytea LANGUAGE plpgsql AS $body$
DECLARE
    v_id bigint;
    v_now timestamptz;
    v_events bigint;
    v_expires timestamptz;
    v_due integer;
    v_settings bytea;
    v_through bigint;
BEGIN
    UPDATE {sessions} AS t
    SET seq = t.seq + cardinality(p_metas),
        size = t.size + p_size,
        events = t.events + (p_note IS NOT NULL)::integer,
        updated = clock_timestamp(),
        expires = CASE WHEN t.ttl > 0
            THEN clock_timestamp() + make_interval(secs => t.ttl) ELSE 'infinity' END
    WHERE t.name = p_name AND t.seq = p_seq AND t.revision = p_revision AND t.epoch = p_epoch
        AND t.expires > clock_timestamp()
    RETURNING t.id, t.updated, t.events, t.expires, t.due, t.settings, t.through
    INTO v_id, v_now, v_events, v_expires, v_due, v_settings, v_through;
    IF NOT FOUND THEN
        RETURN {commit}(
            p_name, p_id, p_mark, p_epoch, p_revision, p_seq, p_metas, p_payloads, p_size, p_look,
            p_exclusive, p_born, p_after, p_initial, p_note, NULL, NULL, NULL,
            NULL, NULL, NULL, NULL, NULL, NULL
        );
    END IF;
    INSERT INTO {rows} (session, seq, at, mark, meta, payload)
    SELECT v_id, p_seq + u.place, v_now, p_mark, u.meta, u.payload
    FROM unnest(p_metas, p_payloads) WITH ORDINALITY AS u (meta, payload, place);
    IF p_note IS NOT NULL THEN
        INSERT INTO {events} (session, number, body) VALUES (v_id, v_events, p_note);
    END IF;
    IF v_expires < 'infinity' THEN
        PERFORM {due}(p_name, v_due, v_expires);
    END IF;
    RETURN '\x00'::bytea || float8send(date_part('epoch', v_expires)) || int8send(v_through)
        || v_settings;
END
$body$;


-- Carries out what `lockstitch.stores.commit` says, check by check, in the same order.
--
-- p_epoch, p_revision, p_seq    the version that was expected; NULL for none
-- p_born, p_after, p_initial    epoch, start and settings of a session that has to be made
-- p_key                         the hash of the caller's own key; NULL for none
-- p_head                        NULL where there is no new head
--
-- The reply begins with one byte: 1 stored, 2 stored with the new head, 3 replayed, 4 conflict,
-- 5 gone. Where there is a session follow its revision, its newest row, up to which row the head
-- goes, the first of the rows and how many, when it expires, and behind the length of each: its
-- epoch, its settings, its head (length -1 where the caller has it). The rest are rows ({packed}).
CREATE FUNCTION {commit}(
    p_name text,
    p_id text,
    p_mark text,
    p_epoch text,
    p_revision bigint,
    p_seq bigint,
    p_metas bytea[],
    p_payloads bytea[],
    p_size bigint,
    p_look boolean,
    p_exclusive boolean,
    p_born text,
    p_after bigint,
    p_initial bytea,
    p_note bytea,
    p_key bytea,
    p_settings bytea,
    p_ttl double precision,
    p_head bytea,
    p_ranges bigint[],
    p_through bigint,
    p_strict boolean,
    p_event bytea,
    p_purge bigint[]
) RETURNS bytea LANGUAGE plpgsql AS $body$
DECLARE
    s {sessions};
    o_outcome integer := 1;
    o_through bigint := 0;
    o_first bigint;
    o_count bigint := cardinality(p_metas);
    o_head bytea;
    o_rows bytea := '';
    v_seen bigint;
    v_now timestamptz;
    v_there boolean;
    v_made boolean := false;
    v_same boolean;
    v_start bigint;
BEGIN
    -- Each statement sees what was there when it began. So what another has made or removed while
    -- this one waited for the lock is found when it is looked for again.
    LOOP
        SELECT * INTO s FROM {sessions} AS t WHERE t.name = p_name FOR UPDATE;
        v_there := FOUND;
        v_now := clock_timestamp();
        EXIT WHEN v_there AND s.expires > v_now;
        IF p_exclusive AND p_seq IS NOT NULL THEN
            RETURN '\x04'::bytea;
        END IF;
        IF o_count = 0 AND p_settings IS NULL THEN
            RETURN '\x05'::bytea;
        END IF;
        IF v_there THEN
            PERFORM {erase}(ARRAY[s.name]);
        END IF;
        INSERT INTO {sessions} (seq, updated, through, created, name, epoch, settings)
        VALUES (p_after, v_now, p_after, v_now, p_name, p_born, p_initial)
        ON CONFLICT (name) DO NOTHING
        RETURNING * INTO s;
        v_made := FOUND;
        IF v_made THEN
            INSERT INTO {ids} (name, tenant, id) VALUES (p_name, split_part(p_name, ':', 1), p_id);
            EXIT;
        END IF;
    END LOOP;

    o_first := s.seq + 1;
    IF NOT v_made THEN
        IF p_key IS NOT NULL THEN
            SELECT k.first, k.count INTO v_start, v_seen
            FROM {keys} AS k WHERE k.session = s.id AND k.key = p_key;
            IF FOUND THEN
                o_outcome := 3;
                o_first := v_start;
                o_count := v_seen;
            END IF;
        END IF;
        IF o_outcome = 1 THEN
            -- The same number as LOOK_BACK in lockstitch.stores.base.
            v_start := CASE WHEN p_epoch = s.epoch AND p_seq <= s.seq
                THEN p_seq ELSE s.seq - 256 END;
            IF v_start < s.seq THEN
                SELECT min(r.seq), count(*) INTO v_start, v_seen
                FROM {rows} AS r WHERE r.session = s.id AND r.seq > v_start AND r.mark = p_mark;
                IF v_seen > 0 THEN
                    o_outcome := 3;
                    o_first := v_start;
                    o_count := v_seen;
                END IF;
            END IF;
        END IF;
        IF o_outcome = 1 AND p_exclusive
            AND (p_epoch, p_revision, p_seq) IS DISTINCT FROM (s.epoch, s.revision, s.seq)
        THEN
            o_outcome := 4;
            o_first := 0;
            o_count := 0;
        END IF;
    END IF;

    -- Somebody who has seen more than there is has seen rows that a failover lost.
    v_same := coalesce(
        p_epoch = s.epoch AND p_revision = s.revision AND p_seq <= s.seq, false
    );
    IF p_look THEN
        o_through := s.through;
        IF NOT v_same THEN
            o_head := s.head;
            SELECT coalesce(string_agg(f.row, ''::bytea ORDER BY f.place, f.seq), '') INTO o_rows
            FROM (
                SELECT p.place, r.seq, {packed}(r.seq, r.at, r.mark, r.meta) AS row
                FROM {pairs}(s.ranges) AS p
                JOIN {rows} AS r ON r.session = s.id AND r.seq BETWEEN p.first AND p.last
                UNION ALL
                SELECT 2147483647, r.seq, {packed}(r.seq, r.at, r.mark, r.meta)
                -- The same number as TAIL in lockstitch.stores.base.
                FROM {rows} AS r WHERE r.session = s.id AND r.seq > greatest(s.through, s.seq - 4096)
            ) AS f;
        ELSIF p_seq < s.seq THEN
            SELECT string_agg({packed}(r.seq, r.at, r.mark, r.meta), ''::bytea ORDER BY r.seq)
            INTO o_rows
            FROM {rows} AS r WHERE r.session = s.id AND r.seq > p_seq;
        END IF;
    END IF;

    IF o_outcome = 1 THEN
        INSERT INTO {rows} (session, seq, at, mark, meta, payload)
        SELECT s.id, s.seq + u.place, v_now, p_mark, u.meta, u.payload
        FROM unnest(p_metas, p_payloads) WITH ORDINALITY AS u (meta, payload, place);
        IF p_key IS NOT NULL THEN
            INSERT INTO {keys} (session, key, first, count) VALUES (s.id, p_key, o_first, o_count);
        END IF;
        IF p_note IS NOT NULL THEN
            s.events := s.events + 1;
            INSERT INTO {events} (session, number, body) VALUES (s.id, s.events, p_note);
        END IF;
        IF p_head IS NOT NULL AND v_same AND (NOT p_strict OR p_seq = s.seq) THEN
            o_outcome := 2;
            s.revision := s.revision + 1;
            s.through := p_through;
            s.head := p_head;
            s.ranges := p_ranges;
            IF p_event IS NOT NULL THEN
                s.events := s.events + 1;
                INSERT INTO {events} (session, number, body) VALUES (s.id, s.events, p_event);
            END IF;
            IF p_purge IS NOT NULL THEN
                s.size := s.size - {purge}(s.id, p_purge);
            END IF;
        END IF;
        s.seq := s.seq + o_count;
        s.settings := coalesce(p_settings, s.settings);
        s.ttl := coalesce(p_ttl, s.ttl);
        s.expires := CASE WHEN s.ttl > 0
            THEN v_now + make_interval(secs => s.ttl) ELSE 'infinity' END;
        UPDATE {sessions} AS t
        SET seq = s.seq,
            size = s.size + p_size,
            events = s.events,
            updated = v_now,
            expires = s.expires,
            revision = s.revision,
            through = s.through,
            ttl = s.ttl,
            settings = s.settings,
            head = s.head,
            ranges = s.ranges
        WHERE t.name = p_name;
        PERFORM {due}(p_name, s.due, s.expires);
    END IF;
    RETURN substring(int4send(o_outcome) FROM 4)
        || int8send(s.revision) || int8send(s.seq) || int8send(o_through)
        || int8send(o_first) || int8send(o_count) || float8send(date_part('epoch', s.expires))
        || int4send(octet_length(s.epoch)) || convert_to(s.epoch, 'UTF8')
        || int4send(octet_length(s.settings)) || s.settings
        || int4send(coalesce(octet_length(o_head), -1)) || coalesce(o_head, '')
        || o_rows;
END
$body$;


-- Takes ranges apart that are written first, last, first, last, and numbers them.
CREATE FUNCTION {pairs}(
    p_ranges bigint[], OUT place integer, OUT first bigint, OUT last bigint
) RETURNS SETOF record LANGUAGE sql IMMUTABLE AS $body$
    SELECT g, p_ranges[2 * g - 1], p_ranges[2 * g]
    FROM generate_series(1, cardinality(p_ranges) / 2) AS g
$body$;


-- Empties rows, and says how many bytes of payloads they had.
CREATE FUNCTION {purge}(p_session bigint, p_ranges bigint[]) RETURNS bigint
LANGUAGE plpgsql AS $body$
DECLARE
    v_freed bigint;
BEGIN
    SELECT coalesce(sum(d.bytes), 0) INTO v_freed
    FROM (
        SELECT DISTINCT r.seq, octet_length(r.payload) AS bytes
        FROM {pairs}(p_ranges) AS p
        JOIN {rows} AS r ON r.session = p_session AND r.seq BETWEEN p.first AND p.last
    ) AS d;
    UPDATE {rows} AS r SET meta = '', payload = ''
    FROM {pairs}(p_ranges) AS p
    WHERE r.session = p_session AND r.seq BETWEEN p.first AND p.last;
    RETURN v_freed;
END
$body$;


-- Writes down in which hour a session expires, if that is another than it was.
CREATE FUNCTION {due}(p_name text, p_due integer, p_expires timestamptz) RETURNS void
LANGUAGE plpgsql AS $body$
DECLARE
    v_due integer := least(floor(date_part('epoch', p_expires) / 3600), 2147483647);
BEGIN
    IF v_due <> p_due THEN
        UPDATE {ids} SET due = v_due WHERE name = p_name;
        UPDATE {sessions} SET due = v_due WHERE name = p_name;
    END IF;
END
$body$;


-- Lets the time of a session begin anew; says whether there is such a session.
CREATE FUNCTION {touch}(p_name text, p_ttl double precision) RETURNS boolean
LANGUAGE plpgsql AS $body$
DECLARE
    v_due integer;
    v_expires timestamptz;
BEGIN
    UPDATE {sessions} AS t
    SET updated = clock_timestamp(),
        ttl = coalesce(p_ttl, t.ttl),
        expires = CASE WHEN coalesce(p_ttl, t.ttl) > 0
            THEN clock_timestamp() + make_interval(secs => coalesce(p_ttl, t.ttl))
            ELSE 'infinity' END
    WHERE t.name = p_name AND t.expires > clock_timestamp()
    RETURNING t.due, t.expires INTO v_due, v_expires;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM {due}(p_name, v_due, v_expires);
    RETURN true;
END
$body$;


-- Removes sessions that are locked, with all that belongs to them.
CREATE FUNCTION {erase}(p_names text[]) RETURNS void LANGUAGE plpgsql AS $body$
DECLARE
    v_ids bigint[];
BEGIN
    WITH gone AS (DELETE FROM {sessions} WHERE name = ANY (p_names) RETURNING id)
    SELECT array_agg(gone.id) INTO v_ids FROM gone;
    DELETE FROM {rows} WHERE session = ANY (v_ids);
    DELETE FROM {keys} WHERE session = ANY (v_ids);
    DELETE FROM {events} WHERE session = ANY (v_ids);
    DELETE FROM {ids} WHERE name = ANY (p_names);
END
$body$;


-- Removes a session, and says whether there was one. The lock comes first and in a statement of its
-- own: rows that somebody was about to append are seen by those that follow.
CREATE FUNCTION {delete}(p_name text) RETURNS boolean LANGUAGE plpgsql AS $body$
DECLARE
    v_expires timestamptz;
BEGIN
    SELECT expires INTO v_expires FROM {sessions} WHERE name = p_name FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM {erase}(ARRAY[p_name]);
    RETURN v_expires > clock_timestamp();
END
$body$;


-- Removes so many sessions that have expired, and says how many it found. Those that somebody has
-- locked are left for another time.
CREATE FUNCTION {sweep}(p_limit integer) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
    v_names text[];
BEGIN
    SELECT array_agg(f.name) INTO v_names
    FROM (
        SELECT s.name
        FROM {ids} AS i JOIN {sessions} AS s ON s.name = i.name
        WHERE i.due <= floor(date_part('epoch', clock_timestamp()) / 3600)::integer
            AND i.due < 2147483647 AND s.expires <= clock_timestamp()
        LIMIT p_limit
        FOR UPDATE OF s SKIP LOCKED
    ) AS f;
    PERFORM {erase}(v_names);
    RETURN coalesce(cardinality(v_names), 0);
END
$body$;
