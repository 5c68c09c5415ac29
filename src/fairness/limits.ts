/**
 * The limits of the service, of three kinds: how often something happens (`Rate`), how many there are at a time
 * (`Places`), and how many bytes are kept (`Quota`). None touches an honest load (test/http/honest-loads.ts).
 */
import type { RateLimit } from './rate.ts';

interface Row {
  /** For whom it is counted. An address also stands for its /64 network, which has four times as much. */
  readonly per: 'address' | 'network' | 'connection' | 'key' | 'kind' | 'all';
  /** The answer to a peer beyond it. */
  readonly peer: string;
  /** The entry in the log. */
  readonly log: string;
}

type RateRow = Row & RateLimit;

const MINUTE = 60;
const HOUR = 3600;
const LEFT_OUT = 'the number of lines that were left out, after a minute';

export const RATES = {
  /** Messages and control frames of a WebSocket. */
  messages: { perSecond: 20, burst: 40, per: 'connection', peer: 'RATE_LIMITED', log: '' },
  /** The same of a hub, which passes on what its clients ask: 32 requests at a time, and more than 12 s of this rate. */
  hubMessages: { perSecond: 200, burst: 2400, per: 'connection', peer: 'RATE_LIMITED', log: '' },
  /** Answers to messages beyond that rate: a flood is not answered for long. */
  refusedMessages: {
    perSecond: 20,
    burst: 100,
    per: 'connection',
    peer: 'closed with 1008',
    log: 'a line per socket',
  },
  /**
   * Messages of one machine to its hub, over all its connections. With three viewers, detail, all topics and a sample per
   * second they are 2.3 per second (8 KiB), and never more than 16.
   */
  machineFrames: {
    perSecond: 20,
    burst: 400,
    per: 'key',
    peer: 'the connection ends',
    log: 'the machine is down',
  },
  /** Their bytes: a sample of the largest machine, with detail, has 0.7 MiB. */
  machineBytes: {
    perSecond: 2 * 2 ** 20,
    burst: 8 * 2 ** 20,
    per: 'key',
    peer: 'the connection ends',
    log: 'the machine is down',
  },
  /** Answers without a body: uWebSockets.js does not report the bytes of those that a peer does not read. */
  bareAnswers: { perSecond: 1000, burst: 1000, per: 'address', peer: 'the connection ends', log: '' },
  wrongKeys: { perSecond: 10, burst: 100, per: 'network', peer: '401, and the connection ends', log: '' },
  wrongKeyLines: {
    perSecond: 1 / (10 * MINUTE),
    burst: 1,
    per: 'network',
    peer: '',
    log: 'the next line has their number',
  },
  /** Host names and origins that are logged with the line that would allow them. */
  refusedNames: { perSecond: 10 / HOUR, burst: 10, per: 'address', peer: '', log: '' },
  refusedNamesInAll: { perSecond: 100 / HOUR, burst: 100, per: 'all', peer: '', log: '' },
  /** Lines that no client caused: `media`, `power`, `process`, and all others. */
  linesOfKind: { perSecond: 5 / MINUTE, burst: 50, per: 'kind', peer: '', log: LEFT_OUT },
  /** The first lines of each address, which the many of another address cannot exhaust. */
  firstLines: { perSecond: 5 / MINUTE, burst: 5, per: 'address', peer: '', log: LEFT_OUT },
  firstLinesInAll: { perSecond: 50 / MINUTE, burst: 50, per: 'all', peer: '', log: LEFT_OUT },
  /** Further lines of clients without the key; all together at most 200 lines in a minute, and then a few. */
  lines: { perSecond: 15 / MINUTE, burst: 100, per: 'address', peer: '', log: LEFT_OUT },
  linesInAll: { perSecond: 30 / MINUTE, burst: 150, per: 'all', peer: '', log: LEFT_OUT },
  /** Lines of clients with the key, whose commands must be found in the log. */
  keyedLines: { perSecond: 2000 / MINUTE, burst: 2000, per: 'all', peer: '', log: LEFT_OUT },
} as const satisfies Readonly<Record<string, RateRow>>;

interface PlacesRow extends Row {
  /** The number, or the setting that has it. */
  readonly max: number | string;
  /** The share kept for others. */
  readonly spare: string;
}

const REFUSED_ONCE = 'the address, once, with the setting';
/** The shares of `sharesOf`. */
const SHARES = 'three quarters of any address, half of any network, a quarter for clients with the key';

export const PLACES = {
  connections: {
    max: 'server.max_connections_per_address',
    per: 'address',
    spare: 'a quarter of all that the limit of descriptors allows',
    peer: '503 too_many_connections',
    log: REFUSED_ONCE,
  },
  /** Event streams and WebSockets. */
  viewers: {
    max: 'server.max_streams_per_address',
    per: 'address',
    spare: 'a quarter of server.max_streams, and an eighth for clients with the key',
    peer: '503 too_many_streams',
    log: REFUSED_ONCE,
  },
  /** Requests without the key that wait for their answer. */
  requests: {
    max: 'server.max_requests_per_address',
    per: 'address',
    spare: '',
    peer: '429 too_many_requests',
    log: REFUSED_ONCE,
  },
  /** Groups of viewers of a hub with the same filter: each makes an event of its own per interval. */
  fleetGroups: { max: 64, per: 'all', spare: SHARES, peer: '503 too_many_streams', log: REFUSED_ONCE },
  /** Requests of a connection to Node's engine that wait for the answer before them. */
  pipelined: { max: 16, per: 'connection', spare: '', peer: 'the connection is cut', log: '' },
  /** Machines that one socket follows; more are what the topic `fleet` is for. */
  subscriptions: { max: 1024, per: 'connection', spare: '', peer: 'TOO_MANY_STREAMS', log: '' },
  /** Messages and control frames that may arrive while a full socket waits to be closed. */
  framesAfterEnd: { max: 64, per: 'connection', spare: '', peer: 'the connection is cut', log: '' },
  /** Different questions about processes, or the history, that wait for their turns. */
  questions: { max: 64, per: 'address', spare: '', peer: '409 not_possible_now', log: '' },
  questionsInAll: {
    max: 1024,
    per: 'all',
    spare: 'the client with most loses its newest one',
    peer: '409 not_possible_now',
    log: '',
  },
  /** Processes that are being ended. */
  endings: { max: 24, per: 'all', spare: SHARES, peer: '409 not_possible_now', log: 'the command' },
} as const satisfies Readonly<Record<string, PlacesRow>>;

interface QuotaRow extends Row {
  readonly maxBytes: number | string;
}

export const QUOTAS = {
  /** All that waits for peers, and unfinished input of them. */
  kept: {
    maxBytes: 'server.max_kept_megabytes',
    per: 'all',
    peer: 'the connection is cut; a network may keep a quarter',
    log: 'a line per address',
  },
  /** A body of JSON, and one that is read to its end so that its sender can read the answer. */
  body: { maxBytes: 16 * 1024, per: 'connection', peer: '413 payload_too_large', log: '' },
  drainedBody: { maxBytes: 2 ** 20, per: 'connection', peer: '413, and the connection ends', log: 'a line' },
  /** Read and forgotten after a last answer: a reset might overtake it. */
  afterLast: { maxBytes: 2 ** 20, per: 'connection', peer: 'the connection is cut', log: '' },
  /** A message of a WebSocket; beyond `socketFrame` it is not even received. */
  socketMessage: { maxBytes: 16 * 1024, per: 'connection', peer: 'closed with 1009', log: '' },
  socketFrame: { maxBytes: 64 * 1024, per: 'connection', peer: 'the connection is cut', log: '' },
  /** A message of a machine that dials its hub: a cover of 1 MiB has a third more in base64. */
  machineFrame: { maxBytes: 1.5 * 2 ** 20, per: 'connection', peer: 'the connection is cut', log: '' },
  /** Answers that wait for a full socket. */
  socketAnswers: { maxBytes: 64 * 1024, per: 'connection', peer: 'closed with 1008', log: '' },
  /** The same of a hub: a cover has up to 1.4 MiB, and several clients of a hub may ask at a time. */
  hubAnswers: { maxBytes: 2 * 2 ** 20, per: 'connection', peer: 'closed with 1008', log: '' },
} as const satisfies Readonly<Record<string, QuotaRow>>;
