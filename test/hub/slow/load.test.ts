/** A hub with a thousand simulated agents: its memory per host, its CPU time per sample, the delay to 3,000 viewers. */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { TIMES } from '#src/agent/remote/times.js';
import { ask } from '../../helpers/clients/http.ts';
import { collectedBytes } from '../../helpers/collected.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { startService } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { startHub } from '../setup.ts';
import { seenBy, startCrowd } from './crowds.ts';

t.setTimeout(1_200_000);

const FEW = 200;
const HOSTS = 1000;
const VIEWERS = 3000;
const SECONDS = process.env['HOSTWIRE_FULL'] === '1' ? 60 : 15;

/** Anonymous memory in KiB, which is the process's own. */
const memoryOf = (pid: number) =>
  Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Milliseconds of CPU time. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const agentsOf = (port: number, count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `h${i}`,
      { url: `http://127.1.${i >> 8}.${i & 255}:${port}`, labels: {} },
    ]),
  );

async function metricOf(port: number, name: string): Promise<number> {
  const lines = String((await ask(port, '/metrics')).body).split('\n');
  return Number(lines.find((line) => line.startsWith(`hostwire_hub_${name} `))?.split(' ')[1]);
}

const samplesOf = async (port: number) => await metricOf(port, 'samples_total');

/** Live memory of this process in KiB. */
const collected = () => collectedBytes() / 1024;

t.test('[I.hub.load] memory per host without viewers', async (t) => {
  const port = await findFreePort();
  await startCrowd(t, 'agents', port).ready;
  await startHub(t, {});
  const before = collected();
  const hub = await startHub(t, agentsOf(port, HOSTS), {}, TIMES);
  await until(async () => {
    await sleep(1000);
    return (await metricOf(hub.port, 'hosts{state="up"}')) === HOSTS ? true : undefined;
  });
  // Two rounds of checks, each of which must leave nothing.
  await sleep(14_000);
  const perHost = (collected() - before) / HOSTS;
  t.ok(perHost > 0.1 && perHost < 8, `${perHost.toFixed(1)} KiB per host`);
  t.comment(`figure: ${perHost.toFixed(1)} KiB are buffered for a machine without viewers`);
});

t.test('[I.hub.load] a thousand agents and three thousand viewers', async (t) => {
  const port = await findFreePort();
  await startCrowd(t, 'agents', port).ready;
  // Compared with a hub of some hosts: what the checks leave until V8 collects it does not grow with them.
  const [few, hub] = await Promise.all(
    [FEW, FEW + HOSTS].map((count) =>
      startService({ config: { hub: { agents: agentsOf(port, count) } }, args: ['hub'] }),
    ),
  );
  if (few === undefined || hub === undefined) throw new Error('there are two');
  t.teardown(() => Promise.all([few.stop(), hub.stop()]));
  await until(async () => {
    await sleep(1000);
    return (await metricOf(hub.port, 'hosts{state="up"}')) === FEW + HOSTS ? true : undefined;
  });
  // Three rounds of checks, so that all of a host is there that stays.
  await sleep(33_000);
  const perHost = (memoryOf(hub.pid) - memoryOf(few.pid)) / HOSTS;
  const restCpu = cpuOf(hub.pid);
  await sleep(10_000);
  const restPercent = (cpuOf(hub.pid) - restCpu) / 100;

  const viewers = startCrowd(t, 'viewers', hub.port, VIEWERS, HOSTS);
  await viewers.ready;
  viewers.say('measure');
  await sleep(2000);
  const [cpu, samples] = [cpuOf(hub.pid), await samplesOf(hub.port)];
  await sleep(SECONDS * 1000);
  const spentMs = cpuOf(hub.pid) - cpu;
  const passed = (await samplesOf(hub.port)) - samples;
  const watched = (memoryOf(hub.pid) - memoryOf(few.pid)) / HOSTS;
  const seen = await seenBy([viewers]);
  viewers.end();
  t.equal(seen.lost + seen.lostBefore, 0, 'no event was lost');
  t.equal(seen.doubled + seen.disordered, 0, 'each came once, in order');
  t.equal(seen.ended, 0, 'no stream has ended');
  t.ok(seen.events > VIEWERS * SECONDS * 0.8, `${seen.events} events`);
  const perSample = (spentMs * 1000) / passed;
  const perEvent = perSample / (VIEWERS / HOSTS);
  t.comment(
    `figure: ${perHost.toFixed(1)} KiB of the process per host without viewers, what V8 has not collected yet included, ` +
      `and ${restPercent.toFixed(1)} % of a core for the checks; ` +
      `${watched.toFixed(1)} KiB per host with ${VIEWERS / HOSTS} viewers each; ${seen.events} events, ${seen.lost} lost; ` +
      `${perSample.toFixed(0)} µs of CPU per sample and its ${VIEWERS / HOSTS} events (${perEvent.toFixed(0)} µs each); ` +
      `delay p50 ${seen.p50.toFixed(1)} ms, p99 ${seen.p99.toFixed(1)} ms, at most ${seen.max.toFixed(0)} ms`,
  );
});
