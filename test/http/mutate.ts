/** Valid requests for every route, and seeded ways to spoil them. */
import { requestBytes } from '../helpers/clients/http.ts';
import { createRandom } from '../helpers/random.ts';

/** Numbers from 0 to below 1, the same for the same seed. */
export function randomOf(seed: number): () => number {
  const { word } = createRandom(seed || 1);
  return () => word() / 2 ** 32;
}

const TARGETS = [
  '/api/status',
  '/api/usage?fields=cpu,memory&detail=1',
  '/api/system',
  '/api/stream?fields=cpu,x%0d%0ay',
  '/api/ws',
  '/api/nope',
];

const chunked = (target: string) =>
  Buffer.from(
    `POST ${target} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n3\r\n:1}\r\n0\r\n\r\n`,
  );

/** Requests with nothing wrong in them. */
export const SEEDS: readonly Buffer[] = [
  ...TARGETS.map((target) => requestBytes(target)),
  ...TARGETS.map((target) => requestBytes(target, { method: 'HEAD', headers: { Accept: '*/*' } })),
  requestBytes('/api/status', { method: 'OPTIONS' }),
  requestBytes('/api/usage', { headers: { Connection: 'close', 'User-Agent': 'x' } }),
  requestBytes('/api/status', { body: 'a body of a GET' }),
  requestBytes('/api/stream', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"a":1}',
  }),
  requestBytes('/api/nope', { method: 'POST', headers: { Expect: '100-continue' }, body: '{}' }),
  chunked('/api/status'),
  chunked('/api/nope'),
  Buffer.concat([
    requestBytes('/api/status'),
    requestBytes('/api/nope', { method: 'POST', body: 'GET / HTTP/1.1' }),
  ]),
];

/** Numbers from 0 to below 1. */
export type Random = () => number;
type Mutation = (bytes: Buffer, random: Random) => Buffer;

export const pick = <T>(list: readonly T[], random: Random): T | undefined =>
  list[Math.floor(random() * list.length)];
export const below = (limit: number, random: Random) => Math.floor(random() * Math.max(1, limit));
const splice = (bytes: Buffer, at: number, removed: number, added: Buffer) =>
  Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]);
const textOf = (bytes: Buffer) => bytes.toString('latin1');
const bytesOf = (text: string) => Buffer.from(text, 'latin1');

function onLine(change: (line: string, random: Random) => string): Mutation {
  return (bytes, random) => {
    const lines = textOf(bytes).split('\r\n');
    const at = below(lines.length, random);
    lines[at] = change(lines[at] ?? '', random);
    return bytesOf(lines.join('\r\n'));
  };
}

function withHeader(lines: readonly string[]): Mutation {
  return (bytes, random) => {
    const at = bytes.indexOf('\r\n') + 2;
    return splice(bytes, at, 0, bytesOf(`${pick(lines, random)}\r\n`));
  };
}

export const SPICE = [
  '\r',
  '\n',
  '\r\n',
  '\0',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '%',
  '?',
  '#',
  '/',
  '..',
  '\x7f',
  '\x80',
  '\xff',
  '0',
  'a',
];
const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'OPTIONS',
  'CONNECT',
  'TRACE',
  'get',
  'G\tET',
  '',
  'GETX',
  'PRI',
];
const VERSIONS = [
  'HTTP/1.0',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/0.9',
  'HTTP/1.1 ',
  'http/1.1',
  'HTTP/11',
  '',
  'HTTP/1.10',
];
const FRAMINGS = [
  'Content-Length: 0',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 5, 5',
  'Content-Length: 99999999999999999999',
  'Content-Length: 2000000',
  'Content-Length : 3',
  'Content-Length:',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding:',
  'Transfer-Encoding\t: chunked',
  'Connection: close',
  'Connection: keep-alive, close',
  'Upgrade: websocket',
  'Expect: 100-continue',
  'Host: other',
  'X-Forwarded-For: 127.0.0.1',
];

const MUTATIONS: readonly Mutation[] = [
  (bytes, random) => {
    const at = below(bytes.length, random);
    return splice(bytes, at, 1, Buffer.of((bytes[at] ?? 0) ^ (1 << below(8, random))));
  },
  (bytes, random) => splice(bytes, below(bytes.length, random), 1, Buffer.of(below(256, random))),
  (bytes, random) => splice(bytes, below(bytes.length, random), 0, bytesOf(pick(SPICE, random) ?? '')),
  (bytes, random) => splice(bytes, below(bytes.length, random), below(6, random), Buffer.alloc(0)),
  (bytes, random) => bytes.subarray(0, below(bytes.length, random)),
  onLine((line) => `${line}\r\n${line}`),
  onLine((line, random) => `${line}\r\n${random() < 0.5 ? ' ' : '\t'}folded: x`),
  onLine((line, random) => `${line}\r\nX-Huge: ${'h'.repeat(below(20_000, random))}`),
  onLine((line, random) => `${line}\r\n${`X: y\r\n`.repeat(below(120, random))}X: z`),
  onLine((line) => line.replace(':', ' :')),
  onLine((line) => line.toUpperCase()),
  onLine(() => ''),
  (bytes, random) => bytesOf(textOf(bytes).replace(/^\S*/, pick(METHODS, random) ?? '')),
  (bytes, random) => bytesOf(textOf(bytes).replace('HTTP/1.1', pick(VERSIONS, random) ?? '')),
  (bytes) => bytesOf(textOf(bytes).replace(' /', ' http://localhost/')),
  (bytes) => bytesOf(textOf(bytes).replace('/api/', '/api/../api/')),
  (bytes, random) => bytesOf(textOf(bytes).replaceAll('\r\n', random() < 0.5 ? '\n' : '\r')),
  withHeader(FRAMINGS),
  withHeader(FRAMINGS),
  (bytes, random) => Buffer.concat([bytes, pick(SEEDS, random) ?? bytes]),
  (bytes, random) =>
    bytesOf(
      textOf(bytes).replace(
        /\r\n[0-9a-f]+\r\n/i,
        `\r\n${pick(['z', '5;a=b', 'ffffffffff', '-1', '', '0x4', '@'], random)}\r\n`,
      ),
    ),
];

/** A request spoilt in up to four ways; now and then not at all. */
export function mutant(random: Random): Buffer {
  return mutantOf(pick(SEEDS, random) ?? Buffer.alloc(0), random);
}

/** Like `mutant`, but from `seed`. */
export function mutantOf(seed: Buffer, random: Random): Buffer {
  let bytes = seed;
  for (let i = below(5, random); i > 0; i--) bytes = pick(MUTATIONS, random)?.(bytes, random) ?? bytes;
  return bytes;
}
