-- What every script begins with: this text stands before it, and before this one
-- `local SCHEMA, LOOK_BACK, TAIL = ...` with what the library knows.
--
-- KEYS  1 hash   state      packed, the schema first: see below
--                head       the ranges that it refers to, a line feed, the head
--                settings, name, created
--                =...       for an idempotency key: "first count"
--                #1, #2     events
--       2 list   a row each: when it came, 8 bytes; its mark; a space; its meta
--       3 list   a payload each
--
-- Row n stands at n - offset - 1 in both lists. All three expire at the same millisecond. They are
-- few because a cluster that moves a slot refuses a script while one of its keys is elsewhere, or
-- nowhere.
-- Times are microseconds since 1970, lives are milliseconds and 0 for ever. Numbers are packed as
-- doubles, whole up to 2^53: they are read and written in a tenth of the time that digits take.
--
-- A script that stops half way is not undone, so whatever can fail comes before the first write:
-- a key of another type stops HMGET and LLEN, and a full server the first RPUSH or HSET.
--
-- Replies begin with what became of it: 0 no session, 1 done, 2 replayed, 3 conflict,
-- -1 a newer schema and which, -2 damaged and why.

local call = redis.call
local HEAD, ROWS, PAYLOADS = KEYS[1], KEYS[2], KEYS[3]
local STATE = '<Bdddddddd' -- then the epoch

local there, settings = unpack(call('HMGET', HEAD, 'state', 'settings'))
local schema, revision, seq, offset, through, ttl, updated, size, events, epoch

if there then
  schema = string.byte(there)
  if schema and schema > SCHEMA then
    return {-1, schema}
  end
  -- A session of an older schema would be brought forward here, before anything reads it.
  if schema ~= SCHEMA or #there < 65 then
    return {-2, 'its state cannot be read'}
  end
  schema, revision, seq, offset, through, ttl, updated, size, events =
    struct.unpack(STATE, there)
  epoch = string.sub(there, 66)
end

-- Write the state down, and give all keys the same end, or none; `had` is the ttl before.
local function renew(had, head, name)
  local state = struct.pack(STATE, SCHEMA, revision, seq, offset, through, ttl, updated, size,
                            events) .. epoch
  if name then
    call('HSET', HEAD, 'state', state, 'settings', settings, 'head', head, 'name', name,
         'created', updated)
  elseif head then
    call('HSET', HEAD, 'state', state, 'head', head)
  else
    call('HSET', HEAD, 'state', state)
  end
  if ttl > 0 then
    local at = string.format('%.0f', math.floor(updated / 1000) + ttl)
    for i = 1, 3 do
      call('PEXPIREAT', KEYS[i], at)
    end
  elseif had > 0 then
    for i = 1, 3 do
      call('PERSIST', KEYS[i])
    end
  end
end
