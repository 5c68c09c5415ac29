/** Attacks on /api/ws: expensive questions, messages that never end, floods, odd ends. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { below, pick } from '../../http/mutate.ts';
import { attack, UPGRADE } from '../../http/socket-attacks.ts';
import { frameBytes, OPCODES } from '../../http/socket-frames.ts';
import { type Attack, atRate, pause, send, type Target } from '../target.ts';
import { listQuery } from './requests.ts';
import { held } from './shapes.ts';

const SOCKETS = 20;
const BURST = 40;
const HELD = { perSecond: 20, max: 100 };

/** A text frame; for the socket of a hub with the machines in it: several to subscribe, otherwise one. */
const text = (
  { place: { hub } }: Target,
  message: { readonly op: string; readonly [key: string]: unknown },
) => {
  const where = message.op === 'subscribe' ? { hosts: hub?.shown } : { host: hub?.real[0] };
  const payload = Buffer.from(JSON.stringify(hub === undefined ? message : { ...message, ...where }));
  return frameBytes({ opcode: OPCODES.text, payload });
};
const open = (target: Target, count: number) =>
  Promise.all(Array.from({ length: count }, () => target.upgrade()));

function lists(how: string, isRead: boolean): Attack {
  return {
    name: `process lists over WebSocket, all different, ${how}`,
    unit: 'messages',
    run: async (target, random, signal) => {
      const sockets = await open(target, SOCKETS);
      if (!isRead) for (const socket of sockets) socket.pause();
      // A burst of 40 messages is allowed, and again after 2 s.
      await atRate(0.5, signal, () => {
        for (const socket of sockets) {
          const messages = Array.from({ length: BURST }, (_, id) =>
            text(target, { op: 'process_list', id, data: listQuery(random) }),
          );
          send(socket, Buffer.concat(messages));
        }
        target.count(SOCKETS * BURST);
      });
    },
  };
}

const PART = frameBytes({ opcode: OPCODES.continuation, payload: Buffer.alloc(1000, 'x'), isPart: true });
const FIRST_PART = frameBytes({ opcode: OPCODES.text, payload: Buffer.alloc(1000, 'x'), isPart: true });

const UNFINISHED: Attack = {
  name: 'WebSocket messages without an end',
  unit: 'fragments',
  run: async (target, _random, signal) => {
    const sockets: Socket[] = [];
    await atRate(10, signal, async () => {
      // Sockets whose message grew beyond the limit were closed.
      for (let i = 0; i < 30; i++)
        if (sockets[i]?.destroyed !== false) {
          const socket = await target.upgrade();
          sockets[i] = socket;
          send(socket, FIRST_PART);
        }
      for (const socket of sockets) send(socket, PART);
      target.count(sockets.length);
    });
  },
};

const HALF_FRAME = frameBytes({ opcode: OPCODES.text, payload: Buffer.alloc(60_000, 'x') }).subarray(
  0,
  59_000,
);
const HALF_FRAMES = held(
  { name: 'WebSocket frames of 60 KB, of which 59 KB are sent', unit: 'frames', seconds: 12 },
  HELD,
  async (target) => send(await target.upgrade(), HALF_FRAME),
);

function flood(kind: 'ping' | 'pong'): Attack {
  const frame = frameBytes({ opcode: OPCODES[kind], payload: Buffer.alloc(125, 'x') });
  const batch = Buffer.concat(Array.from({ length: 50 }, () => frame));
  return {
    name: `WebSocket ${kind} flood`,
    unit: 'frames',
    run: async (target, _random, signal) => {
      let sockets = await open(target, 4);
      await atRate(20, signal, async () => {
        sockets = sockets.filter(({ destroyed }) => !destroyed);
        if (sockets.length < 4) sockets.push(await target.upgrade());
        for (const socket of sockets) send(socket, batch);
        target.count(sockets.length * 50);
      });
    },
  };
}

const CODES = [0, 999, 1000, 1004, 1005, 1006, 1015, 1016, 2999, 3000, 4999, 5000, 65_535];

const CLOSES: Attack = {
  name: 'WebSocket close frames with odd codes',
  unit: 'sockets',
  run: (target, random, signal) =>
    atRate(40, signal, async () => {
      const payload = Buffer.alloc(2 + below(124, random), 'r');
      payload.writeUInt16BE(pick(CODES, random) ?? 1006);
      send(await target.upgrade(), frameBytes({ opcode: OPCODES.close, payload }));
      target.count();
    }),
};

const EVERYTHING = { topics: ['stats', 'stats.gpu', 'media', 'power', 'processes'], detail: true };
const UNREAD = held(
  { name: 'WebSockets that subscribe to everything and never read', unit: 'sockets', seconds: 25 },
  HELD,
  async (target) => {
    const socket = await target.upgrade();
    socket.pause();
    send(socket, text(target, { op: 'subscribe', data: EVERYTHING }));
  },
);

const FUZZ: Attack = {
  name: 'mutated upgrades, frames and messages',
  unit: 'connections',
  run: (target, random, signal) =>
    atRate(40, signal, async () => {
      const { upgrade, pieces, isHasty } = attack(random);
      const socket = await target.connect();
      socket.resume();
      send(socket, upgrade);
      if (!isHasty) await Promise.race([once(socket, 'data'), pause(50, signal)]).catch(() => undefined);
      for (const piece of pieces) send(socket, piece);
      target.count();
      setTimeout(() => socket.destroy(), 500);
    }),
};

const HASTY: Attack = {
  name: 'upgrades without a wait, closed at once',
  unit: 'sockets',
  run: (target, random, signal) =>
    atRate(100, signal, async () => {
      const socket = await target.connect();
      send(socket, UPGRADE);
      target.count();
      if (random() < 0.5) socket.resetAndDestroy();
      else socket.destroySoon();
    }),
};

export const SOCKET_ATTACKS: readonly Attack[] = [
  lists('read', true),
  lists('unread', false),
  UNFINISHED,
  HALF_FRAMES,
  flood('ping'),
  flood('pong'),
  CLOSES,
  UNREAD,
  FUZZ,
  HASTY,
];
