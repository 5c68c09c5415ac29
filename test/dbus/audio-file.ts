/** Audio files made for a test: silence, with tags in UTF-8. */
import { writeFileSync } from 'node:fs';

export interface Tags {
  readonly title: string;
  readonly artist: string;
  readonly album: string;
}

const SAMPLES_PER_SECOND = 8000;

const chunk = (name: string, body: Buffer) => {
  const head = Buffer.alloc(8);
  head.write(name, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
};

/** RIFF's own tags: zero-terminated text. */
const info = (name: string, text: string) => chunk(name, Buffer.from(`${text}\0`));

/** A WAV file of `seconds` of silence: one channel, eight bits. */
export function writeWav(file: string, seconds: number, { title, artist, album }: Tags): void {
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(SAMPLES_PER_SECOND, 4);
  format.writeUInt32LE(SAMPLES_PER_SECOND, 8);
  format.writeUInt16LE(1, 12);
  format.writeUInt16LE(8, 14);
  const tags = Buffer.concat([
    Buffer.from('INFO'),
    info('INAM', title),
    info('IART', artist),
    info('IPRD', album),
  ]);
  const silence = Buffer.alloc(Math.round(seconds * SAMPLES_PER_SECOND), 128);
  const body = Buffer.concat([
    Buffer.from('WAVE'),
    chunk('fmt ', format),
    chunk('LIST', tags),
    chunk('data', silence),
  ]);
  writeFileSync(file, chunk('RIFF', body));
}
