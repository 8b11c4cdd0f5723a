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

-- What every commit changes comes first: the less of a row differs, the less goes into the log.
-- `hour` is that of `expires`. It is what has an index: it changes once an hour and not with every
-- commit, so that most commits leave all indexes alone (fillfactor leaves them room for that).
CREATE TABLE {sessions} (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seq bigint NOT NULL,
    size bigint NOT NULL DEFAULT 0,
    events bigint NOT NULL DEFAULT 0,
    updated timestamptz NOT NULL,
    revision bigint NOT NULL DEFAULT 0,
    through bigint NOT NULL,
    created timestamptz NOT NULL,
    ttl double precision NOT NULL DEFAULT 0,
    hour integer,
    expires timestamptz,
    name text COLLATE "C" NOT NULL UNIQUE,
    tenant text COLLATE "C" NOT NULL,
    id_text text COLLATE "C" NOT NULL,
    epoch text COLLATE "C" NOT NULL,
    settings bytea NOT NULL,
    head bytea NOT NULL DEFAULT '',
    ranges bigint[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 70);

-- An index takes no more than 2,700 bytes an entry, and an id may be longer.
CREATE INDEX ON {sessions} (tenant, left(id_text, 400));
CREATE INDEX ON {sessions} (hour) WHERE hour IS NOT NULL;

CREATE TABLE {rows} (
    session bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamptz NOT NULL,
    mark text COLLATE "C" NOT NULL,
    meta bytea NOT NULL,
    payload bytea NOT NULL,
    PRIMARY KEY (session, seq)
);

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


-- Carries out what `lockstitch.stores.commit` says, check by check, in the same order.
--
-- p_epoch, p_revision, p_seq    the version that was expected; NULL for none
-- p_key                         the hash of the caller's own key; NULL for none
-- p_head                        NULL where there is no new head
-- p_born, p_after, p_initial    epoch, start and settings of a session that has to be made
CREATE FUNCTION {commit}(
    IN p_name text,
    IN p_tenant text,
    IN p_id text,
    IN p_mark text,
    IN p_epoch text,
    IN p_revision bigint,
    IN p_seq bigint,
    IN p_metas bytea[],
    IN p_payloads bytea[],
    IN p_count bigint,
    IN p_size bigint,
    IN p_look boolean,
    IN p_exclusive boolean,
    IN p_born text,
    IN p_after bigint,
    IN p_initial bytea,
    IN p_note bytea DEFAULT NULL,
    IN p_key bytea DEFAULT NULL,
    IN p_settings bytea DEFAULT NULL,
    IN p_ttl double precision DEFAULT NULL,
    IN p_head bytea DEFAULT NULL,
    IN p_ranges bigint[] DEFAULT NULL,
    IN p_through bigint DEFAULT NULL,
    IN p_strict boolean DEFAULT NULL,
    IN p_event bytea DEFAULT NULL,
    IN p_purge bigint[] DEFAULT NULL,
    OUT o_outcome text,
    OUT o_epoch text,
    OUT o_revision bigint,
    OUT o_seq bigint,
    OUT o_settings bytea,
    OUT o_expires double precision,
    OUT o_head bytea,
    OUT o_through bigint,
    OUT o_first bigint,
    OUT o_count bigint,
    OUT o_changed boolean,
    OUT o_seqs bigint[],
    OUT o_marks text[],
    OUT o_ats double precision[],
    OUT o_metas bytea[]
) LANGUAGE plpgsql AS $body$
DECLARE
    s {sessions};
    v_id bigint;
    v_now timestamptz;
    v_events bigint;
    v_expires timestamptz;
    v_there boolean;
    v_made boolean := false;
    v_same boolean;
    v_freed bigint := 0;
    v_start bigint;
BEGIN
    o_changed := false;
    o_count := p_count;

    -- Most commits append to exactly what was expected. No row is above it that could carry the
    -- mark, no check can fail: one UPDATE locks, compares and counts. It finds nothing where
    -- anything is otherwise, and then everything is looked at in order, below.
    IF p_seq IS NOT NULL AND p_key IS NULL AND p_head IS NULL THEN
        UPDATE {sessions} AS t
        SET seq = t.seq + p_count,
            size = t.size + p_size,
            events = t.events + (p_note IS NOT NULL)::integer,
            updated = clock_timestamp(),
            settings = coalesce(p_settings, t.settings),
            ttl = coalesce(p_ttl, t.ttl),
            expires = CASE WHEN coalesce(p_ttl, t.ttl) > 0
                THEN clock_timestamp() + make_interval(secs => coalesce(p_ttl, t.ttl)) END,
            hour = CASE WHEN coalesce(p_ttl, t.ttl) > 0 THEN
                floor((date_part('epoch', clock_timestamp()) + coalesce(p_ttl, t.ttl)) / 3600) END
        WHERE t.name = p_name AND t.seq = p_seq AND t.revision = p_revision AND t.epoch = p_epoch
            AND (t.expires IS NULL OR t.expires > clock_timestamp())
        RETURNING t.id, t.updated, t.events, t.settings, t.expires, t.through
        INTO v_id, v_now, v_events, o_settings, v_expires, o_through;
        IF FOUND THEN
            IF p_count > 0 THEN
                INSERT INTO {rows} (session, seq, at, mark, meta, payload)
                SELECT v_id, p_seq + u.place, v_now, p_mark, u.meta, u.payload
                FROM unnest(p_metas, p_payloads) WITH ORDINALITY AS u (meta, payload, place);
            END IF;
            IF p_note IS NOT NULL THEN
                INSERT INTO {events} (session, number, body) VALUES (v_id, v_events, p_note);
            END IF;
            o_outcome := 'stored';
            o_epoch := p_epoch;
            o_revision := p_revision;
            o_seq := p_seq + p_count;
            o_first := p_seq + 1;
            IF NOT p_look THEN
                o_through := 0;
            END IF;
            IF v_expires IS NOT NULL THEN
                o_expires := date_part('epoch', v_expires);
            END IF;
            RETURN;
        END IF;
    END IF;

    -- Each statement sees what was there when it began. So what another has made or removed while
    -- this one waited for the lock is found when it is looked for again.
    LOOP
        SELECT * INTO s FROM {sessions} AS t WHERE t.name = p_name FOR UPDATE;
        v_there := FOUND;
        v_now := clock_timestamp();
        EXIT WHEN v_there AND (s.expires IS NULL OR s.expires > v_now);
        IF p_exclusive AND p_seq IS NOT NULL THEN
            o_outcome := 'conflict';
            o_count := 0;
            RETURN;
        END IF;
        IF p_count = 0 AND p_settings IS NULL THEN
            o_outcome := 'gone';
            o_count := 0;
            RETURN;
        END IF;
        IF v_there THEN
            PERFORM {erase}(ARRAY[s.id]);
        END IF;
        INSERT INTO {sessions}
            (seq, updated, through, created, name, tenant, id_text, epoch, settings)
        VALUES (p_after, v_now, p_after, v_now, p_name, p_tenant, p_id, p_born, p_initial)
        ON CONFLICT (name) DO NOTHING
        RETURNING * INTO s;
        v_made := FOUND;
        EXIT WHEN v_made;
    END LOOP;
    o_outcome := 'stored';
    o_first := s.seq + 1;

    IF NOT v_made THEN
        IF p_key IS NOT NULL THEN
            SELECT k.first, k.count INTO o_first, o_count
            FROM {keys} AS k WHERE k.session = s.id AND k.key = p_key;
            IF FOUND THEN
                o_outcome := 'replayed';
            ELSE
                o_first := s.seq + 1;
                o_count := p_count;
            END IF;
        END IF;
        -- The same number as LOOK_BACK in lockstitch.stores.base.
        v_start := CASE WHEN p_epoch = s.epoch THEN p_seq ELSE s.seq - 256 END;
        IF o_outcome = 'stored' AND v_start < s.seq THEN
            SELECT min(r.seq), count(*) INTO o_first, o_count
            FROM {rows} AS r WHERE r.session = s.id AND r.seq > v_start AND r.mark = p_mark;
            IF o_count > 0 THEN
                o_outcome := 'replayed';
            ELSE
                o_first := s.seq + 1;
                o_count := p_count;
            END IF;
        END IF;
        IF o_outcome = 'stored' AND p_exclusive
            AND (p_epoch, p_revision, p_seq) IS DISTINCT FROM (s.epoch, s.revision, s.seq)
        THEN
            o_outcome := 'conflict';
            o_first := 0;
            o_count := 0;
        END IF;
    END IF;

    v_same := coalesce(p_epoch = s.epoch AND p_revision = s.revision, false);
    o_through := 0;
    IF p_look THEN
        o_through := s.through;
        IF NOT v_same THEN
            o_head := s.head;
            SELECT array_agg(f.seq), array_agg(f.mark), array_agg(f.at), array_agg(f.meta)
            INTO o_seqs, o_marks, o_ats, o_metas
            FROM (
                SELECT p.place, r.seq, r.mark, date_part('epoch', r.at) AS at, r.meta
                FROM {pairs}(s.ranges) AS p
                JOIN {rows} AS r ON r.session = s.id AND r.seq BETWEEN p.first AND p.last
                UNION ALL
                SELECT 2147483647, r.seq, r.mark, date_part('epoch', r.at), r.meta
                FROM {rows} AS r WHERE r.session = s.id AND r.seq > s.through
                ORDER BY 1, 2
            ) AS f;
        ELSIF p_seq < s.seq THEN
            SELECT array_agg(f.seq), array_agg(f.mark), array_agg(f.at), array_agg(f.meta)
            INTO o_seqs, o_marks, o_ats, o_metas
            FROM (
                SELECT r.seq, r.mark, date_part('epoch', r.at) AS at, r.meta
                FROM {rows} AS r WHERE r.session = s.id AND r.seq > p_seq
                ORDER BY r.seq
            ) AS f;
        END IF;
    END IF;

    IF o_outcome = 'stored' THEN
        o_changed := p_head IS NOT NULL AND v_same AND (NOT p_strict OR p_seq = s.seq);
        IF p_count > 0 THEN
            INSERT INTO {rows} (session, seq, at, mark, meta, payload)
            SELECT s.id, s.seq + u.place, v_now, p_mark, u.meta, u.payload
            FROM unnest(p_metas, p_payloads) WITH ORDINALITY AS u (meta, payload, place);
        END IF;
        IF p_key IS NOT NULL THEN
            INSERT INTO {keys} (session, key, first, count) VALUES (s.id, p_key, o_first, p_count);
        END IF;
        IF p_note IS NOT NULL THEN
            s.events := s.events + 1;
            INSERT INTO {events} (session, number, body) VALUES (s.id, s.events, p_note);
        END IF;
        IF o_changed THEN
            IF p_event IS NOT NULL THEN
                s.events := s.events + 1;
                INSERT INTO {events} (session, number, body) VALUES (s.id, s.events, p_event);
            END IF;
            IF p_purge IS NOT NULL THEN
                SELECT coalesce(sum(d.bytes), 0) INTO v_freed
                FROM (
                    SELECT DISTINCT r.seq, octet_length(r.payload) AS bytes
                    FROM {pairs}(p_purge) AS p
                    JOIN {rows} AS r ON r.session = s.id AND r.seq BETWEEN p.first AND p.last
                ) AS d;
                UPDATE {rows} AS r SET meta = '', payload = ''
                FROM {pairs}(p_purge) AS p
                WHERE r.session = s.id AND r.seq BETWEEN p.first AND p.last;
            END IF;
            s.revision := s.revision + 1;
        END IF;
        s.seq := s.seq + p_count;
        s.settings := coalesce(p_settings, s.settings);
        s.ttl := coalesce(p_ttl, s.ttl);
        s.expires := CASE WHEN s.ttl > 0 THEN v_now + make_interval(secs => s.ttl) END;
        UPDATE {sessions} AS t
        SET seq = s.seq,
            size = t.size + p_size - v_freed,
            events = s.events,
            updated = v_now,
            revision = s.revision,
            through = CASE WHEN o_changed THEN p_through ELSE t.through END,
            ttl = s.ttl,
            hour = floor(date_part('epoch', s.expires) / 3600),
            expires = s.expires,
            settings = s.settings,
            head = CASE WHEN o_changed THEN p_head ELSE t.head END,
            ranges = CASE WHEN o_changed THEN p_ranges ELSE t.ranges END
        WHERE t.id = s.id;
    END IF;
    o_epoch := s.epoch;
    o_revision := s.revision;
    o_seq := s.seq;
    o_settings := s.settings;
    o_expires := date_part('epoch', s.expires);
END
$body$;


-- Takes ranges apart that are written first, last, first, last, and numbers them.
CREATE FUNCTION {pairs}(
    p_ranges bigint[], OUT place integer, OUT first bigint, OUT last bigint
) RETURNS SETOF record LANGUAGE sql IMMUTABLE AS $body$
    SELECT g, p_ranges[2 * g - 1], p_ranges[2 * g]
    FROM generate_series(1, cardinality(p_ranges) / 2) AS g
$body$;


-- Removes sessions that are locked, with all that belongs to them.
CREATE FUNCTION {erase}(p_ids bigint[]) RETURNS void LANGUAGE plpgsql AS $body$
BEGIN
    DELETE FROM {rows} WHERE session = ANY (p_ids);
    DELETE FROM {keys} WHERE session = ANY (p_ids);
    DELETE FROM {events} WHERE session = ANY (p_ids);
    DELETE FROM {sessions} WHERE id = ANY (p_ids);
END
$body$;


-- Removes a session, and says whether there was one. The lock comes first and in a statement of its
-- own: rows that somebody was about to append are seen by those that follow.
CREATE FUNCTION {delete}(p_name text) RETURNS boolean LANGUAGE plpgsql AS $body$
DECLARE
    v_id bigint;
    v_expires timestamptz;
BEGIN
    SELECT id, expires INTO v_id, v_expires FROM {sessions} WHERE name = p_name FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM {erase}(ARRAY[v_id]);
    RETURN v_expires IS NULL OR v_expires > clock_timestamp();
END
$body$;


-- Removes so many sessions that have expired, and says how many it found. Those that somebody has
-- locked are left for another time.
CREATE FUNCTION {sweep}(p_limit integer) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
    v_ids bigint[];
BEGIN
    SELECT array_agg(f.id) INTO v_ids
    FROM (
        SELECT id FROM {sessions}
        WHERE hour <= date_part('epoch', clock_timestamp()) / 3600 AND expires <= clock_timestamp()
        LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    ) AS f;
    PERFORM {erase}(v_ids);
    RETURN coalesce(cardinality(v_ids), 0);
END
$body$;
