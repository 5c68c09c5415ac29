/** Hostile machines that a hub connects to. Its honest viewers watch all machines, so it wants samples of each. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { frameBytes, OPCODES } from '../../http/socket-frames.ts';
import { greetingOf } from '../dialler.ts';
import { type Attack, atRate, pause, send, type Target } from '../target.ts';
import { type Members, NO_UTF8, sampleBytes, WRONG } from './hub-samples.ts';
import { Block } from './shapes.ts';

/** From one attempt of the hub to the next it takes up to 4 s. */
const SECONDS = 16;
/** At full speed a limit of bytes or of messages is reached within a moment; a hub may look once per second. */
const FAST_SECONDS = 6;
/** For the answer to its upgrade the hub waits 5 s. */
const HEAD_SECONDS = 12;

const frame = (opcode: number, payload: Buffer | string, isPart = false): Buffer =>
  frameBytes({ opcode, payload: Buffer.from(payload), isPart, isUnmasked: true });
const message = (type: string, data: Buffer | string): Buffer =>
  frame(
    OPCODES.text,
    Buffer.concat([Buffer.from(`{"type":"${type}","id":1,"data":`), Buffer.from(data), Buffer.from('}')]),
  );

/** Agrees to the upgrade, as the service of a machine. */
function enter(socket: net.Socket, request: string): void {
  const key = /sec-websocket-key: (\S+)/i.exec(request)?.[1] ?? '';
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n';
  send(socket, `${head}Sec-WebSocket-Accept: ${accept}\r\n\r\n`);
  send(socket, message('connected', greetingOf('r')));
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

/** `head`, then `piece` for ever, as fast as the hub reads it. */
function pouring(head: string, piece: string | Buffer): Play['say'] {
  const block = new Block(piece);
  return async (socket, target, signal) => {
    send(socket, head);
    await block.pour(socket, target, signal);
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
      socket.write(message('system_stats', make(number)));
      target.count();
      await pause(everyMs, signal);
    }
  };
}

const sample = (wrong?: Members, more?: string) => sampleBytes(wrong, more);

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
    say: pouring('', message('x', '{}')),
    endSeconds: FAST_SECONDS,
  }),
  hostile('connected machines that send samples at full speed', 'samples', {
    say: pouring('', message('system_stats', sample())),
    endSeconds: FAST_SECONDS,
  }),
  hostile('connected machines that answer what nobody asked', 'answers', {
    say: pouring('', message('answer', '{"body":{}}')),
    endSeconds: FAST_SECONDS,
  }),
  hostile('connected machines that never read, and send states', 'messages', {
    say: async (socket, target, signal) => {
      socket.pause();
      for (; !signal.aborted && socket.writable; await pause(50, signal)) {
        socket.write(message('media_update', '{"status":"stopped","title":"","artist":""}'));
        target.count();
      }
    },
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
    say: sampling(() => sample(undefined, `,"x":"${'x'.repeat(LONG_BYTES)}"`), 1000),
  }),
  hostile('connected machines that send a message of 1 MiB and never end it', 'messages', {
    say: async (socket, target) => {
      const whole = message('system_stats', Buffer.alloc(LONG_BYTES, 'x'));
      send(socket, whole.subarray(0, whole.length - 1));
      target.count();
    },
  }),
  hostile('connected machines whose samples have sections of wrong types', 'samples', {
    say: sampling((number) => sample(WRONG[number % WRONG.length]), 200),
  }),
  hostile('connected machines whose samples are not UTF-8', 'samples', {
    say: sampling((number) => sample(NO_UTF8[number % NO_UTF8.length]), 200),
  }),
];
