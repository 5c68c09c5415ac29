/**
 * The limits of the service, of three kinds: how often something happens (`Rate`), how many there are at a time
 * (`Places`), and how many bytes are kept (`Quota`); and how much is remembered. None touches an honest load
 * (test/http/honest-loads.ts).
 */

export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
  /** `network`: a /64 network has it once for all its addresses, instead of each of them. */
  readonly per?: string;
}

interface Row {
  /** For whom it is counted. An address also stands for its /64 network, which has four times as much. */
  readonly per: 'address' | 'network' | 'connection' | 'key' | 'machine' | 'target' | 'kind' | 'all';
  /** The answer to a peer beyond it; absent: there is none. */
  readonly peer?: string;
  /** The entry in the log; absent: there is none. */
  readonly log?: string;
}

type RateRow = Row & RateLimit;

const MINUTE = 60;
const HOUR = 3600;
/** To a machine. */
const FLOODED = 'its session ends, and the next begins later';
const LEFT_OUT = 'the number of lines that were left out, after a minute';

export const RATES = {
  /** Messages and control frames of a WebSocket. */
  messages: { perSecond: 20, burst: 40, per: 'connection', peer: 'RATE_LIMITED' },
  /** The same of a hub, which passes on what its clients ask: 32 requests at a time, and more than 12 s of this rate. */
  hubMessages: { perSecond: 200, burst: 2400, per: 'connection', peer: 'RATE_LIMITED' },
  /** Answers to messages beyond that rate: a flood is not answered for long. */
  refusedMessages: { perSecond: 20, burst: 100, per: 'connection', peer: 'closed with 1008', log: 'a line' },
  /**
   * Messages of one machine to its hub, over all its connections. With three viewers, detail, all topics and a sample per
   * second they are 2.3 per second (8 KiB), and never more than 16.
   */
  machineFrames: { perSecond: 20, burst: 400, per: 'machine', peer: FLOODED, log: 'a line' },
  /** Their bytes: a sample of the largest machine, with detail, has 0.7 MiB. */
  machineBytes: { perSecond: 2 * 2 ** 20, burst: 8 * 2 ** 20, per: 'machine', peer: FLOODED, log: 'a line' },
  /** Requests of a hub to one machine, and of a client that is none: less than a machine takes from it (`messages`). */
  hubRequests: { perSecond: 64, burst: 128, per: 'machine' },
  clientRequests: { perSecond: 8, burst: 16, per: 'machine' },
  /** Sessions that a hub begins over a broker, and those that a machine takes from one hub. */
  brokerSessions: { perSecond: 50, burst: 50, per: 'all' },
  hubSessions: { perSecond: 1, burst: 8, per: 'key' },
  /** Answers without a body: uWebSockets.js does not report the bytes of those that a peer does not read. */
  bareAnswers: { perSecond: 1000, burst: 1000, per: 'address', peer: 'the connection ends' },
  wrongKeys: { perSecond: 10, burst: 100, per: 'network', peer: '401, and the connection ends' },
  wrongKeyLines: { perSecond: 1 / (10 * MINUTE), burst: 1, per: 'network', log: 'the next line counts them' },
  /** Host names and origins that are logged with the line that would allow them. */
  refusedNames: { perSecond: 10 / HOUR, burst: 10, per: 'address' },
  refusedNamesInAll: { perSecond: 100 / HOUR, burst: 100, per: 'all' },
  /** Lines that no client caused: `media`, `power`, `process`, and all others. */
  linesOfKind: { perSecond: 5 / MINUTE, burst: 50, per: 'kind', log: LEFT_OUT },
  /** The first lines of each address, which the many of another address cannot exhaust. */
  firstLines: { perSecond: 5 / MINUTE, burst: 5, per: 'address', log: LEFT_OUT },
  firstLinesInAll: { perSecond: 50 / MINUTE, burst: 50, per: 'all', log: LEFT_OUT },
  /** Further lines of clients without the key; all together at most 200 lines in a minute, and then a few. */
  lines: { perSecond: 15 / MINUTE, burst: 100, per: 'address', log: LEFT_OUT },
  linesInAll: { perSecond: 30 / MINUTE, burst: 150, per: 'all', log: LEFT_OUT },
  /** States of one machine; further ones are logged for debugging only. */
  machineLines: { perSecond: 10 / MINUTE, burst: 10, per: 'machine' },
  /** Lines of clients with the key, whose commands must be found in the log. */
  keyedLines: { perSecond: 2000 / MINUTE, burst: 2000, per: 'all', log: LEFT_OUT },
} as const satisfies Readonly<Record<string, RateRow>>;

interface PlacesRow extends Row {
  /** The number, or the setting that has it. */
  readonly max: number | string;
  /** The number that may wait for a place; then the client with most loses its newest one. */
  readonly waiting?: number;
  /** The share kept for others; absent: there is none. */
  readonly spare?: string;
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
    peer: '429 too_many_requests',
    log: REFUSED_ONCE,
  },
  /** Groups of viewers of a hub with the same filter: each makes an event of its own per interval. */
  fleetGroups: { max: 64, per: 'all', spare: SHARES, peer: '503 too_many_streams', log: REFUSED_ONCE },
  /** Requests of a connection to Node's engine that wait for the answer before them. */
  pipelined: { max: 16, per: 'connection', peer: 'the connection is cut' },
  /** Machines that one socket follows; more are what the topic `fleet` is for. */
  subscriptions: { max: 1024, per: 'connection', peer: 'TOO_MANY_STREAMS' },
  /** Messages and control frames that may arrive while a full socket waits to be closed. */
  framesAfterEnd: { max: 64, per: 'connection', peer: 'the connection is cut' },
  /** Different questions about processes, or the history, that wait for their turns. */
  questions: { max: 64, per: 'address', peer: '409 not_possible_now' },
  questionsInAll: {
    max: 1024,
    per: 'all',
    spare: 'the client with most loses its newest one',
    peer: '409 not_possible_now',
  },
  /** Requests of all clients of a hub to all its machines. */
  hubQuestions: { max: 2000, per: 'all', spare: SHARES, peer: '429 too_many_requests' },
  hubCommands: { max: 1000, per: 'all', spare: SHARES, peer: '429 too_many_requests' },
  /** Requests sent to one machine at a time. Commands have places of their own: they must not wait for what is read. */
  machineQuestions: { max: 12, waiting: 64, per: 'machine', spare: SHARES, peer: '429 too_many_requests' },
  machineCommands: { max: 16, waiting: 32, per: 'machine', spare: SHARES, peer: '429 too_many_requests' },
  /** Commands that continue after their answer: a machine has one with a delay, and the others end soon. */
  followedCommands: { max: 16, per: 'machine', peer: 'the oldest ends as unknown' },
  /** Machines at a broker: a client that may publish everywhere could make up any number. */
  brokerMachines: { max: 20_000, per: 'connection', peer: 'it is not shown', log: 'a line' },
  /** Hubs that a machine serves over a broker. */
  brokerHubs: { max: 16, per: 'all', peer: 'it is not served', log: 'a line' },
  /** Labels and addresses in the greeting of a machine. */
  machineLabels: { max: 16, per: 'machine' },
  machineAddresses: { max: 16, per: 'machine' },
  machineWakes: { max: 256, per: 'machine' },
  /** Events of one machine that last; and of those that a hub has missed the newest. */
  openEvents: { max: 100, per: 'machine' },
  missedEvents: { max: 100, per: 'machine' },
  /** Outages of which a target of notifications was not told all. */
  outages: { max: 1000, per: 'target', peer: 'the oldest is counted only', log: 'a line' },
  /** Messages under way to a broker: Mosquitto closes the connection of a client of version 5 that has more than 20. */
  brokerUnderWay: { max: 16, per: 'connection' },
  brokerWaiting: { max: 128, per: 'connection' },
  /** Commands of a broker that wait for a player, or for processes to end. */
  brokerCommands: { max: 16, per: 'connection', peer: 'too_many_requests' },
  /** Machines that are woken at a time, and sockets for one of them: a host of containers may have hundreds of interfaces. */
  wakes: { max: 8, per: 'all', peer: 'waits' },
  wakeSockets: { max: 32, per: 'all' },
  mutes: { max: 100, per: 'all', peer: '409 not_possible_now' },
  /** Series of the history in memory: each interface of a container and each mount has several. */
  series: { max: 512, per: 'all', log: 'a line' },
  /** Questions that wait for the file of the history; and values in an answer, where mean, min and max count. */
  historyReads: { max: 16, per: 'all', log: 'a line' },
  numbers: { max: 100_000, per: 'connection', peer: '400 invalid_value' },
  /** Filesystems, and rows of another machine, in an answer to Prometheus; and groups of processes. */
  metricRows: { max: 512, per: 'all' },
  metricGroups: { max: 32, per: 'all' },
  /**
   * Pieces of one packet of a broker: the parser keeps each as a buffer, about 200 bytes of objects. The longest packet in
   * segments of 536 bytes, the shortest that IPv4 is made for, is 1,957.
   */
  packetPieces: { max: 4096, per: 'connection', peer: 'the connection is cut', log: 'a line' },
  /** Pieces of a body, beside one for each 256 bytes: each costs a microsecond, whatever its size. */
  bodyPieces: { max: 256, per: 'connection', peer: 'the connection is cut', log: 'a line' },
  /** Parts and reads of a message of a WebSocket, each of which `ws` keeps as a Buffer: honest clients send one part. */
  messageParts: { max: 64, per: 'connection', peer: 'the connection is cut' },
  messageReads: { max: 128, per: 'connection', peer: 'the connection is cut' },
  /** A message of 1.5 MiB comes in a thousand reads over a slow network. */
  longMessageReads: { max: 1024, per: 'connection', peer: 'the connection is cut' },
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
  body: { maxBytes: 16 * 1024, per: 'connection', peer: '413 payload_too_large' },
  drainedBody: { maxBytes: 2 ** 20, per: 'connection', peer: '413, and the connection ends', log: 'a line' },
  /** Read and forgotten after a last answer: a reset might overtake it. */
  afterLast: { maxBytes: 128 * 1024, per: 'connection', peer: 'the connection is cut' },
  /** A holder of less is not counted: so much is part of the price of a connection. */
  uncounted: { maxBytes: 1024, per: 'connection' },
  /** The body of a last answer in one piece: uWebSockets.js copies it, and does not report what a peer has not read. */
  lastAnswer: { maxBytes: 8 * 1024, per: 'connection', peer: '400 bad_request' },
  /** A message of a WebSocket; beyond `socketFrame` it is not even received. */
  socketMessage: { maxBytes: 16 * 1024, per: 'connection', peer: 'closed with 1009' },
  socketFrame: { maxBytes: 64 * 1024, per: 'connection', peer: 'the connection is cut' },
  /** A message of a machine that dials its hub: a cover of 1 MiB has a third more in base64. */
  machineFrame: { maxBytes: 1.5 * 2 ** 20, per: 'connection', peer: 'the connection is cut' },
  /** Answers that wait for a full socket. */
  socketAnswers: { maxBytes: 64 * 1024, per: 'connection', peer: 'closed with 1008' },
  /** The same of a hub: a cover has up to 1.4 MiB, and several clients of a hub may ask at a time. */
  hubAnswers: { maxBytes: 2 * 2 ** 20, per: 'connection', peer: 'closed with 1008' },
  /** Requests that wait for a machine that does not read. */
  unreadRequests: { maxBytes: 64 * 1024, per: 'machine', peer: '503 host_unreachable' },
  /** Frames of sessions over a broker of which more parts are to come. */
  brokerParts: { maxBytes: 32 * 2 ** 20, per: 'all', peer: 'its session ends' },
  /** A status at a broker, and any packet: longer than the document of any device. */
  brokerStatus: { maxBytes: 8192, per: 'machine', peer: 'it is ignored' },
  brokerPacket: { maxBytes: 2 ** 20, per: 'connection', peer: 'the connection is cut', log: 'a line' },
  /** Messages that wait for a broker that takes nothing. */
  brokerWaiting: { maxBytes: 4 * 2 ** 20, per: 'connection' },
  brokerCommand: { maxBytes: 64 * 1024, per: 'connection', peer: 'payload_too_large' },
  /** A topic that a machine sends to its hub, a list of processes that a socket has room for, and the last values of it. */
  pushedTopic: { maxBytes: 64 * 1024, per: 'machine' },
  pushedList: { maxBytes: 48 * 1024, per: 'machine' },
  lastValues: { maxBytes: 2048, per: 'machine' },
  /** Events of one sample of a machine: 23 views of that of the largest machine (0.7 MB), which may have 64. */
  keptViews: { maxBytes: 16 * 2 ** 20, per: 'machine' },
  /** Samples in one event of a hub, half of what one address may be kept by default; beyond it the large ones are left out. */
  fleetSamples: { maxBytes: 8 * 2 ** 20, per: 'connection' },
  /** Facts and last values in a list of a hub: those of 6,000 machines. The rows after it lack them. */
  inventory: { maxBytes: 4 * 2 ** 20, per: 'connection' },
  registryFile: { maxBytes: 256 * 2 ** 20, per: 'all', log: 'a line' },
  /** A row of the history's file: any longer one is damaged. 100,000 series for one minute. */
  historyRow: { maxBytes: 8 * 2 ** 20, per: 'all' },
  /** Kept answers about processes, in UTF-16 units; an ungrouped list of 4,000 processes has about a million. */
  processAnswers: { maxBytes: 8 * 2 ** 20, per: 'all' },
  /** A cover; usually it has a few hundred kilobytes. Its data: URI has a third more, and some players escape its signs. */
  cover: { maxBytes: 2 ** 20, per: 'all', peer: '404 not_found' },
  coverUrl: { maxBytes: 2 * 2 ** 20, per: 'all', peer: '404 not_found' },
  /** The configuration of a hub names thousands of machines. A key has at most 1024 characters. */
  configFile: { maxBytes: 2 ** 20, per: 'all', log: 'an error' },
  namedFile: { maxBytes: 64 * 1024, per: 'all', log: 'an error' },
  secretFile: { maxBytes: 4096, per: 'all', log: 'an error' },
  /** The answer of a receiver of notifications; the rest is not read. */
  receiverAnswer: { maxBytes: 64 * 1024, per: 'connection' },
  /** Lines of the log that wait for a slow reader; and its own file, which is begun anew then. */
  logWaiting: { maxBytes: 64 * 1024, per: 'all', log: 'the next line has their number' },
  logFile: { maxBytes: 2 ** 20, per: 'all' },
} as const satisfies Readonly<Record<string, QuotaRow>>;

/** Entries that are remembered; with more the oldest, or all, are forgotten, and made or logged again when they return. */
export const REMEMBERED = {
  /** Addresses, networks or keys that one `Rate` counts for: a forgotten one may have a burst again. */
  ratedKeys: 2000,
  /** Refusals that were logged, and networks with wrong keys. */
  refusals: 1000,
  /** Peers whose addresses were parsed: the same few send nearly all requests. */
  peers: 64,
  /** Sessions of one hub over a broker. At its rate older ones are from before the deadline of any command. */
  brokerSessions: 32,
  /** Commands of a broker: as many as come in nine minutes at the rate of `messages`. */
  brokerCommands: 11_000,
  /** Components of a document that a broker has kept: more than any has. */
  components: 2000,
  /** Machines of a hub, also those that are gone: more than it shows. */
  machines: 25_000,
  /** Texts that many machines have. */
  machineTexts: 1000,
  /** Lists of a hub with different filters. */
  lists: 4,
  /** Beginnings of streams of events: clients that connect again together had the same few events. */
  beginnings: 16,
  events: 1000,
  marks: 256,
  /** Names of series: interfaces of containers come and go. */
  seriesNames: 2048,
  /** Events and marks in the history's file; at most a few KiB each, 64 MiB at worst. */
  notes: 20_000,
  /** Rows that wait to be written there: 10 minutes of slots, and the minute that is being filled. */
  unwrittenSlots: 66,
  unwrittenNotes: 200,
  /** An interface may return under its index, with its counters: from a network namespace, or in the next reading. */
  departedInterfaces: 64,
  /** Actions of the recording backend: a trial may run for months. */
  powerActions: 1000,
} as const;

/** Characters of texts that others have written; the rest is cut off. A stack of an error has about 1,500. */
export const TEXTS = { line: 4096, field: 1024, message: 500, subject: 300, reason: 200, name: 64 } as const;
