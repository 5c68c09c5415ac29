/** Where the engines differ below the service, for the tests that see it. docs/engines.md has the same as a table. */
import process from 'node:process';
import { isNodeEngine } from './engine.ts';

/** Node's parser knows the methods of its own list; other words are 400 whatever the path. */
const NODE_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE']);

const IS_NODE_20 = process.versions.node.startsWith('20.');

interface Differences {
  /** Whether the engine itself refuses a method with 400. */
  readonly refusesMethod: (method: string) => boolean;
  /** The status of a head whose framing is in doubt by these lines, where the service would say `status`. */
  readonly framingStatus: (status: number, lines: string) => number;
  /** How a WebSocket ends on a message above 64 KiB, and on bytes that are not UTF-8. */
  readonly tooLongCode: number;
  readonly notUtf8Code: number;
  /** How many parts a message may have. */
  readonly maxParts: number;
  /** The codes that it closes a WebSocket with when a message breaks the protocol; none: it cuts the connection. */
  readonly protocolErrorCodes: ReadonlySet<number>;
  /** Whether HTTP/1.0, targets in absolute form, `OPTIONS *` and request lines in several packets are served. */
  readonly servesAllForms: boolean;
  /** Whether a head may have more than 100 headers. */
  readonly takesManyHeaders: boolean;
  /** Whether bytes above 0x7f at the ends of a header value are cut off, as blanks are. */
  readonly trimsHighBytes: boolean;
  /** The headers, in lower case, that it adds to every answer. */
  readonly ownHeaders: readonly string[];
  /** Whether a request that arrives before the previous answer is sent is answered; otherwise both are cut. */
  readonly servesPipelined: boolean;
  /** Whether the delivery of an answer is reported if the answer was not sent immediately. */
  readonly reportsLateDelivery: boolean;
  /** Whether a peer that reads no answers is cut before much is kept for it: answers without a body cannot be counted. */
  readonly cutsUnreadBareAnswers: boolean;
}

const UWS: Differences = {
  refusesMethod: () => false,
  framingStatus: (status) => status,
  tooLongCode: 1006,
  notUtf8Code: 1006,
  maxParts: Number.POSITIVE_INFINITY,
  protocolErrorCodes: new Set(),
  servesAllForms: false,
  takesManyHeaders: false,
  trimsHighBytes: true,
  ownHeaders: ['date', 'uwebsockets'],
  servesPipelined: false,
  reportsLateDelivery: false,
  cutsUnreadBareAnswers: true,
};

const NODE: Differences = {
  refusesMethod: (method) => !NODE_METHODS.has(method),
  // Its parser takes a list of encodings that ends with chunked; before Node 22 it refused an empty one after the head.
  framingStatus: (status, lines) =>
    lines.includes('gzip, chunked') || (IS_NODE_20 && /Encoding: \r/.test(lines)) ? status : 400,
  tooLongCode: 1009,
  notUtf8Code: 1007,
  maxParts: 64,
  protocolErrorCodes: new Set([1002, 1007, 1009]),
  servesAllForms: true,
  takesManyHeaders: true,
  trimsHighBytes: false,
  ownHeaders: ['date'],
  servesPipelined: true,
  reportsLateDelivery: true,
  cutsUnreadBareAnswers: false,
};

export const DIFFERENCES = isNodeEngine ? NODE : UWS;
