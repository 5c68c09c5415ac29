/** Many event streams and WebSockets of one key: when each ended, and the samples that each received. */
import { EventStream } from './event-stream.ts';
import { SocketClient } from './socket.ts';

/** The connections that are being opened at a time. */
const BATCH = 50;
const STATS = 'system_stats';

/** A stream or a WebSocket that is sent every sample. */
export interface Viewer {
  readonly isClosed: () => boolean;
  /** Waits for its end; resolves with the moment of `performance.now()`. */
  readonly ended: () => Promise<number>;
  /** The samples so far, each as it was sent. */
  readonly samples: () => readonly string[];
  readonly close: () => void;
}

async function openStream(port: number, headers: Readonly<Record<string, string>>): Promise<Viewer> {
  const stream = await EventStream.open(port, '/api/stream', headers);
  await stream.next();
  return {
    isClosed: () => stream.connection.isClosed,
    ended: async () => {
      await stream.connection.closed();
      return performance.now();
    },
    samples: () => {
      stream.count();
      return stream.events.map(({ text }) => text);
    },
    close: () => stream.close(),
  };
}

async function openSocket(port: number, headers: Readonly<Record<string, string>>): Promise<Viewer> {
  const socket = await SocketClient.open(port, { headers });
  socket.say('subscribe', { topics: ['stats'] });
  await socket.take(STATS);
  return {
    isClosed: () => socket.isClosed,
    ended: async () => (await socket.closed).atMs,
    samples: () => socket.told.filter(({ type }) => type === STATS).map(({ text }) => text),
    close: () => socket.cut(),
  };
}

export interface Viewers {
  readonly streams: readonly Viewer[];
  readonly sockets: readonly Viewer[];
  readonly all: readonly Viewer[];
}

/** Opens `count` streams and as many WebSockets, alternating; each has received a sample. */
export async function openViewers(
  port: number,
  headers: Readonly<Record<string, string>>,
  count: number,
): Promise<Viewers> {
  const streams: Viewer[] = [];
  const sockets: Viewer[] = [];
  while (streams.length < count) {
    const pairs = Array.from(
      { length: Math.min(BATCH / 2, count - streams.length) },
      async () => [await openStream(port, headers), await openSocket(port, headers)] as const,
    );
    for (const [stream, socket] of await Promise.all(pairs)) {
      streams.push(stream);
      sockets.push(socket);
    }
  }
  return { streams, sockets, all: [...streams, ...sockets] };
}
