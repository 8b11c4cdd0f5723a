-- Remove a session with all that belongs to it, or what is left of one that has lost its head.
--
-- Reply  0; or 1 if there was a session

call('LLEN', ROWS)
call('LLEN', PAYLOADS)
if there or call('EXISTS', HEAD) == 0 then
  call('UNLINK', HEAD, ROWS, PAYLOADS)
end
return {there and 1 or 0}
