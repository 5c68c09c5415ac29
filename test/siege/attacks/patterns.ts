/** Heads that make a pattern with an ambiguous repetition try every way to match before it fails. */
import { pick, type Random } from '../../http/mutate.ts';
import type { Attack, Target } from '../target.ts';
import { pipelined } from './shapes.ts';

/** With the rest of the head just below the 16 KiB that it may have. */
const RUN_LENGTH = 15_900;
/** Pipelined in one write: one of them held the event loop for 0.3 to 0.6 s. */
const PIPELINED = 20;
const CONNECTIONS = 16;

/** Ends that `.`, `$` and the classes of most patterns do not match: U+2028, a control character, DEL, a letter beyond ASCII. */
const FAILING = ['\u2028x', '\u2029', '\x01', '\x7f', 'é', '"', ';', '\u00ff'];
const RUNS = [' ', '\t', 'a', '1', '.', '-', ':', ',', ';', '=', '%20', 'a ', ', ', '.1', ' ;', '::'];

const fill = (text: string) => text.repeat(Math.floor(RUN_LENGTH / Buffer.byteLength(text)));

const requestOf = (target: string, lines: readonly string[]): Buffer =>
  Buffer.from(`GET ${target} HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`);

const BEARER = requestOf('/api/usage', ['Host: localhost', `Authorization: Bearer${fill(' ')}\u2028x`]);

/** Fields that are read of requests, and how their values begin. */
const FIELDS = [
  'Authorization: Bearer ',
  'Authorization: ',
  'X-Forwarded-For: ',
  'X-Forwarded-Host: ',
  'X-Forwarded-Proto: ',
  'Forwarded: for=',
  'Origin: http://',
  'Cookie: ',
  'If-None-Match: "',
  'Content-Type: application/json',
  'Transfer-Encoding: ',
  'Sec-WebSocket-Key: ',
  'X-Hostwire-Hub: ',
  'Last-Event-ID: ',
  'Connection: ',
];

function anyField(random: Random): Buffer {
  const run = fill(pick(RUNS, random) ?? ' ');
  const failing = pick(FAILING, random) ?? '';
  const field = pick(FIELDS, random) ?? '';
  return requestOf('/api/usage', ['Host: localhost', `${field}${run}${failing}`]);
}

function anyHost(random: Random): Buffer {
  const begin = pick(['', '[', '[::', 'localhost:', 'a.'], random) ?? '';
  return requestOf('/api/usage', [
    `Host: ${begin}${fill(pick(RUNS, random) ?? '.')}${pick(FAILING, random)}`,
  ]);
}

/** Blanks of a run become `%20`, because a path ends at a blank. */
function anyPath(random: Random): Buffer {
  const begin = pick(
    ['/api/usage?fields=', '/api/processes?query=', '/api/history?series=', '/api/ws?api_key=', '/api/', '/'],
    random,
  );
  const run = (pick(RUNS, random) ?? 'a').replaceAll(' ', '%20').replaceAll('\t', '%09');
  const failing = pick(['%E2%80%A8x', '%01', '%7f', '%', '%ff', '\u2028x', '"'], random) ?? '';
  return requestOf(`${begin}${fill(run)}${failing}`, ['Host: localhost']);
}

const patterns = (
  name: string,
  make: (random: Random) => Buffer,
  addressOf?: (target: Target) => string,
): Attack => pipelined({ name, unit: 'requests' }, CONNECTIONS, PIPELINED, make, addressOf);

export const PATTERNS: readonly Attack[] = [
  patterns('keys of blanks and a line separator', () => BEARER),
  patterns(
    'keys of blanks and a line separator, from blocked addresses',
    () => BEARER,
    (target) => target.blockedAddress,
  ),
  patterns('long runs and a character that fails, in any field', anyField),
  patterns('long runs and a character that fails, in Host', anyHost),
  patterns('long runs and a character that fails, in paths and queries', anyPath),
];
