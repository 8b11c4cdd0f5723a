-- Read events in order.
--
-- ARGV   1 how many are left out, 2 how many are read
--
-- Reply  0; or 1, events

if not there then
  return {0}
end
local after, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
if limit < 1 then
  return {1, {}}
end
return {1, call('LRANGE', EVENTS, after, after + limit - 1)}
