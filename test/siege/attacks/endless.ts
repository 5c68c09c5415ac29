/** Bodies and heads without an end: as fast as the kernel takes them, and as slowly as is allowed. */
import type net from 'node:net';
import { pick } from '../../http/mutate.ts';
import { type Attack, atFullSpeed, atRate, type Place, pause, send, type Target } from '../target.ts';
import { Block } from './shapes.ts';

const HOST = 'Host: localhost\r\n';
const pathsOf = ({ machine }: Place) => [
  `${machine}/pw/cancel`,
  `${machine}/pw/sleep`,
  `${machine}/media/control`,
  '/api/status',
  '/nowhere',
];
/** At full speed a limit of bytes or of pieces is reached within a moment. */
const FAST_SECONDS = 4;
/** A body may take 30 s; engines look every few seconds. */
const SLOW_BODY_SECONDS = 40;
/** A head may take 10 s. */
const SLOW_HEAD_SECONDS = 25;
const SLOW_CONNECTIONS = 200;
/** Between two connections of one worker: the bytes are the attack here, not the connections. */
const RECONNECT_MS = 5;

const post = (path: string, framing: string) => `POST ${path} HTTP/1.1\r\n${HOST}${framing}\r\n\r\n`;

interface Endless {
  readonly name: string;
  readonly unit: string;
  readonly connections: number;
  readonly head: (target: Target) => string;
  /** Repeated for ever. */
  readonly piece: string;
  readonly isBlocked?: true;
  readonly log?: RegExp;
}

function endless({ name, unit, connections, head, piece, isBlocked, log }: Endless): Attack {
  const block = new Block(piece);
  return {
    name,
    unit,
    ...(log && { log }),
    run: (target, _random, signal) =>
      atFullSpeed(connections, signal, async () => {
        const socket = await target.connect({
          from: isBlocked === true ? target.blockedAddress : target.address,
        });
        target.expect(socket, FAST_SECONDS);
        send(socket, head(target));
        await block.pour(socket, target, signal);
        await pause(RECONNECT_MS, signal);
      }),
  };
}

const CHUNKED = 'Transfer-Encoding: chunked';
const CHUNK = '1\r\nx\r\n';

function chunks(what: string, pathOf: (place: Place) => string, log?: RegExp): Attack {
  return endless({
    name: `chunks of a byte without an end to ${what}`,
    unit: 'chunks',
    connections: 1,
    head: ({ place }) => post(pathOf(place), CHUNKED),
    piece: CHUNK,
    ...(log && { log }),
  });
}

function manyChunks(name: string, connections: number, isBlocked?: true): Attack {
  let next = 0;
  return endless({
    name,
    unit: 'chunks',
    connections,
    piece: CHUNK,
    head: ({ place }) => {
      const paths = pathsOf(place);
      return post(paths[next++ % paths.length] ?? '/', CHUNKED);
    },
    ...(isBlocked && { isBlocked }),
  });
}

const SLOW_CHUNKS: Attack = {
  name: 'chunks of a byte, one per ms',
  unit: 'chunks',
  seconds: SLOW_BODY_SECONDS + 5,
  run: async (target, random, signal) => {
    const sockets = await Promise.all(Array.from({ length: 16 }, () => target.connect()));
    for (const socket of sockets) {
      target.expect(socket, SLOW_BODY_SECONDS);
      send(socket, post(pick(pathsOf(target.place), random) ?? '/', CHUNKED));
    }
    await atRate(1000, signal, () => {
      const open = sockets.filter(isWritable);
      for (const socket of open) send(socket, CHUNK);
      target.count(open.length);
      // All were ended: the rest of the time nothing is sent.
      return open.length === 0 ? pause(1000, signal) : undefined;
    });
  },
};

const isWritable = (socket: net.Socket) => socket.writable;

/** Each byte is a segment of its own as far as the kernel does not join those that the service has not read yet. */
const SEGMENTS: Attack = {
  name: 'bodies of 1 MiB in segments of a byte',
  unit: 'bytes',
  seconds: SLOW_BODY_SECONDS + 5,
  run: async (target, _random, signal) => {
    const sockets = await Promise.all(Array.from({ length: 8 }, () => target.connect()));
    for (const socket of sockets) {
      target.expect(socket, SLOW_BODY_SECONDS, 'answer');
      send(
        socket,
        post(
          `${target.place.machine}/media/control`,
          `Content-Type: application/json\r\nContent-Length: ${2 ** 20}`,
        ),
      );
    }
    await atFullSpeed(1, signal, async () => {
      const ready = sockets.filter((socket) => socket.writable && socket.writableLength === 0);
      for (const socket of ready) send(socket, '[');
      target.count(ready.length);
      if (ready.length === 0) await pause(1, signal);
    });
  },
};

/** `begin`, then one byte every `everyMs` on each connection; a connection that was ended is opened again. */
function slowHeads(name: string, everyMs: number): Attack {
  const begin = `GET /api/status HTTP/1.1\r\n${HOST}X-Slow: `;
  return {
    name,
    unit: 'bytes',
    seconds: SLOW_HEAD_SECONDS + 10,
    run: async (target, _random, signal) => {
      const sockets: net.Socket[] = [];
      const open = async () => {
        const socket = await target.connect();
        target.expect(socket, SLOW_HEAD_SECONDS);
        send(socket, begin);
        sockets.push(socket);
      };
      await Promise.all(Array.from({ length: SLOW_CONNECTIONS }, open));
      await atRate(1000 / everyMs, signal, async () => {
        const live = sockets.filter(isWritable);
        for (const socket of live) send(socket, 'x');
        target.count(live.length);
        sockets.splice(0, sockets.length, ...live);
        await Promise.all(Array.from({ length: SLOW_CONNECTIONS - live.length }, open));
      });
    },
  };
}

/** The body is read where its request is admitted. */
const CUT = /: connection cut, the body arrived in/;
/** Just below the 16 KiB that the line of a chunk could have. */
const EXTENSION = `1;${'x'.repeat(16_000)}\r\nx\r\n`;

export const ENDLESS: readonly Attack[] = [
  chunks('a power command', ({ machine }) => `${machine}/pw/sleep`, CUT),
  chunks('the media', ({ machine }) => `${machine}/media/control`, CUT),
  chunks('/api/status', () => '/api/status'),
  chunks('nowhere', () => '/nowhere'),
  manyChunks('chunks of a byte without an end, 16 connections', 16),
  manyChunks('chunks of a byte without an end, from a blocked address', 1, true),
  manyChunks('chunks of a byte without an end, from blocked addresses, 16 connections', 16, true),
  SLOW_CHUNKS,
  endless({
    name: 'chunk extensions of 16 KB without an end',
    unit: 'chunks',
    connections: 16,
    head: ({ place: { machine } }) => post(`${machine}/media/control`, CHUNKED),
    piece: EXTENSION,
  }),
  endless({
    name: 'trailers without an end',
    unit: 'lines',
    connections: 16,
    head: ({ place: { machine } }) => `${post(`${machine}/media/control`, CHUNKED)}1\r\nx\r\n0\r\n`,
    piece: 'A: b\r\n',
  }),
  endless({
    name: 'bodies of 99 GB',
    unit: 'KB',
    connections: 16,
    head: ({ place: { machine } }) => post(`${machine}/media/control`, 'Content-Length: 99000000000'),
    piece: '['.repeat(1000),
  }),
  SEGMENTS,
  slowHeads('heads of a byte per second, held', 1000),
  slowHeads('heads of a byte per 100 ms, held', 100),
];
