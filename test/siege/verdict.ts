/** The verdicts on a siege. What does not depend on the machine's speed is asserted always, times in a proof. */
import type { Test } from 'tap';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { checkTime } from '../helpers/limits.ts';
import { percentile } from '../helpers/service/media.ts';
import { statesOf } from './hub.ts';
import { unite } from './observations.ts';
import type { Siege } from './siege.ts';
import { linesPerMinute } from './usage.ts';

const MAX_LATE_MS = 250;
const MAX_STATUS_P99_MS = 20;
/** A hub shares its CPUs with 50 machines that answer, dial in and are attacked themselves. */
const MAX_HUB_STATUS_P99_MS = 50;
const MAX_STATUS_MS = 250;
/** The default of server.max_kept_megabytes. */
const BUDGET_MIB = 64;
const MAX_GROWTH_MIB = 64 + BUDGET_MIB;
export const MAX_LEFT_MIB = 16;
/** Four kinds of lines with at most 100 lines each per minute, in two minutes of the log's own clock. */
const MAX_LINES_PER_MINUTE = 800;

/** The service still answers, and begins streams and sockets. */
async function checkServes(t: Test, { besieged }: Siege): Promise<void> {
  const { get, place, served, honest, service } = besieged;
  for (const target of served) t.equal((await get(target)).status, 200, `${target} is served`);
  const headers: Record<string, string> =
    place.key === undefined ? {} : { Authorization: `Bearer ${place.key}` };
  const stream = await EventStream.open(place.port, place.stream, headers);
  await stream.next();
  await stream.next();
  stream.close();
  const socket = await SocketClient.open(place.port, { headers });
  await socket.ask('ping', undefined, 1);
  socket.cut();
  if (place.hub === undefined) return;
  const states = await statesOf(service);
  const lost = honest.filter((id) => states.get(id) !== 'up');
  t.strictSame(lost, [], `${honest.length} honest machines are up`);
}

function checkHonest(t: Test, { observations, last, form }: Siege): void {
  t.strictSame(
    observations.faults.slice(0, 20),
    [],
    'no honest connection was closed, every probe was answered',
  );
  t.ok((last?.events ?? 0) > 0, `${last?.events} events to honest subscribers`);
  t.equal(last?.missing, 0, 'no event is missing');
  // A failed one is among the faults.
  if (form.role === 'hub')
    t.ok(observations.actMs.length > 0, `${observations.actMs.length} commands and new filters`);
}

function checkUsage(t: Test, { observations, idle, after, form }: Siege): void {
  t.ok(
    after.descriptors <= idle.descriptors,
    `${idle.descriptors} descriptors before, ${after.descriptors} after`,
  );
  const lines = linesPerMinute(observations.seconds.map(({ usage }) => usage));
  t.ok(lines <= MAX_LINES_PER_MINUTE, `${lines} lines of the log in a minute`);
  if (form.isSanitized === true) return;
  const growth = observations.peakMib - idle.memoryMib;
  t.ok(growth <= MAX_GROWTH_MIB, `at most ${growth.toFixed(1)} MiB above ${idle.memoryMib.toFixed(1)} MiB`);
  const left = after.memoryMib - idle.memoryMib;
  t.ok(left <= MAX_LEFT_MIB, `${left.toFixed(1)} MiB more when the attackers have left`);
}

function checkTimes(t: Test, { observations, form }: Siege): void {
  if (form.isSanitized === true) return;
  const { statusMs, worstLateMs } = observations;
  const p99LimitMs = form.role === 'hub' ? MAX_HUB_STATUS_P99_MS : MAX_STATUS_P99_MS;
  checkTime(t, worstLateMs, MAX_LATE_MS, 'the latest event');
  checkTime(t, percentile(statusMs, 0.99), p99LimitMs, 'p99 of /api/status');
  checkTime(t, statusMs.at(-1) ?? Number.NaN, MAX_STATUS_MS, 'the longest /api/status');
}

/** The attackers were cut or refused, and the log says so where a line is due. */
function checkAttackers(t: Test, { observations, form, besieged: { service } }: Siege): void {
  const attacks = [...new Set(observations.runs.map(({ attack }) => attack))];
  const unended = attacks.flatMap(({ name }) => {
    const { due = 0, overdue = 0 } =
      unite(observations.runs.filter(({ attack }) => attack.name === name).map(({ endings }) => endings)) ??
      {};
    return overdue === 0 ? [] : [`${name}: ${overdue} of ${due} connections were not ended in time`];
  });
  t.strictSame(unended, [], 'the service has ended or answered what it had to');
  const unlogged = attacks.flatMap(({ name, log, keyedLog }) => {
    const due = form.hasAuth === true ? keyedLog : log;
    return due === undefined || due.test(service.stderr()) ? [] : [`${name}: no line like ${due}`];
  });
  t.strictSame(unlogged, [], 'the log has a line of each attack where one is due');
}

function printFigures(t: Test, siege: Siege): void {
  const { form, observations, idle, after, recoverySeconds, last } = siege;
  const { statusMs, actMs } = observations;
  const acts =
    actMs.length === 0
      ? ''
      : `${actMs.length} commands and new filters, at most ${Math.max(...actMs).toFixed(0)} ms; `;
  const first = observations.seconds[0]?.usage;
  const end = observations.seconds.at(-1)?.usage;
  const used = (end?.cpuSeconds ?? 0) - (first?.cpuSeconds ?? 0);
  const waited = (end?.waitedSeconds ?? 0) - (first?.waitedSeconds ?? 0);
  t.comment(
    `figure: ${form.name}: ${observations.runs.length} attacks in ${observations.seconds.length} s; ` +
      `${last?.events} events, ${last?.missing} missing, at most ${observations.worstLateMs.toFixed(0)} ms late; ` +
      `/api/status ${statusMs.length} times, p99 ${percentile(statusMs, 0.99).toFixed(1)} ms, ` +
      `at most ${(statusMs.at(-1) ?? Number.NaN).toFixed(0)} ms; ${acts}memory ${idle.memoryMib.toFixed(1)} MiB idle, ` +
      `${observations.peakMib.toFixed(1)} at most, ${after.memoryMib.toFixed(1)} after ${recoverySeconds} s; ` +
      `${used.toFixed(0)} s of CPU, ${waited.toFixed(0)} s of waiting for one; ` +
      `the honest clients themselves were held up for up to ${observations.worstOwnDelayMs.toFixed(0)} ms`,
  );
}

export async function judge(t: Test, siege: Siege): Promise<void> {
  const { service } = siege.besieged;
  printFigures(t, siege);
  t.strictSame(siege.failures, [], 'every attack ran');
  t.ok(siege.observations.runs.length > 0, `${siege.observations.runs.length} attacks`);
  checkHonest(t, siege);
  checkUsage(t, siege);
  checkAttackers(t, siege);
  checkTimes(t, siege);
  await checkServes(t, siege);
  t.notMatch(service.stderr(), /AddressSanitizer|runtime error/, 'no report of a sanitizer');
  const { code, signal } = await service.stop();
  t.strictSame({ code, signal }, { code: 0, signal: null }, 'it lived until it was stopped');
}
