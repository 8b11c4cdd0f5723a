-- Read rows of the record by their numbers: a page, which ends when it is long or heavy.
--
-- ARGV   1 first, 2 last, 3 '1' for payloads too, 4 most rows, 5 bytes after which it is heavy
--
-- Reply  0; or 1, epoch, number of the newest row, first, rows, payloads

if not there then
  return {0}
end

local first, last = clipped(ARGV[1], ARGV[2])
last = math.min(last, first + tonumber(ARGV[4]) - 1)
local heavy = tonumber(ARGV[5])
local rows, payloads = {}, {}

local weight, step = 0, 1
local from = first
while from <= last and weight < heavy do
  local to = math.min(from + step - 1, last)
  local spans = {from, to}
  local part = taken(ROWS, spans)
  for i = 1, #part do
    rows[#rows + 1] = part[i]
    weight = weight + #part[i]
  end
  if ARGV[3] == '1' then
    part = taken(PAYLOADS, spans)
    for i = 1, #part do
      payloads[#payloads + 1] = part[i]
      weight = weight + #part[i]
    end
  end
  -- Longer steps while rows are light: nobody knows what they weigh before they are read.
  from, step = to + 1, math.min(step * 2, 128)
end
return {1, epoch, seq, first, rows, payloads}
