-- How rows are read: this text stands behind session.lua, before the scripts that read or add rows.

if there then
  local length = seq - offset
  if call('LLEN', ROWS) ~= length or call('LLEN', PAYLOADS) ~= length then
    return {-2, 'some of its rows are gone: the server may have evicted a key'}
  end
end

local function clipped(first, last)
  return math.max(tonumber(first), offset + 1), math.min(tonumber(last), seq)
end

-- The head, and the rows of the view: first, last, first, last, ...
local function whole()
  local head, spans = call('HGET', HEAD, 'head'), {}
  local function add(first, last)
    first, last = clipped(first, last)
    if first <= last then
      spans[#spans + 1] = first
      spans[#spans + 1] = last
    end
  end
  for first, last in string.gmatch(string.match(head, '^[^\n]*'), '(%d+) (%d+)') do
    add(first, last)
  end
  add(math.max(through, seq - TAIL) + 1, seq)
  return head, spans
end

-- What a list holds of these rows, in one table.
local function taken(list, spans)
  if #spans == 2 then
    return call('LRANGE', list, spans[1] - offset - 1, spans[2] - offset - 1)
  end
  local all = {}
  for i = 1, #spans, 2 do
    local part = call('LRANGE', list, spans[i] - offset - 1, spans[i + 1] - offset - 1)
    for j = 1, #part do
      all[#all + 1] = part[j]
    end
  end
  return all
end
