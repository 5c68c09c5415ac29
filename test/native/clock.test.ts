/** The clocks of the machine. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import '../helpers/service/dead-buses.ts';
import { openNativeHost } from '#src/host/native.js';

const uptimeMs = () => Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 1000;

/** /proc/uptime has two decimals. */
const ROUNDED_MS = 10;

t.test('the time since boot counts suspended time, as the uptime does', (t) => {
  const host = openNativeHost();
  const before = uptimeMs();
  const [first, reading, second] = [host.sinceBootMs(), host.readCounters(0, false, 0), host.sinceBootMs()];
  t.ok(before - ROUNDED_MS <= first && second <= uptimeMs() + ROUNDED_MS, `${before} ${first} ${second}`);
  const ms = reading.sinceBootNs / 1e6;
  t.ok(first <= ms && ms <= second, 'the same clock as that of readings');
  t.end();
});

t.test('[12.clock-error] the error of the clock is that of the metrics of the same kernel', async (t) => {
  const host = openNativeHost();
  const { clockErrorSeconds } = host.readCounters(0, false, 0);
  const text = (await host.readMetrics()).toString();
  const metric = (name: string) => Number(new RegExp(`^node_timex_${name} (.*)$`, 'm').exec(text)?.[1]);
  if (metric('sync_status') === 0) t.ok(Number(clockErrorSeconds) >= 16, 'nothing synchronizes it');
  // 500 µs per second pass between two readings.
  else t.ok(Math.abs(Number(clockErrorSeconds) - metric('maxerror_seconds')) < 0.1);
});
