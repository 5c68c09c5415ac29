/** Frames of RFC 6455 as bytes: frames a client may send or should not, and a strict reading of a server's. */
export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface FrameParts {
  readonly opcode: number;
  readonly payload?: Buffer;
  /** Not the last one of its message. */
  readonly isPart?: boolean;
  /** The three reserved bits, 0 to 7. */
  readonly reserved?: number;
  readonly mask?: Buffer;
  /** As a server would: against the RFC. */
  readonly isUnmasked?: boolean;
  /** Its length in 8 bytes, however short. */
  readonly isLongHead?: boolean;
}

const MASK = Buffer.from([0x37, 0xfa, 0x21, 0x3d]);

function lengthOf(length: number, isLongHead: boolean): Buffer {
  if (length < 126 && !isLongHead) return Buffer.of(length);
  const head = Buffer.alloc(length > 65_535 || isLongHead ? 9 : 3);
  head[0] = head.length === 9 ? 127 : 126;
  head.writeUIntBE(length, head.length === 9 ? 3 : 1, head.length === 9 ? 6 : 2);
  return head;
}

export function frameBytes(parts: FrameParts): Buffer {
  const { opcode, payload = Buffer.alloc(0), isPart = false, reserved = 0, mask = MASK } = parts;
  const length = lengthOf(payload.length, parts.isLongHead === true);
  const first = Buffer.of((isPart ? 0 : 0x80) | (reserved << 4) | opcode);
  if (parts.isUnmasked === true) return Buffer.concat([first, length, payload]);
  length[0] = (length[0] ?? 0) | 0x80;
  const masked = payload.map((byte, i) => byte ^ (mask[i % 4] ?? 0));
  return Buffer.concat([first, length, mask, masked]);
}

/** Messages and frames that a server sent on an open socket. */
export interface Said {
  readonly messages: readonly { readonly type: string; readonly id?: unknown; readonly data: unknown }[];
  /** Payloads of pong frames. */
  readonly pongs: readonly string[];
  /** The code of its close frame; 1005 when it has none, undefined without a close frame. */
  readonly closeCode: number | undefined;
  /** Bytes of a frame that is not whole. */
  readonly isTorn: boolean;
}

/** Throws at a frame that a server of text messages may not send. */
export function readFrames(bytes: Buffer): Said {
  const messages: Said['messages'][number][] = [];
  const pongs: string[] = [];
  let closeCode: number | undefined;
  let at = 0;
  while (at + 2 <= bytes.length) {
    const [first = 0, second = 0] = bytes.subarray(at, at + 2);
    if ((first & 0xf0) !== 0x80 || second > 126) throw new Error(`a frame begins with ${first} ${second}`);
    if (closeCode !== undefined) throw new Error('a frame behind the close frame');
    if (second === 126 && at + 4 > bytes.length) break;
    const from = at + (second === 126 ? 4 : 2);
    const end = from + (second === 126 ? bytes.readUInt16BE(at + 2) : second);
    if (end > bytes.length) break;
    const payload = bytes.subarray(from, end);
    const opcode = first & 0x0f;
    if (opcode === OPCODES.text) messages.push(readMessage(payload));
    else if (opcode === OPCODES.pong) pongs.push(payload.toString('latin1'));
    else if (opcode === OPCODES.close) closeCode = payload.length < 2 ? 1005 : payload.readUInt16BE(0);
    else if (opcode !== OPCODES.ping) throw new Error(`a frame of opcode ${opcode}`);
    at = end;
  }
  return { messages, pongs, closeCode, isTorn: at < bytes.length };
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function readMessage(payload: Buffer): Said['messages'][number] {
  // Checked below.
  const message = JSON.parse(UTF8.decode(payload)) as Said['messages'][number];
  if (typeof message.type !== 'string' || typeof message.data !== 'object')
    throw new Error(`no event: ${payload.toString().slice(0, 200)}`);
  return message;
}
