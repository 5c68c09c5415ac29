/**
 * CPU time of a scrape: the addon's reading beside bare reads of the same files in C, and the whole service beside
 * node_exporter, each scraped once a second, without processes and with them; and how many readings 1,000 scrapes a
 * second take. `--quick`: fewer rounds.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { abba, median } from './cpu.ts';
import { BUILD, isQuick, publish, ROOT } from './report.ts';
import { findFreePort, startService } from './service-subject.ts';
import { Subject } from './subject.ts';

const BLOCKS = isQuick ? 2 : 4;
const READINGS = isQuick ? 200 : 500;
const SCRAPES = isQuick ? 2 : 7;
const WARM_UP = 10;
const CROWD_SECONDS = 5;
const CROWD_PER_SECOND = 1000;
const CLIENTS = 20;
/** Limits: ratio to the bare reads, and to node_exporter. */
const READ_LIMIT = 1.5;
const EXPORTER_LIMIT = 0.5;
const CROWD_LIMIT = 1;

/** Files of a reading; the kernel's list of interfaces has no file. */
const FILES = [
  ...['stat', 'loadavg', 'meminfo', 'vmstat', 'diskstats', 'sys/fs/file-nr', 'net/dev'],
  ...['pressure/cpu', 'pressure/io', 'pressure/memory', 'pressure/irq'],
  ...['sys/kernel/random/entropy_avail', 'sys/kernel/random/poolsize'],
  ...['sys/net/netfilter/nf_conntrack_count', 'sys/net/netfilter/nf_conntrack_max'],
  ...['net/sockstat', 'net/sockstat6', 'net/snmp', 'net/netstat', 'net/snmp6', 'net/softnet_stat'],
].map((name) => `/proc/${name}`);
const CLOCK_SOURCE = '/sys/devices/system/clocksource/clocksource0';
FILES.push(`${CLOCK_SOURCE}/current_clocksource`, `${CLOCK_SOURCE}/available_clocksource`);

function compileFloor(): string {
  mkdirSync(BUILD, { recursive: true });
  const binary = path.join(BUILD, 'read_floor');
  const source = path.join(ROOT, 'bench/native/read_floor.c');
  if (spawnSync('gcc', ['-O2', '-o', binary, source], { stdio: 'inherit' }).status !== 0)
    throw new Error('the floor was not compiled');
  return binary;
}

/** Returns CPU nanoseconds per round of each subject, in blocks of ABBA. */
async function measure<Name extends string>(
  names: readonly Name[],
  block: (name: Name) => Promise<number>,
): Promise<Readonly<Record<Name, number>>> {
  const taken = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let at = 0; at < BLOCKS; at++)
    for (const name of abba(names)) taken.get(name)?.push(await block(name));
  // Each name has its medians.
  return Object.fromEntries([...taken].map(([name, all]) => [name, median(all)])) as Record<Name, number>;
}

async function measureReadings() {
  const subjects = {
    floor: new Subject(
      compileFloor(),
      FILES.filter((file) => existsSync(file)).flatMap((file) => ['read', file]),
    ),
    addon: new Subject(process.execPath, [path.join(ROOT, 'build/ts/bench/subjects/metrics.js')]),
  };
  await subjects.addon.run(READINGS, 0);
  const measured = await measure(
    ['floor', 'addon'],
    async (name) => (await subjects[name].run(READINGS, 0)) / READINGS,
  );
  for (const subject of Object.values(subjects)) await subject.stop();
  return measured;
}

/** Sums all threads, including ended ones: utime and stime of proc_pid_stat(5), in ticks of 10 ms. */
function cpuNsOfAll(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 1e7;
}

async function startExporter(...more: readonly string[]) {
  const address = `127.0.0.1:${await findFreePort()}`;
  const options = [`--web.listen-address=${address}`, '--web.disable-exporter-metrics', '--log.level=error'];
  const child = spawn('prometheus-node-exporter', [...options, ...more], { stdio: 'ignore' });
  return { pid: child.pid ?? 0, url: `http://${address}/metrics`, stop: async () => child.kill() };
}

async function startOwn(hasProcesses: boolean) {
  const more = { features: { enable_processes: hasProcesses } };
  const { child, port, stop } = await startService(1, { more });
  return { pid: child.pid ?? 0, url: `http://127.0.0.1:${port}/metrics`, stop };
}

async function measureScrapes() {
  const targets = {
    exporter: await startExporter(),
    service: await startOwn(false),
    exporterOfProcesses: await startExporter('--collector.processes'),
    serviceOfProcesses: await startOwn(true),
  };
  const scrape = async (url: string) => await (await fetch(url)).arrayBuffer();
  const turns = abba(Object.values(targets));
  try {
    // The first ones load and compile.
    for (let at = 0; at < WARM_UP; at++) {
      await sleep(1050);
      await Promise.all(Object.values(targets).map(({ url }) => scrape(url)));
    }
    const before = new Map(turns.map(({ pid }) => [pid, cpuNsOfAll(pid)]));
    for (let block = 0; block < BLOCKS; block++)
      for (const { url } of turns)
        for (let at = 0; at < SCRAPES; at++) {
          await sleep(1050);
          await scrape(url);
        }
    // From the first to the last, because the kernel counts in steps of 10 ms; between its turns no subject
    // does anything.
    const scrapes = (BLOCKS * SCRAPES * turns.length) / Object.keys(targets).length;
    const spent = ({ pid }: { readonly pid: number }) =>
      (cpuNsOfAll(pid) - (before.get(pid) ?? Number.NaN)) / scrapes;
    return {
      exporter: spent(targets.exporter),
      service: spent(targets.service),
      exporterOfProcesses: spent(targets.exporterOfProcesses),
      serviceOfProcesses: spent(targets.serviceOfProcesses),
      crowd: await measureCrowd(targets.serviceOfProcesses.url),
    };
  } finally {
    for (const target of Object.values(targets)) await target.stop();
  }
}

/** Returns readings per second at 1,000 scrapes a second: each reading has another time. */
async function measureCrowd(url: string) {
  const times = new Set<string>();
  const scrape = async () => {
    const [, time = ''] =
      /^node_time_seconds (\S+)$/m.exec(
        await (await fetch(url, { headers: { 'Accept-Encoding': 'identity' } })).text(),
      ) ?? [];
    times.add(time);
  };
  const started = performance.now();
  const client = async () => {
    for (let sent = 0; sent < CROWD_SECONDS * (CROWD_PER_SECOND / CLIENTS); sent++) {
      await scrape();
      const dueMs = started + ((sent + 1) * CLIENTS * 1000) / CROWD_PER_SECOND;
      await sleep(Math.max(0, dueMs - performance.now()));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  // The first reading has already been made.
  const seconds = (performance.now() - started) / 1000;
  return { readings: (times.size - 1) / seconds, scrapes: (CROWD_SECONDS * CROWD_PER_SECOND) / seconds };
}

export async function run(): Promise<void> {
  const readings = await measureReadings();
  const scrapes = await measureScrapes();
  const micro = (ns: number) => `${(ns / 1000).toFixed(0)} µs`;
  publish({
    name: 'metrics',
    columns: ['what', 'CPU time', 'compared with', 'CPU time'],
    rows: [
      ["the addon's reading and text", micro(readings.addon), 'bare reads in C', micro(readings.floor)],
      [
        'a scrape of the service',
        micro(scrapes.service),
        'a scrape of node_exporter',
        micro(scrapes.exporter),
      ],
      [
        'a scrape of the service with processes',
        micro(scrapes.serviceOfProcesses),
        "a scrape of node_exporter with its collector 'processes'",
        micro(scrapes.exporterOfProcesses),
      ],
    ],
    targets: [
      {
        what: 'a reading, of the bare reads',
        measured: readings.addon / readings.floor,
        limit: READ_LIMIT,
        unit: 'times',
      },
      {
        what: 'a scrape, of one of node_exporter',
        measured: scrapes.service / scrapes.exporter,
        limit: EXPORTER_LIMIT,
        unit: 'times',
      },
      {
        what: 'a scrape with processes, of one of node_exporter with processes',
        measured: scrapes.serviceOfProcesses / scrapes.exporterOfProcesses,
        limit: EXPORTER_LIMIT,
        unit: 'times',
      },
      {
        what: `readings at ${scrapes.crowd.scrapes.toFixed(0)} scrapes a second`,
        measured: scrapes.crowd.readings,
        limit: CROWD_LIMIT,
        unit: 'per second',
      },
    ],
    notes: [
      'Readings back to back, scrapes once a second.',
      "The addon also asks for the kernel's list of interfaces, which the bare reads have as /proc/net/dev.",
    ],
    figures: { readings, scrapes },
  });
}
