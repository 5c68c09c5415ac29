/** Hostile machines that a hub connects to. Its honest viewers watch all machines, so it asks each for its stream. */
import { once } from 'node:events';
import net from 'node:net';
import { type Attack, atRate, pause, send, type Target } from '../target.ts';

/** From one attempt of the hub to the next it takes up to 4 s. */
const SECONDS = 16;
/** At full speed a limit of bytes or of pieces is reached within a moment; a hub may look once per second. */
const FAST_SECONDS = 6;
/** For a head the hub waits 5 s. */
const HEAD_SECONDS = 12;

const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n';

const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

function answerCheck(socket: net.Socket, isHead: boolean): void {
  const body = isHead ? '' : '{"hostname":"hostile"}';
  const type = isHead ? 'text/event-stream' : 'application/json';
  const clock = `X-Hostwire-Clock: abc ${Math.floor(performance.now())}`;
  send(
    socket,
    `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n${clock}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
}

interface Play {
  /** The answer to the request for the stream, until the connection ends. */
  readonly stream: (socket: net.Socket, target: Target, signal: AbortSignal) => Promise<unknown>;
  /** The hub has to end the stream within this time. */
  readonly endSeconds?: number;
  /** Checks are answered in the same way. */
  readonly isAlways?: true;
}

/** Plays the hostile machine of this lane for as long as the attack lasts. */
function hostile(name: string, unit: string, play: Play): Attack {
  const serve = (socket: net.Socket, target: Target, signal: AbortSignal): void => {
    const forget = target.keep(() => socket.destroy());
    socket.on('error', () => undefined).once('close', forget);
    socket.setNoDelay(true);
    const take = (bytes: Buffer): void => {
      const request = bytes.toString('latin1');
      const isStream = request.startsWith('GET /api/stream');
      if (!isStream && play.isAlways !== true) {
        answerCheck(socket, request.startsWith('HEAD'));
        return;
      }
      socket.off('data', take);
      if (play.endSeconds !== undefined) target.expect(socket, play.endSeconds);
      else socket.resume();
      void play.stream(socket, target, signal);
    };
    socket.on('data', take);
  };
  return {
    name,
    unit,
    seconds: SECONDS,
    needs: 'hub',
    run: async (target, _random, signal) => {
      const { host, port } = target.hub.pulled[target.lane] ?? { host: '', port: 0 };
      const server = net.createServer((socket) => serve(socket, target, signal));
      target.keep(() => server.close());
      server.listen(port, host);
      await once(server, 'listening');
      await atRate(1, signal, () => undefined);
    },
  };
}

const BLOCK_BYTES = 64 * 1024;
const blockOf = (piece: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: Math.ceil(BLOCK_BYTES / piece.length) }, () => piece));

/** `head`, then `piece` for ever, as fast as the hub reads it. */
function pouring(head: string, piece: string | Buffer): Play['stream'] {
  const bytes = Buffer.from(piece);
  const block = blockOf(bytes);
  return async (socket, target, signal) => {
    send(socket, head);
    target.count((await target.pour(socket, block, signal)) * (block.length / bytes.length));
  };
}

/** `head`, then one byte every `everyMs`. */
function trickling(head: string, bytes: string, everyMs: number): Play['stream'] {
  return async (socket, target, signal) => {
    send(socket, head);
    for (let at = 0; !signal.aborted && socket.writable; at++) {
      send(socket, bytes.charAt(at % bytes.length));
      target.count();
      await pause(everyMs, signal);
    }
  };
}

/** An event per `everyMs`, as an honest machine sends them. */
function sampling(make: (number: number) => Buffer, everyMs: number): Play['stream'] {
  return async (socket, target, signal) => {
    send(socket, STREAM_HEAD);
    for (let number = 1; !signal.aborted && socket.writable; number++) {
      socket.write(chunk(make(number)));
      target.count();
      await pause(everyMs, signal);
    }
  };
}

const member = {
  cpu: '"cpu":{"current_load":1,"current_temp":51.2,"current_speed":3.4}',
  memory: '"memory":{"used":1154760704,"free":24121266176,"used_percent":4.6}',
  gpu: '"gpu":null',
  disks: '"disks":[{"fs":"/","used":1,"available":1,"used_percent":50}]',
  network: '"network":{"bytesRecv":1,"bytesSent":1}',
};

/** A sample with other members in the place of some. */
const sample = (members: Partial<typeof member>, more = ''): string => {
  const all = Object.values({ ...member, ...members }).join(',');
  return `data: {"timestamp":${Math.floor(Date.now() / 1000)},"uptime":2311,${all}${more}}\n\n`;
};

const WRONG: readonly Partial<typeof member>[] = [
  { disks: '"disks":null' },
  { cpu: '"cpu":null' },
  { memory: '"memory":[]' },
  { network: '"network":"none"' },
  { disks: '"disks":[null]' },
  { cpu: '"cpu":{"current_load":"1"}' },
  { disks: '"disks":[{"fs":1}]' },
  { memory: '"memory":{}' },
];

/** Bytes that are no UTF-8: alone, in a pair of halves, and a surrogate. */
const NO_UTF8 = ['ff', 'c3', 'c328', 'eda080', 'f4908080'].map((hex) => Buffer.from(hex, 'hex'));

function badText(number: number): Buffer {
  const [before = '', after = ''] = sample({
    disks: '"disks":[{"fs":"@","used":1,"available":1,"used_percent":50}]',
  }).split('@');
  return Buffer.concat([
    Buffer.from(before),
    NO_UTF8[number % NO_UTF8.length] ?? NO_UTF8[0] ?? Buffer.of(255),
    Buffer.from(after),
  ]);
}

/** Just below the longest event that a hub takes. */
const LONG_BYTES = 2 ** 20 - 1024;

export const HUB_PULLED: readonly Attack[] = [
  hostile('pulled machines whose heads never end', 'lines', {
    stream: pouring('HTTP/1.1 200 OK\r\n', 'X-Line: y\r\n'),
    endSeconds: FAST_SECONDS,
    isAlways: true,
  }),
  hostile('pulled machines whose heads have a byte per 100 ms', 'bytes', {
    stream: trickling('HTTP/1.1 200 OK\r\nX-Slow: ', 'x', 100),
    endSeconds: HEAD_SECONDS,
    isAlways: true,
  }),
  hostile('pulled machines whose headers are runs of blanks', 'answers', {
    stream: async (socket, target) => {
      send(socket, `HTTP/1.1 200 OK\r\na:${' '.repeat(16_300)}\x01\r\n\r\n`);
      target.count();
    },
    endSeconds: FAST_SECONDS,
    isAlways: true,
  }),
  hostile('pulled machines that send chunks of a byte without an end', 'chunks', {
    stream: pouring(`${STREAM_HEAD}7\r\ndata: {\r\n`, '1\r\nx\r\n'),
    endSeconds: FAST_SECONDS,
  }),
  hostile('pulled machines that send tiny events without an end', 'events', {
    stream: pouring(STREAM_HEAD, chunk(Buffer.from('data: {}\n\n'))),
    endSeconds: FAST_SECONDS,
  }),
  hostile('pulled machines that send samples at full speed', 'events', {
    stream: pouring(STREAM_HEAD, chunk(Buffer.from(sample({})))),
    endSeconds: FAST_SECONDS,
  }),
  hostile('pulled machines that send comments without an end', 'comments', {
    stream: pouring(STREAM_HEAD, chunk(Buffer.from(':\n\n'))),
    endSeconds: FAST_SECONDS,
  }),
  hostile('pulled machines that send samples of 1 MiB', 'events', {
    stream: sampling(() => Buffer.from(sample({}, `,"x":"${'x'.repeat(LONG_BYTES)}"`)), 1000),
  }),
  hostile('pulled machines that send a line of 1 MiB and nothing after it', 'lines', {
    stream: async (socket, target, signal) => {
      send(socket, `${STREAM_HEAD}${LONG_BYTES.toString(16)}\r\n`);
      await target.pour(socket, Buffer.from(`data: {${'x'.repeat(LONG_BYTES - 7)}`), signal);
      target.count();
    },
  }),
  hostile('pulled machines whose samples have sections of wrong types', 'samples', {
    stream: sampling((number) => Buffer.from(sample(WRONG[number % WRONG.length] ?? {})), 200),
  }),
  hostile('pulled machines whose samples are no UTF-8', 'samples', {
    stream: sampling(badText, 200),
  }),
];
