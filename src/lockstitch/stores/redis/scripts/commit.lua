-- Carry a commit out, whole or not at all: see lockstitch.stores.commit for what it does.
--
-- ARGV   1 mark
--        2 epoch, 3 revision, 4 seq of what the caller has seen; '-' as revision for nothing
--        5 letters: x exclusive, l look, i idempotency, n note, s settings, c change, t strict
--        6 number of rows
--        7 ttl in milliseconds, '' for as it is
--        8 epoch, 9 number to count from, 10 settings, 11 name of a session that is made
--       12 on, those that the letters announce: idempotency; note; settings;
--          head, ranges, through, event, purge; then all metas; then all payloads
--
-- Reply  outcome, epoch, revision, seq, expires, settings, first, count, changed,
--        through, head; and, where there are any, spans of rows, rows

local mark, letters, count = ARGV[1] .. ' ', ARGV[5], tonumber(ARGV[6])
local expected, wanted = ARGV[3] ~= '-', tonumber(ARGV[4])

local function has(letter)
  return string.find(letters, letter, 1, true)
end

local at = 12
local function argument()
  at = at + 1
  return ARGV[at - 1]
end

local exclusive, look = has('x'), has('l')
local idempotency = has('i') and argument()
local note = has('n') and argument()
local replaced = has('s') and argument()
local change = has('c')
local new_head, new_ranges, new_through, event, purge
if change then
  new_head, new_ranges, new_through = argument(), argument(), argument()
  event, purge = argument(), argument()
end

if not there then
  if exclusive and expected then
    return {3}
  end
  if count == 0 and not replaced then
    return {0}
  end
  if call('EXISTS', HEAD, ROWS, PAYLOADS, USED, EVENTS) > 0 then
    return {-2, 'there is no session, but something at its keys: delete it to begin anew'}
  end
  epoch, revision, settings = ARGV[8], '0', ARGV[10]
  seq, ttl, size = tonumber(ARGV[9]), 0, 0
  offset, through = seq, seq
end

local same = expected and epoch == ARGV[2] and revision == ARGV[3]
local head, spans, rows = '', {}, {}
local first, many

if there then
  if idempotency then
    local used = call('HGET', USED, idempotency)
    if used then
      local one, all = string.match(used, '^(%d+) (%d+)$')
      first, many = tonumber(one), tonumber(all)
    end
  end
  if note or change then
    call('LLEN', EVENTS)
  end
  local start = seq - LOOK_BACK
  if expected and epoch == ARGV[2] then
    start = wanted
  end
  if start < offset then
    start = offset
  end
  if start < seq then
    local recent = call('LRANGE', ROWS, start - offset, -1)
    if same then
      spans, rows = {start + 1, seq}, recent
    end
    if not first then
      local stop = 16 + #mark
      for i = 1, #recent do
        if string.sub(recent[i], 17, stop) == mark then
          first = first or start + i
          many = (many or 0) + 1
        end
      end
    end
  end
  if look and not same then
    head, spans = spans_of(false, 0)
    rows = taken(ROWS, spans)
  end
end
if same then
  head = false
end

local seen_through = through

local function reply(outcome, changed)
  local all = {outcome, epoch, tonumber(revision), seq, expires(), settings,
               first or 0, many or 0, changed}
  if look then
    all[10], all[11] = seen_through, head
    if #rows > 0 then
      all[12], all[13] = spans, rows
    end
  end
  return all
end

if first then
  return reply(2, 0)
end
if exclusive and there and not (same and wanted == seq) then
  return reply(3, 0)
end

local clock = call('TIME')
local now = clock[1] .. string.sub('000000' .. clock[2], -6)
local takes = change and same and (not has('t') or wanted == seq)
local had = ttl

-- From here on nothing fails.

first, many = seq + 1, count
for from = 1, count, 1000 do
  local to = math.min(from + 999, count)
  local made = {}
  for i = from, to do
    made[#made + 1] = now .. mark .. ARGV[at + i - 1]
    size = size + #ARGV[at + count + i - 1]
  end
  call('RPUSH', ROWS, unpack(made))
  call('RPUSH', PAYLOADS, unpack(ARGV, at + count + from - 1, at + count + to - 1))
end
seq = seq + count
stored[8] = now

if idempotency then
  call('HSET', USED, idempotency, string.format('%.0f %.0f', first, count))
end
if note then
  call('RPUSH', EVENTS, note)
end

local fields = {'seq', seq, 'updated', now}
local function put(name, value)
  fields[#fields + 1] = name
  fields[#fields + 1] = value
end

if takes then
  revision = string.format('%.0f', tonumber(revision) + 1)
  through = tonumber(new_through)
  put('revision', revision)
  put('head', new_head)
  put('ranges', new_ranges)
  put('through', new_through)
  if event ~= '' then
    call('RPUSH', EVENTS, event)
  end
  for one, other in string.gmatch(purge, '(%d+) (%d+)') do
    local from, to = clipped(tonumber(one), tonumber(other))
    for i = from - offset - 1, to - offset - 1 do
      local row = call('LINDEX', ROWS, i)
      size = size - #call('LINDEX', PAYLOADS, i)
      call('LSET', ROWS, i, string.sub(row, 1, string.find(row, ' ', 17, true)))
      call('LSET', PAYLOADS, i, '')
    end
  end
elseif not there then
  put('revision', revision)
  put('head', '')
  put('ranges', '')
  put('through', through)
end
if replaced then
  settings = replaced
end
if replaced or not there then
  put('settings', settings)
end
if ARGV[7] ~= '' then
  ttl = tonumber(ARGV[7])
end
if ttl ~= had or not there then
  put('ttl', ttl)
end
if not there then
  put('schema', SCHEMA)
  put('name', ARGV[11])
  put('epoch', epoch)
  put('offset', offset)
  put('created', now)
end
put('size', size)
call('HSET', HEAD, unpack(fields))
renew(had)
return reply(1, takes and 1 or 0)
