import { take, type Quota, type Verdict } from './gcra.js';

/**
 * Taking tokens inside Redis. One script reads, decides and writes, so nothing comes in between; what it
 * found goes back, and gcra.ts makes the verdicts of it, so that the script only has to decide.
 */

/** A bucket of one client, as several proxies share it. */
export interface SharedBucket {
  readonly key: string;
  readonly quota: Quota;
}

/**
 * The key of a bucket, such as `register-api:{192.0.2.7}:api:60x1000`. The braces put all buckets of a client
 * into one slot of a cluster. The quota is in the name because an arrival time counts in its refill: proxies
 * that follow different snapshots for a moment don't misread each other, and changed limits start afresh.
 */
export function bucketKey(client: string, policy: string, { tokens, refillMs }: Quota): string {
  return `register-api:{${client}}:${policy}:${tokens}x${refillMs}`;
}

/**
 * KEYS: the buckets. ARGV: tokens and refill in milliseconds of each. Returns the server's time in
 * milliseconds and each arrival time as it was, at least now.
 *
 * - The twin of take() in gcra.ts: a bucket refuses if its arrival time, one refill later, is more than all its
 *   tokens' refill from now. If one refuses, none is written.
 * - A key expires when its bucket is full, which is what a missing key means.
 * - Server clocks can go back, and a replica's can be behind when it takes over: no bucket is taken for emptier
 *   than empty, or its client would be locked out for as long as the clock went back.
 * - %.0f: Lua would write 1.8e+12.
 *
 * Redis 5 or later (before, a script that asks the time may not write), any Valkey.
 */
export const TAKE_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local reply = { now }
local isAllowed = true
for i, key in ipairs(KEYS) do
  local refill = tonumber(ARGV[2 * i])
  local capacity = ARGV[2 * i - 1] * refill
  local arrival = tonumber(redis.call('GET', key) or now) or now
  arrival = math.min(math.max(arrival, now), now + capacity)
  if arrival - now + refill > capacity then isAllowed = false end
  reply[i + 1] = arrival
end
if isAllowed then
  for i, key in ipairs(KEYS) do
    local arrival = reply[i + 1] + ARGV[2 * i]
    redis.call('SET', key, string.format('%.0f', arrival), 'PX', string.format('%.0f', arrival - now))
  end
end
return reply
`;

/** The script's ARGV. */
export function scriptArguments(buckets: readonly SharedBucket[]): number[] {
  return buckets.flatMap(({ quota: { tokens, refillMs } }) => [tokens, refillMs]);
}

/**
 * The verdict of each bucket, by the script's reply. What was written is decided by all of them: nothing,
 * unless every one allows.
 *
 * @throws Error if that is no reply of the script
 */
export function readVerdicts(reply: unknown, buckets: readonly SharedBucket[]): Verdict[] {
  const [nowMs, ...arrivals] = Array.isArray(reply) && reply.every(isTime) ? reply : [];
  if (nowMs === undefined || arrivals.length !== buckets.length) {
    throw new Error('a reply that makes no sense');
  }
  return buckets.map(({ quota }, index) => take(arrivals[index], nowMs, quota));
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
