-- The requests of a run, one after the other: made before it begins, so that a request costs wrk a look into a
-- table. Arguments: a file with a path in each line; where to begin.
local requests, index, count

function init(args)
  requests, count = {}, 0
  for line in io.lines(args[1]) do
    count = count + 1
    requests[count] = wrk.format('GET', line, { ['Host'] = wrk.headers['Host'] })
  end
  index = tonumber(args[2] or '0') % count
  started = os.clock()
end

function request()
  index = index + 1
  if index > count then index = 1 end
  return requests[index]
end

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

-- cpu: the share of its core that wrk itself took. Near 1 it measured itself.
function done(summary, latency)
  local seconds = summary.duration / 1000000
  local cpu = (os.clock() - threads[1]:get('started')) / seconds
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%.6f,"p99":%.3f,"refused":%d,"failed":%d,"cpu":%.3f}\n',
    summary.requests, seconds, latency:percentile(99) / 1000,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout, cpu))
end
