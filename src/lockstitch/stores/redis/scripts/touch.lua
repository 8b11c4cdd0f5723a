-- Let a session's time begin anew, or give it another.
--
-- ARGV   1 ttl in milliseconds, '' for as it is
--
-- Reply  0; or 1 if there is a session

if not there then
  return {0}
end
local clock = call('TIME')
local had = ttl
stored[8] = clock[1] .. string.sub('000000' .. clock[2], -6)
if ARGV[1] ~= '' then
  ttl = tonumber(ARGV[1])
end
call('HSET', HEAD, 'ttl', ttl, 'updated', stored[8])
renew(had)
return {1}
