/** The shapes that many attacks have in common. */
import type net from 'node:net';
import type { Random } from '../../http/mutate.ts';
import { type Attack, atFullSpeed, atRate, send, type Target } from '../target.ts';

type Facts = Pick<Attack, 'name' | 'unit' | 'seconds' | 'needs' | 'log' | 'keyedLog'>;

/** One connection per request, closed a moment later. */
export function shots(
  name: string,
  perSecond: number,
  make: (random: Random, target: Target) => Buffer | string,
): Attack {
  return {
    name,
    unit: 'requests',
    run: (target, random, signal) =>
      atRate(perSecond, signal, async () => {
        const socket = await target.connect();
        socket.resume();
        send(socket, make(random, target));
        target.count();
        setTimeout(() => socket.destroy(), 500);
      }),
  };
}

/** Connections that are held, up to `max`; `open` opens one more. */
export function held(
  facts: Facts,
  { perSecond, max }: { readonly perSecond: number; readonly max: number },
  open: (target: Target) => Promise<unknown>,
): Attack {
  return {
    ...facts,
    run: (target, _random, signal) =>
      atRate(perSecond, signal, async () => {
        if (target.size >= max) return;
        await open(target);
        target.count();
      }),
  };
}

/** Batches of `count` requests as fast as the kernel takes them, each on a connection of its own. */
export function pipelined(
  facts: Facts,
  connections: number,
  count: number,
  make: (random: Random, target: Target) => Buffer,
  addressOf: (target: Target) => string = ({ address }) => address,
): Attack {
  return {
    ...facts,
    run: (target, random, signal) =>
      atFullSpeed(connections, signal, async () => {
        const socket = await target.connect({ from: addressOf(target) });
        socket.resume();
        const batch = Buffer.concat(Array.from({ length: count }, () => make(random, target)));
        target.count(count * (await target.pour(socket, batch, signal)));
        socket.destroy();
      }),
  };
}

const BLOCK_BYTES = 64 * 1024;

/** Pieces that are sent again and again, as a block of some size. */
export class Block {
  readonly pieces: number;
  readonly bytes: Buffer;

  constructor(piece: Buffer | string) {
    const one = Buffer.from(piece as Buffer); // Either is a source of bytes.
    this.pieces = Math.ceil(BLOCK_BYTES / one.length);
    this.bytes = Buffer.concat(Array.from({ length: this.pieces }, () => one));
  }

  /** Pours it until the connection ends; each piece counts as `operations`. */
  async pour(socket: net.Socket, target: Target, signal: AbortSignal, operations = 1): Promise<void> {
    target.count(operations * this.pieces * (await target.pour(socket, this.bytes, signal)));
  }
}
