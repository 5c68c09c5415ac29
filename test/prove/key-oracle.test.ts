/** The duration of an answer reveals nothing about the keys of a service. */
import { renameSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import t, { type Test } from 'tap';
import { describeDigest, type KeySettings } from '#src/access/key.js';
import { accuracyOn, describe, randomOrder, type Sample } from '../browser/timing/classifier.ts';
import { Connection } from '../browser/timing/replay.ts';
import { ask } from '../helpers/clients/http.ts';
import { bearer, keyOf } from '../helpers/keys.ts';
import {
  type ConfigPart,
  configText,
  type ServiceProcess,
  serveProgram,
} from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

/** Half of the samples train a classifier and half test it: the standard deviation of chance is 0.8 percent points. */
const SAMPLES = 8000;
const MAX_ACCURACY = 0.55;
const MIN_CONTROL = 0.6;
/** Requests of one address: fewer wrong keys than access/refusals.ts allows in a burst. */
const REQUESTS_PER_ADDRESS = 80;
/** V8 has compiled what a request needs. */
const WARM_UP = 4000;
/** Requests after a reload that do not count. */
const SETTLING = 10;
/** Few, because the load of the machine changes from block to block: samples of a block are alike whatever the keys. */
const SAMPLES_PER_BLOCK = 8;
const MANY_KEYS = 100;

const KEY = keyOf('reader');
/** As KEY, with another character in the first place, or in the last. */
const WRONG_FIRST = `x${KEY.slice(1)}`;
const WRONG_LAST = `${KEY.slice(0, -1)}x`;
const UNKNOWN = keyOf('nobody');

type Entry = Omit<KeySettings, 'key_file'>;

const entry = (key: string, more: Partial<Entry> = {}): Entry => ({
  digest: describeDigest(key),
  scopes: ['read'],
  ...more,
});

const KEYS = {
  reader: entry(KEY),
  expired: entry(keyOf('expired'), { expires: '2020-01-01' }),
  elsewhere: entry(keyOf('elsewhere'), { addresses: ['192.0.2.1'] }),
};

const configWith = (keys: Readonly<Record<string, Entry>>): ConfigPart => ({ auth: { enabled: true, keys } });

const ONE_KEY = configWith({ reader: KEYS.reader });
const HUNDRED_KEYS = configWith({
  ...Object.fromEntries(
    Array.from({ length: MANY_KEYS - 1 }, (_, at) => [`key${at}`, entry(keyOf(`key${at}`))]),
  ),
  reader: KEYS.reader,
});

/** Clients without a key may read; the key may not. Neither may see processes. */
const WITH_GUESTS: ConfigPart = {
  auth: { enabled: false, keys: { media: entry(keyOf('media'), { scopes: ['media'] }) }, guests: ['read'] },
};

interface Pair {
  readonly name: string;
  readonly first: string;
  readonly second: string;
}

/** The answers of each pair are equal. */
const WRONG_PAIRS: readonly Pair[] = [
  { name: 'wrong in the first character and in the last', first: WRONG_FIRST, second: WRONG_LAST },
  { name: 'wrong in the last character and unknown', first: WRONG_LAST, second: UNKNOWN },
  { name: 'unknown and expired', first: UNKNOWN, second: keyOf('expired') },
  { name: 'unknown and of another address', first: UNKNOWN, second: keyOf('elsewhere') },
  { name: 'expired and of another address', first: keyOf('expired'), second: keyOf('elsewhere') },
];

const requestWith = (key: string, path: string) =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`, 'latin1');

let addresses = 0;

/** An address of this machine that has not been used. */
function newAddress(): string {
  addresses++;
  return `127.1.${addresses >> 8}.${addresses & 255}`;
}

/** Times requests with one of two keys in random order, each address for a while. */
async function timePair(port: number, { first, second }: Pair, path: string, seed: number) {
  const [one, other] = [requestWith(first, path), requestWith(second, path)];
  const samples: Sample[] = [];
  let connection: Connection | undefined;
  for (const [at, isFirst] of randomOrder(SAMPLES, seed).entries()) {
    if (connection === undefined || at % REQUESTS_PER_ADDRESS === 0) {
      connection?.close();
      connection = await Connection.open(port, newAddress());
      // The first wrong key of an address is logged.
      await connection.time(one);
    }
    samples.push({ isFirst, tookMs: await connection.time(isFirst ? one : other) });
  }
  connection?.close();
  return samples;
}

/** Gives the service one key, or a hundred: only then one of the others is valid. */
async function become({ configFile, pid, port }: ServiceProcess, hasOneKey: boolean): Promise<void> {
  writeFileSync(`${configFile}.next`, configText(hasOneKey ? ONE_KEY : HUNDRED_KEYS), { mode: 0o600 });
  renameSync(`${configFile}.next`, configFile);
  process.kill(pid, 'SIGHUP');
  const headers = bearer('key0');
  const from = newAddress();
  await until(
    async () => (await ask(port, '/api/pw', { headers }, from)).status === (hasOneKey ? 401 : 200),
    'a reload',
  );
}

/** Times requests with `key` to a service with ONE_KEY, which has that or HUNDRED_KEYS by turns in random order. */
async function timeChanging(service: ServiceProcess, key: string, seed: number) {
  const request = requestWith(key, '/api/pw');
  const samples: Sample[] = [];
  let now = true;
  // Balanced in either half: else a classifier that learns which side is more frequent is wrong in the other half.
  const half = 2 * Math.ceil(SAMPLES / SAMPLES_PER_BLOCK / 4);
  for (const isFirst of [...randomOrder(half, seed), ...randomOrder(half, seed + 1)]) {
    if (isFirst !== now) await become(service, isFirst);
    now = isFirst;
    const connection = await Connection.open(service.port, newAddress());
    for (let done = -SETTLING; done < SAMPLES_PER_BLOCK; done++) {
      const tookMs = await connection.time(request);
      if (done >= 0) samples.push({ isFirst, tookMs });
    }
    connection.close();
  }
  if (!now) await become(service, true);
  return samples;
}

async function warmUp(port: number, keys: readonly string[], path: string): Promise<void> {
  for (const key of keys) {
    const request = requestWith(key, path);
    for (let done = 0; done < WARM_UP / keys.length; done += REQUESTS_PER_ADDRESS) {
      const connection = await Connection.open(port, newAddress());
      for (let count = 0; count < REQUESTS_PER_ADDRESS; count++) await connection.time(request);
      connection.close();
    }
  }
}

function checkHidden(t: Test, samples: readonly Sample[], what: string): void {
  t.ok(accuracyOn(samples).best <= MAX_ACCURACY, `${what}: ${describe(samples)}`);
  t.comment(`figure: ${what}: ${describe(samples)}`);
}

async function start(t: Test, config: ConfigPart): Promise<ServiceProcess> {
  return await serveProgram(t, { config });
}

t.setTimeout(3_000_000);

t.test('keys that are not valid cannot be distinguished', { timeout: 900_000 }, async (t) => {
  const { port } = await start(t, configWith(KEYS));
  const path = '/api/pw';
  const keys = [...new Set([KEY, ...WRONG_PAIRS.flatMap(({ first, second }) => [first, second])])];
  await warmUp(port, keys, path);
  for (const [index, pair] of WRONG_PAIRS.entries())
    checkHidden(t, await timePair(port, pair, path, index), pair.name);
  const known = await timePair(port, { name: '', first: KEY, second: UNKNOWN }, path, 1);
  t.ok(
    accuracyOn(known).best > MIN_CONTROL,
    `not hidden, a right key and an unknown one: ${describe(known)}`,
  );
  t.comment(`figure: not hidden, a right key and an unknown one: ${describe(known)}`);
});

t.test('the number of keys cannot be found out', { timeout: 1_800_000 }, async (t) => {
  const service = await start(t, ONE_KEY);
  await warmUp(service.port, [KEY, UNKNOWN], '/api/pw');
  for (const [name, key] of [
    ['a right key', KEY],
    ['an unknown key', UNKNOWN],
  ] as const)
    checkHidden(t, await timeChanging(service, key, 7), `${name}, of one key and of ${MANY_KEYS}`);
});

t.test('an unknown key and one that may do too little, beside guests', { timeout: 900_000 }, async (t) => {
  const { port } = await start(t, WITH_GUESTS);
  const path = '/api/processes';
  const few = keyOf('media');
  const statusOf = async (key: string, target: string) =>
    (await ask(port, target, { headers: { Authorization: `Bearer ${key}` } })).status;
  t.strictSame([await statusOf(UNKNOWN, path), await statusOf(few, path)], [403, 403]);
  // So the key need not be hidden, and is not: the web guard judges only requests without one.
  t.strictSame([await statusOf(UNKNOWN, '/api/usage'), await statusOf(few, '/api/usage')], [200, 403]);
  await warmUp(port, [UNKNOWN, few], path);
  const samples = await timePair(port, { name: '', first: UNKNOWN, second: few }, path, 3);
  t.comment(
    `figure: not hidden, an unknown key and one with too few scopes beside guests: ${describe(samples)}`,
  );
});
