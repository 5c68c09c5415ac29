/**
 * The cost of keys: the CPU time of a request, and the memory of an idle service, with 100 keys beside one, on both engines.
 * Option: --quick.
 */
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeDigest } from '#src/access/key.js';
import { abba, anonymousPssBytesOf, cpuNsOf, median, pssBytesOf } from './cpu.ts';
import { compile } from './fanout-subjects.ts';
import { ENGINES } from './idle-subjects.ts';
import { isQuick, publish, type Target } from './report.ts';
import { type ServiceProcess, startService } from './service-subject.ts';

const KEYS = [1, 100] as const;
/** A small answer that needs the scope `read`. */
const TARGET = '/api/pw';
const CONNECTIONS = 4;
const REQUESTS = isQuick ? 2000 : 20_000;
/** V8 has compiled what a request needs. */
const WARM_UP = isQuick ? 5000 : 50_000;
const ROUNDS = isQuick ? 2 : 10;
/** Pairs of idle processes with one key and with 100. */
const IDLE_ROUNDS = isQuick ? 1 : 4;
/** As in the idle bench. */
const SETTLE_MS = isQuick ? 5000 : 30_000;
const REQUEST_LIMIT = 1.02;
const MEMORY_LIMIT = 1.01;
const MIB = 2 ** 20;

type Engine = (typeof ENGINES)[number];
type Count = (typeof KEYS)[number];

const keyOf = (at: number) => `key-${at}-`.padEnd(43, '0');

/** Starts the service with `count` keys of `auth.keys`. */
async function startWithKeys(engine: Engine, count: number): Promise<ServiceProcess> {
  const keys = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `key${at}`,
      { digest: describeDigest(keyOf(at)), scopes: ['read'] },
    ]),
  );
  return await startService(1, {
    engine,
    more: { auth: { enabled: true, keys }, history: { minutes: 0 } },
  });
}

const pidOf = ({ child }: ServiceProcess) => child.pid ?? 0;

/** Sends `requests` with the last of `count` keys; `client` is bench/native/requests.c. Throws unless each is answered with 200. */
function ask(client: string, { port }: ServiceProcess, count: number, requests: number): void {
  const args = [port, TARGET, keyOf(count - 1), requests, CONNECTIONS].map(String);
  const { status, stdout, stderr } = spawnSync(client, args, { encoding: 'utf8' });
  if (status !== 0 || Number(stdout) !== requests) throw new Error(`requests failed: ${stderr}`);
}

/** CPU microseconds per request of the rounds in the order ABBA, by number of keys. */
type Rounds = ReadonlyMap<number, readonly number[]>;

async function measureRequests(engine: Engine): Promise<Rounds> {
  const services = new Map<number, ServiceProcess>();
  const taken = new Map<number, number[]>(KEYS.map((count) => [count, []]));
  const client = compile('requests');
  try {
    for (const count of KEYS) services.set(count, await startWithKeys(engine, count));
    for (const [count, service] of services) ask(client, service, count, WARM_UP);
    for (let round = 0; round < ROUNDS; round++)
      for (const [count, service] of abba([...services])) {
        const before = cpuNsOf(pidOf(service));
        ask(client, service, count, REQUESTS);
        taken.get(count)?.push((cpuNsOf(pidOf(service)) - before) / REQUESTS / 1000);
      }
    return taken;
  } finally {
    for (const service of services.values()) await service.stop();
  }
}

/** Returns the bytes of idle processes by number of keys. */
async function measureMemory(engine: Engine) {
  const services: { readonly count: number; readonly service: ServiceProcess }[] = [];
  const order = Array.from({ length: IDLE_ROUNDS }, () => abba(KEYS)).flat();
  try {
    for (const count of order) services.push({ count, service: await startWithKeys(engine, count) });
    await sleep(SETTLE_MS);
    const of = (wanted: number, bytesOf: (pid: number) => number) =>
      services.filter(({ count }) => count === wanted).map(({ service }) => bytesOf(pidOf(service)));
    return new Map(
      KEYS.map((count) => [count, { anonymous: of(count, anonymousPssBytesOf), pss: of(count, pssBytesOf) }]),
    );
  } finally {
    for (const { service } of services) await service.stop();
  }
}

/** Returns the median of the ratios of neighbours in the order ABBA. */
function ratioOf(rounds: Rounds): number {
  const [one = [], many = []] = KEYS.map((count) => rounds.get(count));
  return median(many.map((us, at) => us / (one[at] ?? Number.NaN)));
}

async function measureEngine(engine: Engine) {
  const rounds = await measureRequests(engine);
  const memory = await measureMemory(engine);
  const us = (count: number) => median(rounds.get(count) ?? []);
  const mib = (count: Count, kind: 'anonymous' | 'pss') => median(memory.get(count)?.[kind] ?? []) / MIB;
  const rows = KEYS.map((count) => [
    `${engine}, ${count === 1 ? 'one key' : `${count} keys`}`,
    us(count).toFixed(2),
    (1e6 / us(count)).toFixed(0),
    mib(count, 'anonymous').toFixed(2),
    mib(count, 'pss').toFixed(2),
  ]);
  const [one, many] = KEYS;
  const target = (what: string, measured: number, limit: number): Target => ({
    what: `${engine}: ${what}`,
    measured,
    limit,
    unit: '× one key',
  });
  const targets = [
    target(`CPU time of a request with ${many} keys`, ratioOf(rounds), REQUEST_LIMIT),
    target(
      `anonymous memory, idle, with ${many} keys`,
      mib(many, 'anonymous') / mib(one, 'anonymous'),
      MEMORY_LIMIT,
    ),
  ];
  const figures = { rounds: Object.fromEntries(rounds), memory: Object.fromEntries(memory) };
  return { engine, rows, targets, figures };
}

export async function run(): Promise<void> {
  const results = [];
  for (const engine of ENGINES) results.push(await measureEngine(engine));
  publish({
    name: 'keys',
    columns: [
      'service',
      'CPU µs per request',
      'requests per CPU second',
      'anonymous memory, idle, MiB',
      'PSS, idle, MiB',
    ],
    rows: results.flatMap(({ rows }) => rows),
    targets: results.flatMap(({ targets }) => targets),
    notes: [
      `GET ${TARGET} with the last of the keys, ${CONNECTIONS} at a time over open connections; medians of ${2 * ROUNDS} turns of ${REQUESTS} requests in the order ABBA, and of the ratios of neighbours.`,
      `Memory: medians of ${2 * IDLE_ROUNDS} processes each, started in the order ABBA, ${SETTLE_MS / 1000} s after the last start, history off.`,
    ],
    figures: Object.fromEntries(results.map(({ engine, figures }) => [engine, figures])),
  });
}
