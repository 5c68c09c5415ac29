/** Keys, commands and bodies: wrong keys, commands in storms, sizes at the limits, ambiguous framing, mutated bytes. */
import { requestBytes } from '../../helpers/clients/http.ts';
import { below, mutant, pick, type Random } from '../../http/mutate.ts';
import { smuggled } from '../../http/smuggled.ts';
import type { Attack } from '../target.ts';
import { shots } from './shapes.ts';

const KIB = 1024;
const MIB = KIB * KIB;
const HOST = 'Host: localhost\r\n';
const JSON_TYPE = { 'Content-Type': 'application/json' };

const KEYED_PATHS = ['/api/usage', '/api/stream', '/api/ws', '/api/pw/sleep', '/api/system', '/nowhere'];

function wrongKey(random: Random): Buffer {
  const key = 'k'.repeat(1 + below(200, random));
  return requestBytes(pick(KEYED_PATHS, random) ?? '/', { headers: { Authorization: `Bearer ${key}` } });
}

const ACTIONS = ['play', 'pause', 'next', 'prev', 'stop', 'volume_up', 'seek', 'nothing'];
/** The backend records: nothing is carried out. */
const POWER = [
  'sleep',
  'hibernate',
  'restart',
  'shutdown',
  'cancel',
  'lock',
  'sleep?delay=80000',
  'sleep?force=1',
];

const SIZES = [0, 1, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1, 64 * KIB, MIB - 1, MIB, MIB + 1];
const CHUNK_SIZES = [
  '0',
  '00000000',
  '1',
  '4',
  'ffffffff',
  'fffffffffffffffff',
  '-1',
  '4;x=y',
  '@',
  ':',
  '',
  '0x4',
  ' 4',
];

function chunked(random: Random): string {
  const chunks = Array.from(
    { length: 1 + below(8, random) },
    () => `${pick(CHUNK_SIZES, random)}\r\n${'a'.repeat(below(40, random))}\r\n`,
  );
  const end = random() < 0.5 ? '0\r\n\r\n' : '';
  return `POST /api/media/control HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}${end}`;
}

const HIDDEN = `GET /api/system HTTP/1.1\r\n${HOST}\r\n`;
const SMUGGLED = [
  ...smuggled('/api/status', HIDDEN),
  `GET /api/status HTTP/1.1\r\n${HOST}X: y\r\n\tfolded: z\r\n\r\n${HIDDEN}`,
  `GET /api/status HTTP/1.1\n${HOST.replace('\r', '')}\n${HIDDEN.replaceAll('\r', '')}`,
  `GET http://localhost/api/status HTTP/1.1\r\n${HOST}\r\n`,
  `GET http://user@other:1/api/status HTTP/1.1\r\n${HOST}\r\n`,
  `CONNECT localhost:22 HTTP/1.1\r\n${HOST}\r\n`,
  `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`,
  `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
];

export const BODIES: readonly Attack[] = [
  shots('wrong keys', 100, wrongKey),
  shots('media commands', 50, (random, { place: { machine } }) =>
    requestBytes(`${machine}/media/control`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ action: pick(ACTIONS, random), value: below(200, random) }),
    }),
  ),
  shots('power commands', 50, (random, { place: { machine } }) =>
    requestBytes(`${machine}/pw/${pick(POWER, random)}`, { method: 'POST', body: '' }),
  ),
  shots('bodies at the limits', 25, (random, { place: { machine } }) => {
    const size = pick(SIZES, random) ?? 0;
    const target = pick([`${machine}/media/control`, `${machine}/pw/cancel`, '/api/status'], random) ?? '/';
    return requestBytes(target, { method: 'POST', headers: JSON_TYPE, body: Buffer.alloc(size, '[') });
  }),
  shots('bodies announced and never sent', 50, (random, { place: { machine } }) => {
    const size = pick(['1', '16384', '1048576', '1048577', '99999999999999999999'], random);
    return `POST ${machine}/media/control HTTP/1.1\r\n${HOST}Content-Length: ${size}\r\n\r\n`;
  }),
  shots('chunks of strange sizes', 50, chunked),
  shots('ambiguous framing', 50, (random) => pick(SMUGGLED, random) ?? ''),
  shots('mutated requests', 60, mutant),
];
