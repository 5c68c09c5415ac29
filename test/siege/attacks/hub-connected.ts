/** Hostile machines that a hub connects to. Its honest viewers watch all machines, so it wants samples of each. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { frameBytes, OPCODES } from '../../http/socket-frames.ts';
import { type Attack, atRate, pause, send, type Target } from '../target.ts';

/** From one attempt of the hub to the next it takes up to 4 s. */
const SECONDS = 16;
/** At full speed a limit of bytes or of messages is reached within a moment; a hub may look once per second. */
const FAST_SECONDS = 6;
/** For the answer to its upgrade the hub waits 5 s. */
const HEAD_SECONDS = 12;

const frame = (opcode: number, payload: Buffer | string, isPart = false): Buffer =>
  frameBytes({ opcode, payload: Buffer.from(payload), isPart, isUnmasked: true });
const message = (topic: string, payload: Buffer | string): Buffer =>
  frame(OPCODES.text, Buffer.concat([Buffer.from(`${topic}\n`), Buffer.from(payload)]));

/** Agrees to the upgrade, as the service of a machine. */
function enter(socket: net.Socket, request: string): void {
  const key = /sec-websocket-key: (\S+)/i.exec(request)?.[1] ?? '';
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n';
  send(socket, `${head}Sec-WebSocket-Accept: ${accept}\r\n\r\n`);
  send(socket, message('status', '{"state":"online","run":"r","name":"hostile"}'));
}

interface Play {
  /** Sends its messages, until the connection ends. */
  readonly say: (socket: net.Socket, target: Target, signal: AbortSignal) => Promise<unknown>;
  /** The hub has to end the connection within this time. */
  readonly endSeconds?: number;
  /** The upgrade itself is answered with it. */
  readonly isAnswer?: true;
}

/** Plays the hostile machine of this worker for as long as the attack lasts. */
function hostile(name: string, unit: string, play: Play): Attack {
  const serve = (socket: net.Socket, target: Target, signal: AbortSignal): void => {
    const forget = target.keep(() => socket.destroy());
    socket.on('error', () => undefined).once('close', forget);
    socket.setNoDelay(true);
    socket.once('data', (bytes: Buffer) => {
      if (play.isAnswer !== true) enter(socket, bytes.toString('latin1'));
      if (play.endSeconds !== undefined) target.expect(socket, play.endSeconds);
      else socket.resume();
      void play.say(socket, target, signal);
    });
  };
  return {
    name,
    unit,
    seconds: SECONDS,
    needs: 'hub',
    run: async (target, _random, signal) => {
      const { host, port } = target.hub.connected[target.worker] ?? { host: '', port: 0 };
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
function pouring(head: string, piece: string | Buffer): Play['say'] {
  const bytes = Buffer.from(piece);
  const block = blockOf(bytes);
  return async (socket, target, signal) => {
    send(socket, head);
    target.count((await target.pour(socket, block, signal)) * (block.length / bytes.length));
  };
}

/** `head`, then one byte every `everyMs`. */
function trickling(head: string, bytes: string, everyMs: number): Play['say'] {
  return async (socket, target, signal) => {
    send(socket, head);
    for (let at = 0; !signal.aborted && socket.writable; at++) {
      send(socket, bytes.charAt(at % bytes.length));
      target.count();
      await pause(everyMs, signal);
    }
  };
}

/** A sample per `everyMs`, as an honest machine sends them. */
function sampling(make: (number: number) => Buffer, everyMs: number): Play['say'] {
  return async (socket, target, signal) => {
    for (let number = 1; !signal.aborted && socket.writable; number++) {
      socket.write(message('sample', make(number)));
      target.count();
      await pause(everyMs, signal);
    }
  };
}

const LINES = {
  cpu: '"cpu":{"current_load":1,"current_temp":51.2,"current_speed":3.4}',
  memory: '"memory":{"used":1154760704,"free":24121266176,"used_percent":4.6}',
  gpu: '"gpu":null',
  disks: '"disks":[{"fs":"/","used":1,"available":1,"used_percent":50}]',
  network: '"network":{"bytesRecv":1,"bytesSent":1}',
};

/** A sample with other lines in the place of some. */
function sample(wrong: Partial<Record<keyof typeof LINES, string | Buffer>>, more = ''): Buffer {
  const head = { v: 1, run: 'r', clock: Math.floor(performance.now()), n: 0, plain: Object.keys(LINES) };
  const begin = `${JSON.stringify(head)}\n"timestamp":${Math.floor(Date.now() / 1000)},"uptime":2311${more}`;
  const lines = Object.values({ ...LINES, ...wrong }).flatMap((line) => [
    Buffer.from('\n'),
    Buffer.from(line),
  ]);
  return Buffer.concat([Buffer.from(begin), ...lines]);
}

const WRONG: readonly Partial<typeof LINES>[] = [
  { disks: '"disks":null' },
  { cpu: '"cpu":null' },
  { memory: '"memory":[]' },
  { network: '"network":"none"' },
  { disks: '"disks":[null]' },
  { cpu: '"cpu":{"current_load":"1"}' },
  { disks: '"disks":[{"x":1', gpu: '"gpu":2}]' },
  { memory: '"memory":{}' },
];

/** Bytes that are not UTF-8: alone, in a pair of halves, and a surrogate. */
const NO_UTF8 = ['ff', 'c3', 'c328', 'eda080', 'f4908080'].map((hex) => Buffer.from(hex, 'hex'));

const badText = (number: number): Buffer =>
  sample({
    disks: Buffer.concat([
      Buffer.from('"disks":[{"fs":"'),
      NO_UTF8[number % NO_UTF8.length] ?? Buffer.of(255),
      Buffer.from('"}]'),
    ]),
  });

/** Just below the longest message that a hub takes. */
const LONG_BYTES = 2 ** 20 - 1024;

export const HUB_CONNECTED: readonly Attack[] = [
  hostile('machines whose answers to the hub never end', 'lines', {
    say: pouring('HTTP/1.1 200 OK\r\n', 'X-Line: y\r\n'),
    endSeconds: FAST_SECONDS,
    isAnswer: true,
  }),
  hostile('machines whose answers to the hub have a byte per 100 ms', 'bytes', {
    say: trickling('HTTP/1.1 200 OK\r\nX-Slow: ', 'x', 100),
    endSeconds: HEAD_SECONDS,
    isAnswer: true,
  }),
  hostile('connected machines that send tiny messages without an end', 'messages', {
    say: pouring('', message('x', '')),
    endSeconds: FAST_SECONDS,
  }),
  hostile('connected machines that send samples at full speed', 'samples', {
    say: pouring('', message('sample', sample({}))),
    endSeconds: FAST_SECONDS,
  }),
  hostile('connected machines that send pings without an end', 'frames', {
    say: pouring('', frame(OPCODES.ping, '')),
    endSeconds: FAST_SECONDS,
  }),
  hostile('connected machines that send parts of a byte without an end', 'frames', {
    say: pouring('', frame(OPCODES.continuation, 'x', true)),
    endSeconds: FAST_SECONDS,
  }),
  hostile('connected machines that send samples of 1 MiB', 'samples', {
    say: sampling(() => sample({}, `,"x":"${'x'.repeat(LONG_BYTES)}"`), 1000),
  }),
  hostile('connected machines that send a message of 1 MiB and never end it', 'messages', {
    say: async (socket, target) => {
      const whole = message('sample', Buffer.alloc(LONG_BYTES, 'x'));
      send(socket, whole.subarray(0, whole.length - 1));
      target.count();
    },
  }),
  hostile('connected machines whose samples have sections of wrong types', 'samples', {
    say: sampling((number) => sample(WRONG[number % WRONG.length] ?? {}), 200),
  }),
  hostile('connected machines whose samples are not UTF-8', 'samples', { say: sampling(badText, 200) }),
];
