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
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { requestBytes } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { EventCounter } from './event-counter.ts';
import { HubWatch } from './hub-watch.ts';
import { FLEET, type SocketSubscription, type Subscription, socketsOf, streamsOf } from './subscriptions.ts';
import type { Place } from './target.ts';
import { KeepAlive, Timetable } from './timetable.ts';

export const INTERVAL_MS = 1000;
const PROBE_MS = 100;
/** A probe that takes longer counts as unanswered. */
const PROBE_LIMIT_MS = 15_000;
/** Between two that join a hub: the machines begin to send. */
const JOIN_PAUSE_MS = 50;

/** Observations of the honest clients since the last report. */
export interface Report {
  /** The greatest lateness of an event. */
  readonly lateMs: number;
  readonly statusMs: readonly number[];
  /** Times of commands and new filters, at a hub. */
  readonly actMs: readonly number[];
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
  /** By source: the machines of a hub have a phase each. */
  readonly #timetables = new Map<string, Timetable | KeepAlive>();
  readonly #delay = monitorEventLoopDelay({ resolution: 5 });
  readonly #kept = new http.Agent({ keepAlive: true, maxSockets: 1, localAddress: '127.0.0.9' });
  #subscribers = 0;
  #lateMs = 0;
  #statusMs: number[] = [];
  #actMs: number[] = [];
  #faults: string[] = [];

  constructor(place: Place) {
    this.#place = place;
    this.#delay.enable();
  }

  get #headers(): Readonly<Record<string, string>> {
    return this.#place.key === undefined ? {} : { Authorization: `Bearer ${this.#place.key}` };
  }

  /** The first event comes when a client joins, not at an interval. */
  #subscriber(source: string): () => void {
    const known = this.#timetables.get(source);
    const timetable = known ?? (source === FLEET ? new KeepAlive(INTERVAL_MS) : new Timetable(INTERVAL_MS));
    this.#timetables.set(source, timetable);
    const index = this.#subscribers++;
    let count = 0;
    return () => {
      if (++count > 1) this.#lateMs = Math.max(this.#lateMs, timetable.arrive(index, now()));
    };
  }

  openStream(index: number, { source, path }: Subscription): void {
    const onEvent = this.#subscriber(source);
    const localAddress = `127.0.0.${1 + (index % 8)}`;
    const socket = net.connect({ port: this.#place.port, host: '127.0.0.1', localAddress });
    socket.write(requestBytes(path, { headers: this.#headers }));
    const counter = new EventCounter();
    socket.on('data', (bytes: Buffer) => {
      for (let left = counter.take(bytes); left > 0; left--) onEvent();
    });
    socket.on('error', (error) => this.#faults.push(`stream ${index} of ${path}: ${error.message}`));
    socket.on('close', () => this.#faults.push(`stream ${index} of ${path} was closed`));
  }

  async openSocket(index: number, { source, path, message, begin }: SocketSubscription): Promise<void> {
    const onEvent = this.#subscriber(source);
    const from = `127.0.0.${1 + (index % 8)}`;
    const { ws } = await SocketClient.open(this.#place.port, { path, from, headers: this.#headers });
    // SocketClient would keep every message.
    ws.removeAllListeners('message');
    ws.on('message', (bytes: Buffer) => {
      if (bytes.toString('latin1', 0, begin.length) === begin) onEvent();
    });
    ws.on('close', (code) => this.#faults.push(`socket ${index} of ${path} was closed with ${code}`));
    ws.send(JSON.stringify(message));
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

  /** Begins what only clients of a hub do. */
  watchHub(): void {
    const { hub } = this.#place;
    if (hub === undefined) return;
    const onFault = (fault: string) => this.#faults.push(fault);
    new HubWatch(this.#place, hub, { onFault, onAct: (ms) => this.#actMs.push(ms) }).start();
  }

  takeReport(): Report {
    const timetables = [...this.#timetables.values()];
    const atMs = now();
    const report: Report = {
      lateMs: this.#lateMs,
      statusMs: this.#statusMs,
      actMs: this.#actMs,
      ownDelayMs: this.#delay.max / 1e6,
      events: timetables.reduce((sum, { events }) => sum + events, 0),
      missing: timetables.reduce((sum, each) => sum + each.missing(atMs), 0),
      faults: this.#faults,
    };
    this.#lateMs = 0;
    this.#statusMs = [];
    this.#actMs = [];
    this.#faults = [];
    this.#delay.reset();
    return report;
  }
}

// This file is also the process.
if (process.argv[2] === 'watch') {
  process.once('disconnect', () => process.exit(0));
  // Witness.start passes it.
  const place = JSON.parse(process.argv[3] ?? '') as Place;
  const watch = new Watch(place);
  for (const [index, stream] of streamsOf(place).entries()) {
    watch.openStream(index, stream);
    if (place.hub !== undefined) await sleep(JOIN_PAUSE_MS);
  }
  await Promise.all(socketsOf(place).map((socket, index) => watch.openSocket(index, socket)));
  watch.watchHub();
  setInterval(() => watch.probeBoth(), PROBE_MS);
  setInterval(() => process.send?.(watch.takeReport()), 1000);
}
