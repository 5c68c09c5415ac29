/** A cover picture: a generated PNG with bands of colour. */
import { deflateSync } from 'node:zlib';

const SIZE = 144;

function crc(bytes: Buffer): number {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return ~value >>> 0;
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** An image/png of 144 by 144. */
export function coverPicture(): Buffer {
  const rows = Buffer.alloc(SIZE * (1 + 3 * SIZE));
  for (let y = 0; y < SIZE; y++)
    for (let x = 0; x < SIZE; x++) {
      const hill = 0.62 + 0.16 * Math.sin(x / 31) + 0.05 * Math.sin(x / 9);
      const isHill = y / SIZE > hill;
      const sun = Math.hypot(x - 96, y - 52) < 21;
      const at = y * (1 + 3 * SIZE) + 1 + 3 * x;
      const sky = y / SIZE;
      rows[at] = isHill ? 18 : sun ? 255 : 34 + 190 * sky;
      rows[at + 1] = isHill ? 52 : sun ? 214 : 60 + 80 * sky;
      rows[at + 2] = isHill ? 66 : sun ? 150 : 120 + 30 * sky;
    }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIZE, 0);
  header.writeUInt32BE(SIZE, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
