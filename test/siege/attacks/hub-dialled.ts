/** Attacks by clients that dial a hub: hostile machines that have a key, and strangers that prove nothing. */
import type net from 'node:net';
import { pick } from '../../http/mutate.ts';
import { frameBytes, OPCODES } from '../../http/socket-frames.ts';
import { DIAL_UPGRADE, dialIn, message, part } from '../dialler.ts';
import { type Attack, atFullSpeed, atRate, pause, send, type Target } from '../target.ts';
import { NO_UTF8, sampleBytes, WRONG } from './hub-samples.ts';
import { Block } from './shapes.ts';

const SECONDS = 8;
/** At full speed a limit of bytes or of messages is reached within a moment. */
const END_SECONDS = 4;
const DIAL_LIMIT_MS = 5000;
const RECONNECT_MS = 50;

let runs = 0;

/** A connection on which the hostile machine of this worker has proved itself; undefined: the hub did not take it. */
async function enter(target: Target): Promise<net.Socket | undefined> {
  const socket = await target.connect();
  const machine = target.hub.dialled[target.worker];
  const isIn = machine !== undefined && (await dialIn(socket, machine, `run${++runs}`, DIAL_LIMIT_MS));
  if (isIn) return socket;
  socket.destroy();
  return undefined;
}

/** `frames` for ever on a connection with a proof. */
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

/** The hub's name is not known: it takes the feedback of any. */
const FEEDBACK = message('feedback/hub', '{"id":"x","stage":"done"}');
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
    let number = 0;
    await atRate(5, signal, async () => {
      if (socket?.writable !== true) socket = await enter(target);
      if (socket !== undefined)
        send(socket, message('sample', sampleBytes(`run${runs}`, ++number, pick(BAD, random))));
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
      for (let i = 0; i < 20 && socket !== undefined; i++) send(socket, part(Buffer.alloc(48 * 1024, 'x')));
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

/** Upgrades from `count` addresses `127.3.x.y`, without a proof; those that the hub closes are opened again. */
function silent(name: string, addresses: number, sockets: number): Attack {
  return {
    name,
    unit: 'connections',
    seconds: 15,
    needs: 'hub',
    run: async (target, _random, signal) => {
      let next = 0;
      await atFullSpeed(8, signal, async () => {
        if (target.size >= sockets) {
          await pause(20, signal);
          return;
        }
        const index = next++ % addresses;
        const socket = await target.connect({ from: `127.3.${target.worker}.${1 + index}` });
        socket.resume();
        send(socket, DIAL_UPGRADE);
        target.count();
        await pause(2, signal);
      });
    },
  };
}

const BAD_PROOF = message('proof', JSON.stringify({ id: 'nobody', run: 'r', nonce: 'x', proof: 'x' }));

const MAX_OPEN = 500;

/** An upgrade may be refused, because an address has only so many attempts; a false proof must end the connection. */
const FALSE_PROOFS: Attack = {
  name: 'false proofs at full speed',
  unit: 'attempts',
  needs: 'hub',
  run: (target, _random, signal) =>
    atFullSpeed(16, signal, async () => {
      if (target.size >= MAX_OPEN) {
        await pause(20, signal);
        return;
      }
      const socket = await target.connect();
      socket.on('data', (bytes: Buffer) => {
        if (bytes.includes('challenge')) {
          target.expect(socket, END_SECONDS);
          send(socket, BAD_PROOF);
        } else if (bytes.includes('HTTP/1.1 ') && !bytes.includes('HTTP/1.1 101')) socket.destroy();
      });
      socket.resume();
      send(socket, DIAL_UPGRADE);
      target.count();
      await pause(10, signal);
    }),
};

export const HUB_DIALLED: readonly Attack[] = [
  flooding('tiny messages of a dialled machine at full speed', 'messages', [
    FEEDBACK,
    message('media', '{}'),
  ]),
  flooding('states of a dialled machine at full speed', 'messages', [
    message('status', '{"state":"online","run":"a"}'),
    message('status', '{"state":"offline","run":"a"}'),
  ]),
  flooding('empty parts of a dialled machine without an end', 'parts', [EMPTY_PART]),
  flooding('parts of a byte of a dialled machine without an end', 'parts', [TINY_PART]),
  flooding('pings of a dialled machine at full speed', 'frames', [PING, PONG]),
  BAD_SAMPLES,
  UNFINISHED,
  COMING,
  silent('silent dial-ins from 16 addresses', 16, 256),
  silent('silent dial-ins from 200 addresses', 200, 600),
  FALSE_PROOFS,
];
