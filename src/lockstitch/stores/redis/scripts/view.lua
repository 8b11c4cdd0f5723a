-- Read the view, or what it has grown by since a known version.
--
-- ARGV   1 epoch, 2 revision, 3 seq of what the caller has seen; '-' as revision for nothing
--        4 '1' for payloads too
--
-- Reply  0; or 1, epoch, revision, seq, expires, settings, through, head; and, where there are
--        any, spans of rows, rows, payloads

if not there then
  return {0}
end

local same = ARGV[2] == revision and ARGV[1] == epoch
local head, spans = spans_of(same, tonumber(ARGV[3]))
local all = {1, epoch, tonumber(revision), seq, expires(), settings, through, head}
if #spans > 0 then
  all[9], all[10] = spans, taken(ROWS, spans)
  if ARGV[4] == '1' then
    all[11] = taken(PAYLOADS, spans)
  end
end
return all
