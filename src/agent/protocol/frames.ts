/**
 * A message as frames of a WebSocket: a text frame with the end of its topic, a newline and the payload. One that is longer
 * than a server accepts in one frame is cut into binary frames, whose first byte says whether more follow.
 */
import { PieceBuffer } from '../../piece-buffer.ts';

/** The end of a topic, as it is below `<mqtt.topic>/<id>/hub/` at a broker, and what was sent on it. */
export interface Framed {
  readonly topic: string;
  readonly payload: Buffer;
}

/** Both engines close a socket that sends 64 KiB in one frame. */
export const MAX_FRAME_BYTES = 48 * 1024;
/** As that of a packet at a broker. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/** A message of that length has 22 of them. */
const MAX_PARTS = 64;

const LF = 10;
/** Longer than `feedback/` and the name of a hub. */
const MAX_TOPIC_BYTES = 80;
const [LAST, MORE] = [0, 1];

export const textOf = (topic: string, payload: string): string => `${topic}\n${payload}`;

/** One text frame, or binary ones. */
export function framesOf(topic: string, payload: string): readonly (string | Buffer)[] {
  const text = textOf(topic, payload);
  // The length in characters is enough for most messages: a character has 3 bytes at most.
  if (text.length * 3 <= MAX_FRAME_BYTES || Buffer.byteLength(text) <= MAX_FRAME_BYTES) return [text];
  const bytes = Buffer.from(text);
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += MAX_FRAME_BYTES) {
    const part = bytes.subarray(at, at + MAX_FRAME_BYTES);
    frames.push(Buffer.concat([Buffer.from([at + part.length < bytes.length ? MORE : LAST]), part]));
  }
  return frames;
}

/** undefined: it has no topic. The payload is a part of `bytes`. */
export function readMessage(bytes: Buffer): Framed | undefined {
  const end = bytes.subarray(0, MAX_TOPIC_BYTES + 1).indexOf(LF);
  if (end <= 0) return undefined;
  return { topic: bytes.toString('latin1', 0, end), payload: bytes.subarray(end + 1) };
}

/** Joins the binary frames of one message. */
export class Parts {
  readonly #joined = new PieceBuffer();
  #count = 0;

  /** Memory that is kept. */
  get bufferedBytes(): number {
    return this.#joined.bufferedBytes;
  }

  /**
   * The whole message with its last frame; 'bad': it is longer or has more parts than any may have, or the frame is not a
   * part, or an empty one before the last.
   */
  take(frame: Buffer): Buffer | 'more' | 'bad' {
    const [mark] = frame;
    const isLast = mark === LAST;
    if (!isLast && (mark !== MORE || frame.length === 1)) return 'bad';
    this.#count++;
    const isLong = this.#joined.length + frame.length - 1 > MAX_MESSAGE_BYTES;
    if (isLong || this.#count > MAX_PARTS) return 'bad';
    // Copied: the frame is valid during the call only.
    this.#joined.add(frame, 1);
    if (!isLast) return 'more';
    const whole = this.#joined.bytes;
    this.#joined.clear();
    this.#count = 0;
    return whole;
  }
}
