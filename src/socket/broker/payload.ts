/** Payloads of a session at a broker: a line with the session and a number, and then a frame or a part of one. */

export interface Payload {
  readonly session: string;
  /** Counts from 0 in each direction; undefined: the end of the session, with the reason as its bytes. */
  readonly number: number | undefined;
  /** It is a part, and more of its frame follows. */
  readonly hasMore: boolean;
  readonly bytes: Buffer;
}

const LF = 10;
const MAX_HEAD_BYTES = 40;
const HEAD = /^([A-Za-z0-9]{16}) (?:(\d{1,15})( \+)?|end)$/;
/** Limit for a payload: brokers have limits of their own, many of 1 MiB. */
export const PART_BYTES = 256 * 1024;

/** Returns undefined for anything else. */
export function readPayload(bytes: Buffer): Payload | undefined {
  const at = bytes.subarray(0, MAX_HEAD_BYTES).indexOf(LF);
  const headBytes = at < 0 ? bytes.length : at;
  if (headBytes > MAX_HEAD_BYTES) return undefined;
  const [, session, number, more] = HEAD.exec(bytes.toString('latin1', 0, headBytes)) ?? [];
  if (session === undefined) return undefined;
  return {
    session,
    number: number === undefined ? undefined : Number(number),
    hasMore: more !== undefined,
    bytes: bytes.subarray(headBytes + 1),
  };
}

/** Returns the payloads of a frame whose first one has this number. */
export function payloadsOf(session: string, number: number, text: string): readonly Buffer[] {
  const bytes = Buffer.from(text);
  const count = Math.max(1, Math.ceil(bytes.length / PART_BYTES));
  return Array.from({ length: count }, (_, part) => {
    const head = `${session} ${number + part}${part < count - 1 ? ' +' : ''}\n`;
    return Buffer.concat([Buffer.from(head), bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES)]);
  });
}

/** `reason`: for the other side. */
export const endOf = (session: string, reason: string): Buffer => Buffer.from(`${session} end\n${reason}`);

/** Whether it begins the session: the first payload of a hub, an empty frame. */
export const isOpening = ({ number, hasMore, bytes }: Payload): boolean =>
  number === 0 && !hasMore && bytes.length === 0;
