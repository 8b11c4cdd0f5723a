-- Read the view, or what it has grown by since a known version.
--
-- ARGV   1 epoch, 2 revision, 3 seq of what the caller has seen; -1 as revision for nothing
--        4 '1' for payloads too
--
-- Reply  0; or 1, epoch, revision, seq, updated, ttl, settings, through, head behind its ranges;
--        where there are any, spans of rows, rows, payloads

if not there then
  return {0}
end

-- What is ahead of the session was seen of rows that were acknowledged and lost, as in a failover.
local seen = tonumber(ARGV[3])
local same = tonumber(ARGV[2]) == revision and ARGV[1] == epoch and seen <= seq
local head, spans = false, {}
if not same then
  head, spans = whole()
elseif seen < seq then
  spans = {clipped(seen + 1, seq)}
end
local all = {1, epoch, revision, seq, updated, ttl, settings, through, head}
if #spans > 0 then
  all[10], all[11] = spans, taken(ROWS, spans)
  if ARGV[4] == '1' then
    all[12] = taken(PAYLOADS, spans)
  end
end
return all
