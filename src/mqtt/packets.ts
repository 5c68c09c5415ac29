/** The lengths of MQTT packets, read as their bytes pass: the parser of the library keeps a packet of any length. */
import { PLACES, QUOTAS } from '../fairness/limits.ts';

const CONTINUES = 0x80;
/** More digits than a length may have. */
const MAX_LENGTH_BYTES = 4;

export class PacketLengths {
  /** Bytes of the present packet that are to come. */
  #left = 0;
  /** Bytes of its length that were read; undefined: the next byte is the type of a packet. */
  #digits: number | undefined;
  /** Chunks since the present packet began. */
  #pieces = 0;

  /** Whether the packets in `chunk` are of lengths that are taken, and arrive in as many pieces. */
  take(chunk: Uint8Array): boolean {
    if (++this.#pieces > PLACES.packetPieces.max) return false;
    for (let at = 0; at < chunk.length; ) {
      if (this.#digits === undefined && this.#left > 0) {
        const skipped = Math.min(this.#left, chunk.length - at);
        this.#left -= skipped;
        at += skipped;
      } else if (!this.#takeHead(chunk[at++] ?? 0)) return false;
    }
    return true;
  }

  #takeHead(byte: number): boolean {
    if (this.#digits === undefined) {
      this.#digits = 0;
      this.#pieces = 0;
      return true;
    }
    this.#left += (byte & ~CONTINUES) * 128 ** this.#digits;
    this.#digits += 1;
    if ((byte & CONTINUES) === 0) this.#digits = undefined;
    else if (this.#digits === MAX_LENGTH_BYTES) return false;
    return this.#left <= QUOTAS.brokerPacket.maxBytes;
  }
}
