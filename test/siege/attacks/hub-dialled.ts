/** Attacks by clients that dial a hub: hostile machines that have a key, and strangers that have none. */
import type net from 'node:net';
import { below, pick } from '../../http/mutate.ts';
import { frameBytes, OPCODES } from '../../http/socket-frames.ts';
import { dialIn, dialUpgrade, message, part } from '../dialler.ts';
import { type Attack, atFullSpeed, atRate, pause, send, type Target } from '../target.ts';
import { NO_UTF8, sampleBytes, WRONG } from './hub-samples.ts';
import { Block } from './shapes.ts';

const SECONDS = 8;
/** At full speed a limit of bytes or of messages is reached within a moment. */
const END_SECONDS = 4;
const DIAL_LIMIT_MS = 5000;
const RECONNECT_MS = 50;

let runs = 0;

/** A connection of the hostile machine of this worker; undefined: the hub did not take it. */
async function enter(target: Target): Promise<net.Socket | undefined> {
  const socket = await target.connect();
  const machine = target.hub.dialled[target.worker];
  const isIn = machine !== undefined && (await dialIn(socket, machine, `run${++runs}`, DIAL_LIMIT_MS));
  if (isIn) return socket;
  socket.destroy();
  return undefined;
}

/** `frames` for ever on a connection that the hub has taken. */
function flooding(name: string, unit: string, frames: readonly Buffer[]): Attack {
  const block = new Block(Buffer.concat(frames));
  return {
    name,
    unit,
    seconds: SECONDS,
    needs: 'hub',
    run: (target, _random, signal) =>
      atFullSpeed(1, signal, async () => {
        const socket = await enter(target);
        if (socket !== undefined) {
          target.expect(socket, END_SECONDS);
          await block.pour(socket, target, signal, frames.length);
        }
        await pause(RECONNECT_MS, signal);
      }),
  };
}

const ANSWER = message('answer', '{"body":{}}', 'x');
const EMPTY_PART = part(Buffer.alloc(0));
const TINY_PART = part(Buffer.of(120));
const PING = frameBytes({ opcode: OPCODES.ping });
const PONG = frameBytes({ opcode: OPCODES.pong });

const BAD = [...WRONG, ...NO_UTF8];

const BAD_SAMPLES: Attack = {
  name: 'dialled machines whose samples are wrong',
  unit: 'samples',
  seconds: SECONDS,
  needs: 'hub',
  run: async (target, random, signal) => {
    let socket: net.Socket | undefined;
    await atRate(5, signal, async () => {
      if (socket?.writable !== true) socket = await enter(target);
      if (socket !== undefined) send(socket, message('system_stats', sampleBytes(pick(BAD, random))));
      target.count();
    });
  },
};

const UNFINISHED: Attack = {
  name: 'dialled machines with a message of 1 MB that never ends',
  unit: 'messages',
  seconds: SECONDS,
  needs: 'hub',
  run: (target, _random, signal) =>
    atRate(2, signal, async () => {
      const socket = await enter(target);
      for (let i = 0; i < 20 && socket !== undefined; i++)
        send(socket, part(Buffer.alloc(48 * 1024, 'x'), i === 0));
      target.count();
    }),
};

const COMING: Attack = {
  name: 'dialled machines that come and go at full speed',
  unit: 'connections',
  needs: 'hub',
  run: (target, _random, signal) =>
    atFullSpeed(1, signal, async () => {
      (await enter(target))?.destroy();
      target.count();
    }),
};

/** Each takes the place of the one before it. */
const SILENT: Attack = {
  name: 'silent dial-ins from 16 addresses',
  unit: 'connections',
  seconds: 15,
  needs: 'hub',
  run: async (target, _random, signal) => {
    let next = 0;
    await atFullSpeed(8, signal, async () => {
      const index = next++ % 16;
      const socket = await target.connect({ from: `127.3.${target.worker}.${1 + index}` });
      socket.resume();
      const machine = target.hub.dialled[target.worker];
      if (machine !== undefined) send(socket, dialUpgrade(machine, `silent${index}`));
      target.count();
      await pause(20, signal);
    });
  },
};

const MAX_OPEN = 500;

/** Each is refused; beyond the rate the connection ends with it. */
const FALSE_KEYS: Attack = {
  name: 'false keys of machines at full speed',
  unit: 'attempts',
  needs: 'hub',
  run: (target, random, signal) =>
    atFullSpeed(16, signal, async () => {
      if (target.size >= MAX_OPEN) {
        await pause(20, signal);
        return;
      }
      const socket = await target.connect();
      socket.once('data', () => socket.destroy());
      socket.resume();
      const id = target.hub.dialled[target.worker]?.id ?? '';
      send(socket, dialUpgrade({ id, key: `false${below(1e9, random)}` }, 'r'));
      target.count();
      await pause(10, signal);
    }),
};

export const HUB_DIALLED: readonly Attack[] = [
  flooding('tiny messages of a dialled machine at full speed', 'messages', [
    ANSWER,
    message('media_update', '{}'),
  ]),
  flooding('plans of a dialled machine at full speed', 'messages', [
    message('closing', '{"reason":"sleep"}'),
    message('pong', '{"clock":1}'),
  ]),
  flooding('empty parts of a dialled machine without an end', 'parts', [EMPTY_PART]),
  flooding('parts of a byte of a dialled machine without an end', 'parts', [TINY_PART]),
  flooding('pings of a dialled machine at full speed', 'frames', [PING, PONG]),
  BAD_SAMPLES,
  UNFINISHED,
  COMING,
  SILENT,
  FALSE_KEYS,
];
