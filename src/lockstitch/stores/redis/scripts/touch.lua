-- Let a session's time begin anew, or give it another.
--
-- ARGV   1 ttl in milliseconds, -1 for as it is
--
-- Reply  0; or 1 if there is a session

if not there then
  return {0}
end
local had, clock = ttl, call('TIME')
updated = clock[1] * 1000000 + clock[2]
if tonumber(ARGV[1]) >= 0 then
  ttl = tonumber(ARGV[1])
end
renew(had)
return {1}
