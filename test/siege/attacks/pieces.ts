/** WebSocket messages in as many pieces as possible, and frames as fast as the kernel takes them. */
import type net from 'node:net';
import { isNodeEngine } from '../../helpers/service/engine.ts';
import { frameBytes, OPCODES } from '../../http/socket-frames.ts';
import { type Attack, atFullSpeed, atRate, pause, send, type Target } from '../target.ts';
import { Block } from './shapes.ts';

/** Maximum parts of a message by default of the library ws. */
const FRAGMENTS = 16_384;
const SOCKETS = 250;
const END_SECONDS = 4;
const RECONNECT_MS = 5;

const part = (bytes: number, opcode: number = OPCODES.continuation) =>
  frameBytes({ opcode, payload: Buffer.alloc(bytes, 'x'), isPart: true });
const repeated = (frame: Buffer, count: number) => Buffer.concat(Array.from({ length: count }, () => frame));

const UNFINISHED_SECONDS = 8;

/** Sockets with an unfinished message of `FRAGMENTS` parts each: 28 MB in all. */
function unfinished(bytes: number): Attack {
  const message = Buffer.concat([part(bytes, OPCODES.text), repeated(part(bytes), FRAGMENTS - 1)]);
  return {
    name: `WebSocket messages of 16,384 fragments of ${bytes === 0 ? 'no byte' : 'a byte'}, never finished`,
    unit: 'fragments',
    seconds: UNFINISHED_SECONDS,
    run: async (target, _random, signal) => {
      const isOver = () => signal.aborted || target.size >= SOCKETS;
      while (!isOver()) {
        const sockets = await Promise.all(Array.from({ length: 10 }, () => target.upgrade()));
        for (const socket of sockets) send(socket, message);
        target.count(FRAGMENTS * sockets.length);
      }
      // Held, with new ones for those that were ended.
      await atRate(20, signal, async () => {
        if (isOver()) return;
        send(await target.upgrade(), message);
        target.count(FRAGMENTS);
      });
    },
  };
}

interface Flood {
  readonly name: string;
  readonly unit: string;
  /** Sent once, when the socket is open. */
  readonly begin?: Buffer;
  readonly frame: Buffer;
  readonly connections: number;
  /** The engine takes it for ever: it joins parts as they arrive, and cannot refuse empty ones. */
  readonly isTaken?: boolean;
  readonly log?: RegExp;
}

const TOO_MANY = /: it sent too many messages/;

/** The same frame for ever. */
function flood({ name, unit, begin, frame, connections, isTaken, log }: Flood): Attack {
  const block = new Block(frame);
  return {
    name,
    unit,
    ...(log && { log }),
    run: (target, _random, signal) =>
      atFullSpeed(connections, signal, async () => {
        const socket = await target.upgrade();
        if (isTaken !== true) target.expect(socket, END_SECONDS);
        if (begin !== undefined) send(socket, begin);
        await block.pour(socket, target, signal);
        await pause(RECONNECT_MS, signal);
      }),
  };
}

const BURST = 2000;

const BURSTS: Attack = {
  name: 'empty WebSocket fragments in bursts',
  unit: 'fragments',
  run: async (target, _random, signal) => {
    const burst = repeated(part(0), BURST);
    const sockets: net.Socket[] = [];
    const open = async (): Promise<net.Socket> => {
      const socket = await target.upgrade();
      send(socket, part(0, OPCODES.text));
      return socket;
    };
    await atRate(10, signal, async () => {
      for (let i = 0; i < 30; i++) if (sockets[i]?.writable !== true) sockets[i] = await open();
      for (const socket of sockets) send(socket, burst);
      target.count(BURST * sockets.length);
    });
  },
};

const text = (payload: string) => frameBytes({ opcode: OPCODES.text, payload: Buffer.from(payload) });

/** Pieces of every kind between each other, as no client sends them and every server must take them. */
const mixed = (target: Target): Buffer =>
  Buffer.concat([
    part(0, OPCODES.text),
    frameBytes({ opcode: OPCODES.ping }),
    part(1),
    frameBytes({ opcode: OPCODES.pong }),
    part(target.size % 2),
  ]);

const PINGS = new Block(Buffer.concat([frameBytes({ opcode: OPCODES.ping }), part(0)]));

const MIXED: Attack = {
  name: 'WebSocket pings between empty fragments, at full speed',
  unit: 'frames',
  run: (target, _random, signal) =>
    atFullSpeed(8, signal, async () => {
      const socket = await target.upgrade();
      target.expect(socket, END_SECONDS);
      send(socket, mixed(target));
      await PINGS.pour(socket, target, signal, 2);
      await pause(RECONNECT_MS, signal);
    }),
};

export const PIECES: readonly Attack[] = [
  unfinished(1),
  unfinished(0),
  flood({
    name: 'empty WebSocket fragments without an end',
    unit: 'fragments',
    begin: part(0, OPCODES.text),
    frame: part(0),
    isTaken: !isNodeEngine,
    connections: 8,
  }),
  BURSTS,
  MIXED,
  ...[
    ['tiny WebSocket messages', 'messages', text('{}')] as const,
    ['empty WebSocket messages', 'messages', text('')] as const,
    ['empty WebSocket pings', 'frames', frameBytes({ opcode: OPCODES.ping })] as const,
    ['empty WebSocket pongs', 'frames', frameBytes({ opcode: OPCODES.pong })] as const,
  ].map(([what, unit, frame]) =>
    flood({ name: `${what} at full speed`, log: TOO_MANY, unit, frame, connections: 8 }),
  ),
];
