-- Carry a commit out, whole or not at all: see lockstitch.stores.commit for what it does.
--
-- ARGV   1 packed: flags; revision and seq of what the caller has seen; number of rows; ttl, -1 for
--          as it is; `through` of a new head; number to count from in a session that is made; the
--          lengths of four texts, and these: the mark and a space, the epoch that the caller has
--          seen, then of a session that is made the epoch, the name; its settings are the rest
--        2 on, in this order, what the flags announce: 16 idempotency, 32 note, 64 settings,
--          128 head behind its ranges, 256 event, 512 rows to be emptied;
--          then all metas; then all payloads
--        Flags that announce nothing: 1 the caller has seen a version, 2 look, 4 exclusive, 8 strict
--
-- Reply  outcome, epoch, revision, seq, updated, ttl, settings, first, count, changed; where it
--        was looked, through, head behind its ranges; where there are any, spans of rows, rows

local told = ARGV[1]
local flags, seen_revision, seen, count, new_ttl, new_through, after,
  of_mark, of_seen, of_epoch, of_name, start = struct.unpack('<HddddddIIII', told)
local mark = string.sub(told, start, start + of_mark - 1)
local band, at = bit.band, 1
local look, change = band(flags, 2) ~= 0, nil
local idempotency, note, replaced, event, purge
if flags >= 16 then
  if band(flags, 16) ~= 0 then
    at = at + 1
    idempotency = ARGV[at]
  end
  if band(flags, 32) ~= 0 then
    at = at + 1
    note = ARGV[at]
  end
  if band(flags, 64) ~= 0 then
    at = at + 1
    replaced = ARGV[at]
  end
  if band(flags, 128) ~= 0 then
    at = at + 1
    change = ARGV[at]
  end
  if band(flags, 256) ~= 0 then
    at = at + 1
    event = ARGV[at]
  end
  if band(flags, 512) ~= 0 then
    at = at + 1
    purge = ARGV[at]
  end
end
local expected, exclusive = band(flags, 1) ~= 0, band(flags, 4) ~= 0

if not there then
  if exclusive and expected then
    return {3}
  end
  if count == 0 and not replaced then
    return {0}
  end
  if call('EXISTS', HEAD, ROWS, PAYLOADS) > 0 then
    return {-2, 'there is no session, but something at its keys: delete it to begin anew'}
  end
  local from = start + of_mark + of_seen
  epoch = string.sub(told, from, from + of_epoch - 1)
  settings = string.sub(told, from + of_epoch + of_name)
  revision, seq, offset, through, ttl, size, events = 0, after, after, after, 0, 0, 0
end

-- What is ahead of the session was seen of rows that were acknowledged and lost, as in a failover.
local alive = expected and seen <= seq
  and epoch == string.sub(told, start + of_mark, start + of_mark + of_seen - 1)
local same = alive and revision == seen_revision
local head, spans, rows = '\n', nil, nil
local first, many

if there then
  if idempotency then
    local used = call('HGET', HEAD, '=' .. idempotency)
    if used then
      first, many = string.match(used, '^(%d+) (%d+)$')
      first, many = tonumber(first), tonumber(many)
    end
  end
  local from = math.max(alive and seen or seq - LOOK_BACK, offset)
  if from < seq then
    local recent = call('LRANGE', ROWS, from - offset, -1)
    if same then
      spans, rows = {from + 1, seq}, recent
    end
    if not first then
      for i = 1, #recent do
        if string.sub(recent[i], 9, 8 + of_mark) == mark then
          first, many = first or from + i, (many or 0) + 1
        end
      end
    end
  end
  if look and not same then
    head, spans = whole()
    rows = taken(ROWS, spans)
  end
end

local through_before = through
local function reply(outcome, changed)
  local all = {outcome, epoch, revision, seq, updated, ttl, settings, first or 0, many or 0, changed}
  if look then
    all[11], all[12] = through_before, not same and head
    if rows and #rows > 0 then
      all[13], all[14] = spans, rows
    end
  end
  return all
end

if first then
  return reply(2, 0)
end
if exclusive and there and not (same and seen == seq) then
  return reply(3, 0)
end

local takes = change and same and (seen == seq or band(flags, 8) == 0)
local had = ttl
local clock = call('TIME')
updated = clock[1] * 1000000 + clock[2]
first, many = seq + 1, count

-- From here on nothing fails.

local stamp = struct.pack('<d', updated) .. mark
for from = 1, count, 1000 do
  local to = math.min(from + 999, count)
  local made = {}
  for i = from, to do
    made[i - from + 1] = stamp .. ARGV[at + i]
    size = size + #ARGV[at + count + i]
  end
  call('RPUSH', ROWS, unpack(made))
  call('RPUSH', PAYLOADS, unpack(ARGV, at + count + from, at + count + to))
end
seq = seq + count
if idempotency then
  call('HSET', HEAD, '=' .. idempotency, first .. ' ' .. many)
end
if note then
  events = events + 1
  call('HSET', HEAD, '#' .. events, note)
end
if takes then
  revision, through = revision + 1, new_through
  if event then
    events = events + 1
    call('HSET', HEAD, '#' .. events, event)
  end
  for one, other in string.gmatch(purge or '', '(%d+) (%d+)') do
    local from, to = clipped(one, other)
    for i = from - offset - 1, to - offset - 1 do
      local row = call('LINDEX', ROWS, i)
      size = size - #call('LINDEX', PAYLOADS, i)
      call('LSET', ROWS, i, string.sub(row, 1, string.find(row, ' ', 9, true)))
      call('LSET', PAYLOADS, i, '')
    end
  end
end
if replaced then
  settings = replaced
  if there then
    call('HSET', HEAD, 'settings', settings)
  end
end
if new_ttl >= 0 then
  ttl = new_ttl
end
if there then
  renew(had, takes and change)
else
  local from = start + of_mark + of_seen + of_epoch
  renew(had, takes and change or '\n', string.sub(told, from, from + of_name - 1))
end
return reply(1, takes and 1 or 0)
