/** Request heads: as large as they may be, larger, and with too many lines. */
import { requestBytes } from '../../helpers/clients/http.ts';
import { type Attack, send } from '../target.ts';
import { held, shots } from './shapes.ts';

/** Size of a large head; at most 16 KiB are allowed. */
const LARGE_BYTES = 15 * 1024;

const largeStreams = (what: string, header: string, value: string): Attack =>
  held(
    { name: `streams with 15 KB of ${what}`, unit: 'streams', seconds: 8 },
    { perSecond: 50, max: 200 },
    async (target) => {
      const socket = await target.connect();
      socket.resume();
      send(socket, requestBytes(target.place.stream, { headers: { [header]: value } }));
    },
  );

const requests = (name: string, perSecond: number, bytes: Buffer): Attack =>
  shots(name, perSecond, () => bytes);

const lines = (count: number) =>
  Buffer.from(
    `GET /api/status HTTP/1.1\r\nHost: localhost\r\n${Array.from({ length: count }, (_, i) => `X-${i}: y\r\n`).join('')}\r\n`,
  );
const fill = (text: string) => text.repeat(Math.floor(LARGE_BYTES / text.length));

export const HEADS: readonly Attack[] = [
  largeStreams('X-Forwarded-For', 'X-Forwarded-For', fill('10.1.2.3, ')),
  largeStreams('cookies', 'Cookie', fill('a=b; ')),
  largeStreams('Authorization', 'Authorization', `Bearer ${'k'.repeat(LARGE_BYTES)}`),
  requests(
    'heads of 15 KB',
    100,
    requestBytes('/api/status', { headers: { 'X-Large': 'x'.repeat(LARGE_BYTES) } }),
  ),
  requests(
    'heads of one byte more than allowed',
    100,
    requestBytes('/api/status', { headers: { 'X-Large': 'x'.repeat(16 * 1024) } }),
  ),
  requests('heads of 99 lines', 100, lines(98)),
  requests('heads of 1,000 lines', 50, lines(1000)),
  requests(
    'heads of 1 MB',
    10,
    requestBytes('/api/status', { headers: { 'X-Bomb': 'x'.repeat(1_000_000) } }),
  ),
  requests(
    'queries of 15 KB',
    100,
    requestBytes(`/api/usage?fields=${'cpu,%2c'.repeat(LARGE_BYTES / 8)}&detail=1`),
  ),
];
