/** Messages of /api/ws and their possible faults, each with the required outcome for the connection. */
import { below, mutantOf, pick, type Random, SPICE } from './mutate.ts';
import { frameBytes, OPCODES } from './socket-frames.ts';

/**
 * The outcome that a fault requires: `answered` every ping with an id, in order; `cut` without a close frame; a code:
 * a close frame with it; `ends` one way or the other; `any`: only what holds for all.
 */
export type Fate = 'answered' | 'cut' | 'ends' | 'any' | 1008 | 1009;

export const MESSAGE_BYTES = 16 * 1024;
const FRAME_BYTES = 64 * 1024;

export const text = (payload: string | Buffer, more: object = {}) =>
  frameBytes({ opcode: OPCODES.text, payload: Buffer.from(payload), ...more });

/** A ping of `bytes` bytes, with a character of four bytes in it. */
export function pingText(id: number, bytes = 0): Buffer {
  const begin = `{"op":"ping","id":${id},"pad":"😀`;
  return Buffer.from(`${begin}${'x'.repeat(Math.max(0, bytes - Buffer.byteLength(begin) - 2))}"}`);
}

/** The frames of one message, control frames between them. */
export function fragments(payload: Buffer, random: Random, pongs: string[]): Buffer {
  const frames: Buffer[] = [];
  const parts = 2 + below(4, random);
  for (let part = 0, at = 0; part < parts; part++) {
    const isLast = part === parts - 1;
    const end = isLast ? payload.length : at + below(payload.length - at, random);
    const opcode = part === 0 ? OPCODES.text : OPCODES.continuation;
    frames.push(frameBytes({ opcode, payload: payload.subarray(at, end), isPart: !isLast }));
    at = end;
    if (isLast || random() < 0.5) continue;
    const body = `between ${part}`;
    pongs.push(body);
    frames.push(frameBytes({ opcode: OPCODES.ping, payload: Buffer.from(body) }));
  }
  return Buffer.concat(frames);
}

const OPS = ['subscribe', 'unsubscribe', 'get', 'media', 'process_list', 'power', 'process_kill', 'nope', ''];
const TOPICS = ['stats', 'cpu', 'stats.gpu', 'media', 'power', 'processes', '__proto__', 'x'.repeat(70), 7];
const VALUES = [null, true, -1, 1e308, '', 'sleep', 'play', [], {}, ['stats'], 'x'.repeat(200), '\ud800'];

/** A message whose parts fit together or not. Nothing in it can switch a machine off: the backend records. */
export function anyMessage(random: Random): Buffer {
  const message: Record<string, unknown> = { op: pick(OPS, random), id: pick([1, 'a', null, 1.5], random) };
  message['data'] = {
    topics: Array.from({ length: below(4, random) }, () => pick(TOPICS, random)),
    [pick(['mode', 'detail', 'action', 'pid', 'name', 'limit', 'value', '__proto__'], random) ?? '']: pick(
      VALUES,
      random,
    ),
  };
  if (random() < 0.2) message['data'] = pick(VALUES, random);
  let bytes = Buffer.from(JSON.stringify(message));
  for (let i = below(3, random); i > 0; i--) {
    const at = below(bytes.length, random);
    const spice = Buffer.from(pick([...SPICE, '{', '}', '[', '"', '\\', '\\u0000'], random) ?? '', 'latin1');
    bytes = Buffer.concat([bytes.subarray(0, at), spice, bytes.subarray(at + below(3, random))]);
  }
  return bytes;
}

interface Fault {
  readonly kind: string;
  readonly fate: Fate;
  readonly count?: number;
  readonly make: (random: Random) => Buffer;
}

export const control = (payload: string | Buffer, more: object = {}) =>
  frameBytes({ opcode: OPCODES.ping, payload: Buffer.from(payload), ...more });
const closing = (payload: Buffer) => frameBytes({ opcode: OPCODES.close, payload });

export const FAULTS: readonly Fault[] = [
  { kind: 'a reserved bit', fate: 'cut', make: (random) => text('{}', { reserved: 1 + below(7, random) }) },
  {
    kind: 'a reserved opcode',
    fate: 'cut',
    make: (random) => frameBytes({ opcode: pick([3, 4, 5, 6, 7, 11, 12, 13, 14, 15], random) ?? 3 }),
  },
  { kind: 'a long control frame', fate: 'cut', make: () => control('x'.repeat(126)) },
  { kind: 'a control frame in parts', fate: 'cut', make: () => control('x', { isPart: true }) },
  {
    kind: 'a continuation of nothing',
    fate: 'cut',
    make: () => frameBytes({ opcode: OPCODES.continuation, payload: Buffer.from('{}') }),
  },
  {
    kind: 'a message within a message',
    fate: 'cut',
    make: () => Buffer.concat([text('{"op":', { isPart: true }), text('{}')]),
  },
  {
    kind: 'bad UTF-8',
    fate: 'cut',
    make: (random) =>
      text(
        Buffer.from(
          pick(['22ff22', 'c080', 'eda080', 'f4908080', 'e282', '80', 'f8888080'], random) ?? '',
          'hex',
        ),
      ),
  },
  { kind: '16 KiB and a byte', fate: 1009, make: () => text(pingText(0, MESSAGE_BYTES + 1)) },
  { kind: '64 KiB', fate: 1009, make: () => text(pingText(0, FRAME_BYTES)) },
  {
    kind: '16 KiB and a byte, in parts',
    fate: 1009,
    make: (random) => fragments(pingText(0, MESSAGE_BYTES + 1), random, []),
  },
  { kind: '64 KiB and a byte', fate: 'cut', make: () => text(pingText(0, FRAME_BYTES + 1)) },
  {
    kind: '64 KiB and a byte, in parts',
    fate: 'cut',
    make: (random) => fragments(pingText(0, FRAME_BYTES + 1), random, []),
  },
  {
    kind: 'a length of exabytes',
    fate: 'cut',
    make: () => Buffer.from('81ff7fffffffffffffff37fa213d', 'hex'),
  },
  { kind: 'a close', fate: 'ends', make: () => closing(Buffer.from([0x03, 0xe8])) },
  {
    kind: 'a close that is none',
    fate: 'ends',
    make: (random) =>
      closing(
        Buffer.from(
          pick(['', '03', '0000', '03ed', '03ee', 'ffff', '03e8ff', '03e8eda080'], random) ?? '',
          'hex',
        ),
      ),
  },
  {
    kind: 'more behind a close',
    fate: 'ends',
    make: () => Buffer.concat([closing(Buffer.from([0x03, 0xe8])), text(pingText(1)), control('x')]),
  },
  {
    kind: 'a flood',
    fate: 1008,
    count: 500,
    make: () => Buffer.concat(Array.from({ length: 500 }, (_, i) => text(pingText(10_000 + i)))),
  },
  {
    kind: 'frames without a mask',
    fate: 'any',
    make: () => Buffer.concat([text(pingText(1), { isUnmasked: true }), text(pingText(2))]),
  },
  {
    kind: 'a binary message',
    fate: 'any',
    make: () => frameBytes({ opcode: OPCODES.binary, payload: pingText(1) }),
  },
  {
    kind: 'half a frame',
    fate: 'any',
    make: (random) => text(pingText(1)).subarray(0, 1 + below(30, random)),
  },
  {
    kind: 'half a message',
    fate: 'any',
    make: () => text('{"op":"ping"', { isPart: true }),
  },
  {
    kind: 'spoilt bytes',
    fate: 'any',
    make: (random) => mutantOf(text(anyMessage(random)), random),
  },
];
