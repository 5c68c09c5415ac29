/**
 * The real machine through the program itself while a bounded load runs, against independent readings: /proc read and
 * added up here, and df. Tolerances are stated beside each.
 */
import { existsSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { median } from '../../../bench/cpu.ts';
import { EventStream, payloadOf } from '../../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../../helpers/clients/http.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { serveProgram } from '../../helpers/service/service.ts';
import { startLoad } from '../bounded-load.ts';
import { askDf, countedNames, type Reading, readMachine } from '../own-readings.ts';

const MIB = 1024 ** 2;
const WINDOWS = 8;
const LOAD_MS = (WINDOWS + 3) * 1000;

interface Disk {
  readonly fs: string;
  readonly used: number;
  readonly available: number;
  readonly device: string;
  readonly write_bytes: number | null;
}

interface Link {
  readonly name: string;
  readonly bytesSent: number;
  readonly bytesRecv: number;
  readonly receive_rate: number | null;
}

/** The keys of a detailed payload that are compared here. */
interface Payload {
  readonly timestamp: number;
  readonly uptime: number;
  readonly cpu: { readonly current_load: number };
  readonly memory: { readonly used: number; readonly free: number; readonly used_percent: number };
  readonly disks: readonly Disk[];
  readonly network: {
    readonly bytesSent: number;
    readonly bytesRecv: number;
    readonly interfaces: readonly Link[];
  };
}

t.setTimeout(280_000);
const service = await serveProgram(t, { config: { stats: { stream_interval_seconds: 1 } } });
const folder = emptyFolder(t, 'accuracy');

interface Message {
  readonly payload: Payload;
  readonly before: Reading;
  readonly after: Reading;
}

/** Messages of a loaded machine; `before` is from the arrival of the message before, `after` from its own. */
async function watchUnderLoad(): Promise<readonly Message[]> {
  const stopLoad = await startLoad(folder, LOAD_MS);
  const stream = await EventStream.open(service.port, '/api/stream?detail=1');
  const messages: Message[] = [];
  try {
    await stream.next();
    await stream.next();
    let before = readMachine();
    for (let window = 0; window < WINDOWS; window++) {
      const event = await stream.next();
      const after = readMachine();
      // Its values are compared below.
      const payload = payloadOf(event) as unknown as Payload;
      messages.push({ payload, before, after });
      before = after;
    }
  } finally {
    stream.close();
    await stopLoad();
  }
  return messages;
}

const isLinux = process.platform === 'linux';
const messages = isLinux ? await watchUnderLoad() : [];
const options = { skip: isLinux ? false : 'reads /proc' };

t.test(
  '[3.cpu] the load is within 3 points of a second implementation over the same window',
  options,
  async (t) => {
    const windows = messages.map(({ payload, before, after }) => ({
      reported: payload.cpu.current_load,
      own: (100 * (after.busy - before.busy)) / (after.ticks - before.ticks),
    }));
    const apart = windows.map(({ reported, own }) => Math.abs(reported - own));
    t.comment(
      `figure: load reported/own ${windows.map(({ reported, own }) => `${reported}/${own.toFixed(1)}`).join(' ')}`,
    );
    t.ok(median(apart) <= 3, `half of the windows are within ${median(apart).toFixed(1)} points`);
    // This process may wake up late, which moves its window, not the service's.
    t.ok(
      apart.filter((points) => points <= 3).length >= WINDOWS - 2,
      'all but two at most are within 3 points',
    );
    t.ok(
      median(windows.map(({ reported }) => reported)) >= 40 / os.availableParallelism(),
      'the busy core is seen',
    );
  },
);

t.test('[3.memory] used is total less available: within 64 MiB or 1 %', options, async (t) => {
  const tolerance = Math.max(64 * MIB, os.totalmem() / 100);
  const apart = messages.map(({ payload, after }) => Math.abs(payload.memory.used - after.memoryUsed));
  t.comment(`figure: memory at most ${(Math.max(...apart) / MIB).toFixed(1)} MiB apart`);
  // Other programs may take a lot between two readings, once.
  t.ok(apart.filter((bytes) => bytes <= tolerance).length >= WINDOWS - 1);
  for (const { payload } of messages) {
    const { used, free, used_percent } = payload.memory;
    t.ok(Math.abs(used_percent - (100 * used) / (used + free)) <= 0.0501);
  }
});

t.test('[3.top] uptime and time of day within a second', options, async (t) => {
  for (const { payload, after } of messages) t.ok(Math.abs(payload.uptime - after.uptime) <= 1.05);
  const now = Date.now() / 1000 - (performance.now() - (messages.at(-1)?.after.atMs ?? 0)) / 1000;
  t.ok(Math.abs((messages.at(-1)?.payload.timestamp ?? 0) - now) <= 1.05);
});

t.test(
  '[3.network] sums lie between the readings before and after, and never go back',
  options,
  async (t) => {
    let last = { bytesSent: 0, bytesRecv: 0 };
    for (const { payload, before, after } of messages) {
      const counted = countedNames([...after.links.keys()]);
      const sum = (reading: Reading, key: 'sent' | 'received') =>
        counted.reduce((total, name) => total + (reading.links.get(name)?.[key] ?? 0), 0);
      const { bytesSent, bytesRecv } = payload.network;
      t.ok(bytesSent >= sum(before, 'sent') && bytesSent <= sum(after, 'sent'), 'sent');
      t.ok(bytesRecv >= sum(before, 'received') && bytesRecv <= sum(after, 'received'), 'received');
      t.ok(bytesSent >= last.bytesSent && bytesRecv >= last.bytesRecv, 'monotone');
      last = payload.network;
    }
  },
);

t.test('[3.detail-network] each interface; the loopback at the rate of our traffic', options, async (t) => {
  const apart: number[] = [];
  for (const { payload, before, after } of messages)
    for (const link of payload.network.interfaces) {
      const [low, high] = [before.links.get(link.name), after.links.get(link.name)];
      if (low === undefined || high === undefined) continue;
      t.ok(link.bytesSent >= low.sent && link.bytesSent <= high.sent, `${link.name} sent`);
      t.ok(link.bytesRecv >= low.received && link.bytesRecv <= high.received, `${link.name} received`);
      if (link.name !== 'lo') continue;
      const own = (high.received - low.received) / ((after.atMs - before.atMs) / 1000);
      apart.push(Math.abs((link.receive_rate ?? 0) - own) / own);
      t.ok(own > MIB, 'there is traffic');
    }
  t.comment(`figure: loopback rate ${(100 * median(apart)).toFixed(1)} % apart (median)`);
  t.ok(median(apart) <= 0.1, 'within a tenth');
});

t.test('[3.disks] used and available as df reports them: within 32 MiB', options, async (t) => {
  const isWithin = (value: number, a: number, b: number) =>
    value >= Math.min(a, b) - 32 * MIB && value <= Math.max(a, b) + 32 * MIB;
  let wrong: readonly string[] = ['not asked'];
  // A local disk is read every 5 s, so the value shown lies between the two; other programs may write much in that time.
  for (let attempt = 0; attempt < 4 && wrong.length > 0; attempt++) {
    const before = askDf();
    await new Promise((resolve) => setTimeout(resolve, 6000));
    const { disks } = jsonOf(await ask(service.port, '/api/usage?fields=disks')) as Payload; // Compared here.
    const after = askDf();
    t.ok(
      disks.some((disk) => disk.fs === '/'),
      'the root is there',
    );
    wrong = disks.flatMap((disk) => {
      const [low, high] = [before.get(disk.fs), after.get(disk.fs)];
      if (low === undefined || high === undefined) return [`${disk.fs} is unknown to df`];
      const isRight =
        isWithin(disk.used, low.used, high.used) && isWithin(disk.available, low.available, high.available);
      return isRight ? [] : [`${disk.fs}: ${disk.used} ${disk.available}, df ${JSON.stringify([low, high])}`];
    });
  }
  t.strictSame(wrong, []);
});

t.test('[3.detail-disks] bytes written lie between two readings of diskstats', options, async (t) => {
  let compared = 0;
  for (const { payload, before, after } of messages)
    for (const disk of payload.disks) {
      if (disk.write_bytes === null || !existsSync(disk.device)) continue;
      const name = path.basename(realpathSync(disk.device));
      const [low, high] = [before.sectorsWritten.get(name), after.sectorsWritten.get(name)];
      if (low === undefined || high === undefined) continue;
      compared++;
      t.ok(disk.write_bytes >= low * 512 && disk.write_bytes <= high * 512, `${disk.fs} ${name}`);
    }
  t.comment(`figure: ${compared} readings of bytes written compared`);
});
