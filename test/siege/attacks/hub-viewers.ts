/** Viewers of a hub that take what all viewers share: filters, questions, sockets. */
import { requestBytes } from '../../helpers/clients/http.ts';
import { below } from '../../http/mutate.ts';
import { UPGRADE, UPGRADE_HEADERS } from '../../http/socket-attacks.ts';
import { frameBytes, OPCODES } from '../../http/socket-frames.ts';
import { type Attack, atFullSpeed, atRate, pause, send, type Target } from '../target.ts';
import { held, pipelined } from './shapes.ts';

const SECONDS = 12;
/** A hub served 64 different ones in all. */
const FILTERS = 100;
/** The honest clients use 127.0.0.1 to 127.0.0.9; these are all strangers to each other. */
const addressOf = (index: number) => `127.0.0.${66 + (index % 2)}`;

const FILTER_STREAMS: Attack = {
  name: '100 different filters, held by two addresses',
  unit: 'streams',
  seconds: SECONDS,
  needs: 'hub',
  run: async (target, random, signal) => {
    const base = below(1e9, random);
    let next = 0;
    await atFullSpeed(4, signal, async () => {
      if (target.size >= FILTERS) {
        await pause(20, signal);
        return;
      }
      const index = next++;
      const socket = await target.connect({ from: addressOf(index) });
      socket.resume();
      send(socket, requestBytes(`/api/fleet/stream?label=x:${base + index}`));
      target.count();
      await pause(10, signal);
    });
  },
};

/** More than wait for one machine at a time: each half asks one of the real ones. */
const READERS_AT_A_TIME = 400;
const EVERYTHING = 'series=cpu.*,memory.*,network.*,disk.*,sensor.*,process.*&step=1';

/** Questions from two addresses, no two of which can share an answer, and the next as soon as one is answered. */
const READERS: Attack = {
  name: 'the past, read in a loop by two addresses',
  unit: 'answers',
  seconds: SECONDS,
  needs: 'hub',
  run: async (target, _random, signal) => {
    let asked = 0;
    await atFullSpeed(READERS_AT_A_TIME, signal, async (worker) => {
      const socket = await target.connect({ from: addressOf(worker) });
      const machine = target.hub.real[(worker >> 1) % target.hub.real.length];
      const path = `/api/hosts/${machine}/history?since=-${300 + (asked++ % 300)}&${EVERYTHING}`;
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.resume();
      send(socket, requestBytes(path, { headers: { Connection: 'close' } }));
      await Promise.race([closed, aborted(signal)]);
      target.count();
    });
  },
};

/** One listener for each signal, however many wait for it. */
const aborts = new WeakMap<AbortSignal, Promise<unknown>>();

function aborted(signal: AbortSignal): Promise<unknown> {
  const known =
    aborts.get(signal) ?? new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  aborts.set(signal, known);
  return signal.aborted ? Promise.resolve() : known;
}

const SILENT = held(
  { name: 'silent WebSockets of one machine and of all', unit: 'sockets', seconds: SECONDS, needs: 'hub' },
  { perSecond: 100, max: 500 },
  (target) => {
    const one = requestBytes(`${target.place.machine}/ws`, { headers: UPGRADE_HEADERS });
    return target.upgrade(target.size % 2 === 0 ? one : UPGRADE);
  },
);

function subscribe(target: Target, isOn: boolean, id: number): Buffer {
  const { watched, shown, real } = target.hub;
  // The view that honest clients have too: a machine that is asked for more sends a sample at another time.
  const data = { topics: ['stats', 'processes'] };
  const op = isOn ? 'subscribe' : 'unsubscribe';
  const message = { op, id, hosts: [...watched, ...shown, ...real], ...(isOn && { data }) };
  return frameBytes({ opcode: OPCODES.text, payload: Buffer.from(JSON.stringify(message)) });
}

/** As often as a socket may send. */
const SUBSCRIPTIONS: Attack = {
  name: 'subscriptions of all machines, in turn with their ends',
  unit: 'messages',
  needs: 'hub',
  run: async (target, _random, signal) => {
    const sockets = await Promise.all(Array.from({ length: 20 }, () => target.upgrade()));
    let id = 0;
    await atRate(18, signal, () => {
      id++;
      for (const socket of sockets) send(socket, subscribe(target, id % 2 === 1, id));
      target.count(sockets.length);
    });
  },
};

const LIST_PATHS = ['/api/hosts', '/api/hosts?label=site:siege&state=up', '/metrics'];
let asked = 0;
const LISTS = pipelined(
  { name: 'lists of all machines at full speed', unit: 'requests', needs: 'hub' },
  8,
  LIST_PATHS.length,
  () => requestBytes(LIST_PATHS[asked++ % LIST_PATHS.length] ?? '/'),
);

export const HUB_VIEWERS: readonly Attack[] = [FILTER_STREAMS, READERS, SILENT, SUBSCRIPTIONS, LISTS];
