/** The servers that the fan-out bench compares, and the sink that subscribes to them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import type { EngineName } from '#src/engines.js';
import { startNginx } from './nginx.ts';
import { BUILD, ROOT } from './report.ts';
import { startService, stopChild } from './service-subject.ts';

/** hostwire on either engine; the native writer sends by one of two methods. */
export type ServiceName = `${EngineName}, ${'send' | 'io_uring'}`;

export type SubjectName = 'floor' | ServiceName | 'nginx-nchan' | 'node-http';

export interface Server {
  readonly pid: number;
  readonly port: number;
  /** Without this function the process is stopped by SIGSTOP only. */
  setPaused?(isPaused: boolean): void;
  stop(): Promise<void>;
}

/** The sink's counts for a window. */
export interface Window {
  readonly open: number;
  readonly events: number;
  readonly bytes: number;
  readonly torn: number;
  readonly doubled: number;
  /** Events that another subscriber of the same sink received and one did not. */
  readonly missed: number;
  /** Events that arrived after a newer one. */
  readonly backwards: number;
  /** Events that only one subscriber received: torn ones, unless subscribers skip events. */
  readonly alone: number;
  readonly lost: number;
  /** Streams that ended with their last chunk, and connections that closed within an event. */
  readonly ended: number;
  readonly cutShort: number;
  readonly fewest: number;
  readonly most: number;
  /** From the first subscriber's event to the last one's, median of the ticks. */
  readonly spreadMs: number;
}

export const EVENT_FILE = path.join(BUILD, 'event');

/** Compiles bench/native/NAME.c; returns the path of the program. */
export function compile(name: string): string {
  mkdirSync(BUILD, { recursive: true });
  const program = path.join(BUILD, name);
  const source = path.join(ROOT, `bench/native/${name}.c`);
  const result = spawnSync('gcc', ['-O2', '-Wall', '-Wextra', '-D_GNU_SOURCE', '-o', program, source], {
    encoding: 'utf8',
  });
  if (result.status !== 0)
    throw new Error(`gcc failed on ${source}: ${result.stderr ?? result.error?.message}`);
  return program;
}

/** A program that prints the port it listens on. */
export async function startProgram(command: string, args: readonly string[]): Promise<Server> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const port = await new Promise<number>((resolve, reject) => {
    lines.once('line', (line) => resolve(Number(line)));
    child.once('exit', (code) => reject(new Error(`${command} ended with ${code}`)));
  });
  return { pid: child.pid ?? 0, port, stop: () => stopChild(child) };
}

/** `nodeArgs`: options of the service's Node. */
async function startHostwire(name: ServiceName, nodeArgs: readonly string[]): Promise<Server> {
  const node = [process.execPath, ...nodeArgs] as const;
  const service = await startService(1, {
    engine: name.startsWith('uws') ? 'uws' : 'node',
    // Where there is io_uring the writer uses it.
    command: name.endsWith('send') ? [compile('without_io_uring'), ...node] : node,
  });
  return { pid: service.child.pid ?? 0, port: service.port, stop: () => service.stop() };
}

/** Throws when a service that has streams does not send them by the method of its name. */
export function checkMethod(name: SubjectName, pid: number): void {
  const folder = `/proc/${pid}/fd`;
  const hasRing = readdirSync(folder).some(
    (fd) => readlinkSync(`${folder}/${fd}`) === 'anon_inode:[io_uring]',
  );
  if (hasRing !== name.endsWith('io_uring')) throw new Error(`"${name}" does not send as it should`);
}

export async function startSubject(name: SubjectName, nodeArgs: readonly string[] = []): Promise<Server> {
  if (name === 'floor') return await startProgram(compile('floor'), [EVENT_FILE]);
  if (name === 'nginx-nchan') return await startNginx(EVENT_FILE);
  if (name === 'node-http')
    return await startProgram(process.execPath, [
      path.join(ROOT, 'build/ts/bench/anchors/node-http.js'),
      EVENT_FILE,
    ]);
  return await startHostwire(name, nodeArgs);
}

/** Records one event of the service on uWebSockets.js, with its chunk framing, for the others to send. Returns its length in bytes. */
export async function recordEvent(): Promise<number> {
  const service = await startService(1, { engine: 'uws' });
  const socket = net.connect(service.port, '127.0.0.1');
  socket.write('GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
  let text = '';
  for await (const part of socket) {
    text += String(part);
    // The head, the first event, and the whole second one have arrived.
    const second = text.split(/\r\n(?=[0-9a-f]+\r\ndata: )/)[2];
    if (second?.endsWith('\n\n\r\n') !== true) continue;
    mkdirSync(BUILD, { recursive: true });
    writeFileSync(EVENT_FILE, second);
    socket.destroy();
    await service.stop();
    return second.length;
  }
  throw new Error('the service sent no event');
}

/** The location of the subscribers: the service's address for them, and how to start a program with pipes there. */
export interface SinkPlace {
  readonly address: string;
  readonly spawn: (command: string, ...args: readonly string[]) => ChildProcess;
}

const HERE: SinkPlace = {
  address: '127.0.0.1',
  spawn: (command, ...args) => spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] }),
};

export class Sink {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  /** `receiveBytes`: the receive buffer of each subscriber; default: the kernel's. */
  constructor(port: number, target = '/api/stream', receiveBytes = 0, place: SinkPlace = HERE) {
    const child = place.spawn(compile('sink'), String(port), target, String(receiveBytes), place.address);
    if (child.stdout === null) throw new Error('the sink has no pipes');
    this.#child = child;
    this.#answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  async #ask<T>(command: string): Promise<T> {
    this.#child.stdin?.write(`${command}\n`);
    const { value } = await this.#answers.next();
    // bench/native/sink.c answers each command with an object of a known shape.
    return JSON.parse(String(value)) as T;
  }

  /** Opens subscribers until there are `count`. Throws when some cannot be opened. */
  async open(count: number): Promise<void> {
    const { open, waiting } = await this.#ask<{ open: number; waiting: number }>(`open ${count}`);
    if (open !== count || waiting > 0)
      throw new Error(`${open} of ${count} subscribers are open, ${waiting} wait`);
  }

  async close(count: number): Promise<void> {
    await this.#ask(`close ${count}`);
  }

  async stall(count: number): Promise<void> {
    await this.#ask(`stall ${count}`);
  }

  async window(seconds: number): Promise<Window> {
    return await this.#ask<Window>(`window ${seconds}`);
  }

  async stop(): Promise<void> {
    await stopChild(this.#child);
  }
}
