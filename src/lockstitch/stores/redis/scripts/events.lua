-- Read events in order.
--
-- ARGV   1 how many are left out, 2 how many are read
--
-- Reply  0; or 1, events

if not there then
  return {0}
end
local after = tonumber(ARGV[1])
local last = math.min(after + tonumber(ARGV[2]), events)
local all = {}
for from = after + 1, last, 1000 do
  local names = {}
  for i = from, math.min(from + 999, last) do
    names[#names + 1] = '#' .. i
  end
  for _, event in ipairs(call('HMGET', HEAD, unpack(names))) do
    all[#all + 1] = event
  end
end
return {1, all}
