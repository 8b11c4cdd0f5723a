-- What every script begins with: this text stands before it, and before this one
-- `local SCHEMA, LOOK_BACK = ...` with what the library knows.
--
-- KEYS  1 hash   schema, name, epoch, revision, seq, offset, through, head, ranges, settings,
--                created, updated (microseconds), ttl (milliseconds, 0 for never), size
--       2 list   a row each: 16 digits of microseconds, its mark, a space, its meta
--       3 list   a payload each
--       4 hash   idempotency key -> "first count"
--       5 list   events
--
-- Row n stands at n - offset - 1 in both lists. All five expire at the same millisecond.
-- A script that stops half way is not undone, so whatever can fail comes before the first write:
-- a key of another type stops HMGET, HGET, HLEN and LLEN.
--
-- Replies begin with what became of it: 0 no session, 1 done, 2 replayed, 3 conflict,
-- -1 a newer schema and which, -2 damaged and why.

local call = redis.call
local HEAD, ROWS, PAYLOADS, USED, EVENTS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]

local stored = call('HMGET', HEAD, 'schema', 'epoch', 'revision', 'seq', 'offset', 'through',
                    'ttl', 'updated', 'size', 'settings')
local there = stored[1]
local epoch, revision, settings = stored[2], stored[3], stored[10]
local seq, offset, through, ttl, size

if there then
  local schema = tonumber(there)
  if not schema then
    return {-2, 'it has no schema: some other program wrote to its keys'}
  end
  if schema > SCHEMA then
    return {-1, schema}
  end
  -- A session of an older schema would be brought forward here, step by step, before it is read.
  seq, offset, through = tonumber(stored[4]), tonumber(stored[5]), tonumber(stored[6])
  ttl, size = tonumber(stored[7]), tonumber(stored[9])
  if not (epoch and tonumber(revision) and seq and offset and through and ttl and size
          and tonumber(stored[8]) and settings) then
    return {-2, 'its head is not whole: some other program wrote to its keys'}
  end
end

local function expires()
  if ttl == 0 then
    return 0
  end
  return math.floor(tonumber(stored[8]) / 1000) + ttl
end

-- Give all keys the same end, or none.
local function renew(had)
  if ttl > 0 then
    local at = string.format('%.0f', expires())
    for i = 1, 5 do
      call('PEXPIREAT', KEYS[i], at)
    end
  elseif had > 0 then
    for i = 1, 5 do
      call('PERSIST', KEYS[i])
    end
  end
end
