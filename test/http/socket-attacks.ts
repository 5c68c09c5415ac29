/** Clients of /api/ws, right and wrong, seeded: upgrades, frames in any order, and the outcome that each must have. */
import { requestBytes } from '../helpers/clients/http.ts';
import { below, mutantOf, pick, type Random } from './mutate.ts';
import {
  anyMessage,
  control,
  FAULTS,
  type Fate,
  fragments,
  MESSAGE_BYTES,
  pingText,
  text,
} from './socket-faults.ts';

export interface Attack {
  readonly kind: string;
  readonly upgrade: Buffer;
  /** The bytes after the answer to the upgrade, one write per piece. */
  readonly pieces: readonly Buffer[];
  /** The frames go with the upgrade, before it is answered. */
  readonly isHasty: boolean;
  readonly fate: Fate;
  /** The ids of the valid pings before the first fault. */
  readonly ids: readonly number[];
  readonly pongs: readonly string[];
  /** Messages and control frames in it. */
  readonly count: number;
}

export const UPGRADE_HEADERS = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

export const UPGRADE = requestBytes('/api/ws', { headers: UPGRADE_HEADERS });

/** Messages and control frames before a fault: fewer than a socket may send in a burst. */
const MAX_BEFORE = 24;

interface Sound {
  readonly bytes: readonly Buffer[];
  readonly ids: readonly number[];
  readonly pongs: readonly string[];
}

/** Pings whole and in parts, up to the longest allowed, with control frames between them. */
function soundFrames(random: Random, most: number): Sound {
  const bytes: Buffer[] = [];
  const ids: number[] = [];
  const pongs: string[] = [];
  for (let i = below(most, random); i >= 0 && ids.length + pongs.length < most; i--) {
    const id = bytes.length;
    const chance = random();
    if (chance < 0.1) {
      pongs.push(`pong ${id}`);
      bytes.push(control(`pong ${id}`));
      continue;
    }
    ids.push(id);
    const payload = pingText(id, chance < 0.15 ? MESSAGE_BYTES : below(300, random));
    const isLongHead = chance > 0.9;
    bytes.push(chance < 0.5 ? fragments(payload, random, pongs) : text(payload, { isLongHead }));
  }
  return { bytes, ids, pongs };
}

function cut(bytes: Buffer, random: Random): readonly Buffer[] {
  if (random() < 0.6) return [bytes];
  const at = below(bytes.length, random);
  return [bytes.subarray(0, at), bytes.subarray(at)].filter((piece) => piece.length > 0);
}

/** A connection that does nothing wrong. */
export function soundAttack(random: Random): Attack {
  const { bytes, ids, pongs } = soundFrames(random, MAX_BEFORE);
  const pieces = cut(Buffer.concat(bytes), random);
  const count = bytes.length;
  return { kind: 'sound', upgrade: UPGRADE, pieces, isHasty: false, fate: 'answered', ids, pongs, count };
}

/** Returns an attack, which mostly sends valid messages before its fault. */
export function attack(random: Random): Attack {
  const chance = random();
  if (chance < 0.1) return soundAttack(random);
  const { bytes, ids, pongs } = soundFrames(random, MAX_BEFORE);
  const of = (kind: string, fate: Fate, more: readonly Buffer[], count = more.length): Attack => ({
    kind,
    upgrade: UPGRADE,
    pieces: cut(Buffer.concat([...bytes, ...more]), random),
    isHasty: false,
    fate,
    ids,
    pongs,
    count: bytes.length + count,
  });
  if (chance < 0.2) return { ...of('a spoilt upgrade', 'any', []), upgrade: mutantOf(UPGRADE, random) };
  if (chance < 0.23) return { ...of('frames before the answer', 'any', []), isHasty: true };
  if (chance < 0.45) {
    const messages = Array.from({ length: 15 }, () => text(anyMessage(random)));
    return of('messages of any kind', 'any', messages);
  }
  const fault = pick(FAULTS, random);
  if (fault === undefined) throw new Error('there are no faults');
  return of(fault.kind, fault.fate, [fault.make(random)], fault.count);
}
