/**
 * The honest clients of the siege, in a process of their own: 20 streams and 10 WebSockets, each of which must get every
 * sample in time, and a prober of /api/status. Reports once per second over its channel.
 */
import '../helpers/service/dead-buses.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { requestBytes } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import type { Place } from './target.ts';
import { Timetable } from './timetable.ts';

export const STREAMS = 20;
export const SOCKETS = 10;
export const INTERVAL_MS = 1000;
const PROBE_MS = 100;
/** A probe that takes longer counts as unanswered. */
const PROBE_LIMIT_MS = 15_000;
/** Some subscribers ask for other views. */
const QUERIES = ['', '', '', '?detail=1', '?fields=cpu,memory'];

/** What the honest clients saw since the last report. */
export interface Report {
  /** The greatest lateness of an event. */
  readonly lateMs: number;
  readonly statusMs: readonly number[];
  /** The longest time for which this process's own event loop was held up, which counts as lateness above. */
  readonly ownDelayMs: number;
  /** Since the start. */
  readonly events: number;
  readonly missing: number;
  /** Connections that were closed and probes without their answer: none is allowed. */
  readonly faults: readonly string[];
}

export class Witness {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, onReport: (report: Report) => void) {
    this.#child = child;
    // The process sends reports alone.
    child.on('message', (report) => onReport(report as Report));
  }

  static start(place: Place, onReport: (report: Report) => void): Witness {
    const child = fork(fileURLToPath(import.meta.url), ['watch', JSON.stringify(place)], { execArgv: [] });
    return new Witness(child, onReport);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

const now = () => Number(process.hrtime.bigint()) / 1e6;

class Watch {
  readonly #place: Place;
  readonly #timetable = new Timetable(INTERVAL_MS);
  readonly #delay = monitorEventLoopDelay({ resolution: 5 });
  readonly #kept = new http.Agent({ keepAlive: true, maxSockets: 1, localAddress: '127.0.0.9' });
  #lateMs = 0;
  #statusMs: number[] = [];
  #faults: string[] = [];

  constructor(place: Place) {
    this.#place = place;
    this.#delay.enable();
  }

  get #headers(): Readonly<Record<string, string>> {
    return this.#place.key === undefined ? {} : { Authorization: `Bearer ${this.#place.key}` };
  }

  /** The first event comes when a client joins, not at an interval. */
  #subscriber(index: number): () => void {
    let count = 0;
    return () => {
      if (++count > 1) this.#lateMs = Math.max(this.#lateMs, this.#timetable.arrive(index, now()));
    };
  }

  openStream(index: number): void {
    const onEvent = this.#subscriber(index);
    const localAddress = `127.0.0.${1 + (index % 8)}`;
    const socket = net.connect({ port: this.#place.port, host: '127.0.0.1', localAddress });
    socket.write(requestBytes(`/api/stream${QUERIES[index % QUERIES.length]}`, { headers: this.#headers }));
    let rest = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      const parts = (rest + text).split('data: {');
      for (let i = 1; i < parts.length; i++) onEvent();
      rest = (parts.at(-1) ?? '').slice(-6);
    });
    socket.on('error', (error) => this.#faults.push(`stream ${index}: ${error.message}`));
    socket.on('close', () => this.#faults.push(`stream ${index} was closed`));
  }

  async openSocket(index: number): Promise<void> {
    const onEvent = this.#subscriber(STREAMS + index);
    const from = `127.0.0.${1 + (index % 8)}`;
    const { ws } = await SocketClient.open(this.#place.port, { from, headers: this.#headers });
    // SocketClient would keep every message.
    ws.removeAllListeners('message');
    ws.on('message', (bytes: Buffer) => {
      if (bytes.toString('latin1', 0, 22) === '{"type":"system_stats"') onEvent();
    });
    ws.on('close', (code) => this.#faults.push(`socket ${index} was closed with ${code}`));
    ws.send(JSON.stringify({ op: 'subscribe', data: { topics: ['stats'] } }));
  }

  probe(agent: http.Agent | false): void {
    const sentAt = now();
    const { port } = this.#place;
    const options = { port, host: '127.0.0.1', path: '/api/status', agent, timeout: PROBE_LIMIT_MS };
    const request = http.get({ ...options, localAddress: '127.0.0.9' }, (response) => {
      response.resume();
      response.once('end', () => this.#statusMs.push(now() - sentAt));
      if (response.statusCode !== 200) this.#faults.push(`status answered with ${response.statusCode}`);
    });
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.on('error', (error) => this.#faults.push(`status: ${error.message}`));
  }

  probeBoth(): void {
    this.probe(false);
    this.probe(this.#kept);
  }

  takeReport(): Report {
    const report: Report = {
      lateMs: this.#lateMs,
      statusMs: this.#statusMs,
      ownDelayMs: this.#delay.max / 1e6,
      events: this.#timetable.events,
      missing: this.#timetable.missing(now()),
      faults: this.#faults,
    };
    this.#lateMs = 0;
    this.#statusMs = [];
    this.#faults = [];
    this.#delay.reset();
    return report;
  }
}

// This file is also the process.
if (process.argv[2] === 'watch') {
  process.once('disconnect', () => process.exit(0));
  // Witness.start passes it.
  const watch = new Watch(JSON.parse(process.argv[3] ?? '') as Place);
  for (let i = 0; i < STREAMS; i++) watch.openStream(i);
  await Promise.all(Array.from({ length: SOCKETS }, (_, i) => watch.openSocket(i)));
  setInterval(() => watch.probeBoth(), PROBE_MS);
  setInterval(() => process.send?.(watch.takeReport()), 1000);
}
