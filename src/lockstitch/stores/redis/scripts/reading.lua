-- How rows are read: this text stands behind session.lua, before the scripts that read or add rows.

if there then
  local length = seq - offset
  if call('LLEN', ROWS) ~= length or call('LLEN', PAYLOADS) ~= length then
    return {-2, 'some of its rows are gone: the server may have evicted a key'}
  end
end

local function clipped(first, last)
  if first <= offset then
    first = offset + 1
  end
  if last > seq then
    last = seq
  end
  return first, last
end

-- The rows of a view: first, last, first, last, ...; of the whole one with its head, or of what it
-- has grown by since row `since`.
local function spans_of(same, since)
  local head, spans = false, {}
  local function add(first, last)
    first, last = clipped(first, last)
    if first <= last then
      spans[#spans + 1] = first
      spans[#spans + 1] = last
    end
  end
  if same then
    add(since + 1, seq)
  else
    local kept = call('HMGET', HEAD, 'head', 'ranges')
    head = kept[1]
    for first, last in string.gmatch(kept[2], '(%d+) (%d+)') do
      add(tonumber(first), tonumber(last))
    end
    add(through + 1, seq)
  end
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
