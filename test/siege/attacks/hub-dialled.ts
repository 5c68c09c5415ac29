/** Attacks by clients that dial a hub: hostile machines that have a key, and strangers that prove nothing. */
import type net from 'node:net';
import { pick } from '../../http/mutate.ts';
import { frameBytes, OPCODES } from '../../http/socket-frames.ts';
import { DIAL_UPGRADE, dialIn, message, part } from '../dialler.ts';
import { type Attack, atFullSpeed, atRate, pause, send, type Target } from '../target.ts';

const SECONDS = 8;
/** At full speed a limit of bytes or of messages is reached within a moment. */
const END_SECONDS = 4;
const DIAL_LIMIT_MS = 5000;
const BLOCK_BYTES = 64 * 1024;
const RECONNECT_MS = 50;

const blockOf = (frames: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: Math.ceil(BLOCK_BYTES / frames.length) }, () => frames));

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
  const whole = Buffer.concat(frames);
  const block = blockOf(whole);
  const count = (block.length / whole.length) * frames.length;
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
          target.count(count * (await target.pour(socket, block, signal)));
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

const LINES = {
  cpu: '"cpu":{"current_load":1,"current_temp":51.2,"current_speed":3.4}',
  memory: '"memory":{"used":1154760704,"free":24121266176,"used_percent":4.6}',
  gpu: '"gpu":null',
  disks: '"disks":[{"fs":"/","used":1,"available":1,"used_percent":50}]',
  network: '"network":{"bytesRecv":1,"bytesSent":1}',
};

/** A disk whose mount point has bytes that are no UTF-8. */
const badDisk = (hex: string) =>
  Buffer.concat([Buffer.from('"disks":[{"fs":"'), Buffer.from(hex, 'hex'), Buffer.from('"}]')]);

const WRONG: readonly Partial<Record<keyof typeof LINES, string | Buffer>>[] = [
  { disks: '"disks":null' },
  { disks: '"disks":[null]' },
  { disks: '"disks":' },
  { disks: '"disks":[]},"x":{' },
  { memory: '"memory":[]' },
  { cpu: '' },
  { network: '"network":"none"' },
  { disks: badDisk('ff') },
  { disks: badDisk('eda080') },
];

/** A sample of all sections, as the protocol has it, with other lines in the place of some. */
function sampleOf(number: number, wrong: Partial<Record<string, string | Buffer>>): Buffer {
  const clock = Math.floor(performance.now());
  const head = { v: 1, run: `run${runs}`, clock, n: number, plain: Object.keys(LINES) };
  const lines = Object.entries(LINES).map(([section, line]) => Buffer.from(wrong[section] ?? line));
  const begin = `${JSON.stringify(head)}\n"timestamp":${Math.floor(Date.now() / 1000)},"uptime":1`;
  return Buffer.concat([Buffer.from(begin), ...lines.flatMap((line) => [Buffer.from('\n'), line])]);
}

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
        send(socket, message('sample', sampleOf(++number, pick(WRONG, random) ?? {})));
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
