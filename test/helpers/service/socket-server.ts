/** The WebSocket half of the service inside this process: no machine, samples of any size at any time. */
import './dead-buses.ts';
import type { Test } from 'tap';
import type { Caller } from '#src/access/caller.js';
import { systemClock } from '#src/clock.js';
import type { Command } from '#src/commands/command.js';
import { EventBook } from '#src/history/event-book.js';
import { logEvents } from '#src/history/event-log.js';
import { HistoryQueries } from '#src/history/queries.js';
import type { Exchange } from '#src/http/engine.js';
import { Listeners } from '#src/listeners.js';
import { createLog } from '#src/log/log.js';
import { Commands } from '#src/machine/commands.js';
import { LocalMachine } from '#src/machine/local.js';
import type { SampleSink } from '#src/stats/source.js';
import type { View } from '#src/stats/view.js';
import type { SocketsOptions } from '#src/viewers/socket/sockets.js';
import { noMutes } from '../../history/setup.ts';
import { FakeConfig } from '../fakes/config.ts';
import { encodedOf } from '../fakes/encoded.ts';
import { FakeHistory } from '../fakes/history.ts';
import { callerAt } from '../fakes/sender.ts';
import { createEngine } from './engine.ts';

export interface SocketServerOptions {
  /** Bytes of each sample with detail. */
  readonly sampleBytes?: number;
  /** Resolves with the answer to `media` with the action `stop`. */
  readonly run?: () => Promise<string>;
  readonly onPublish?: (topic: string) => void;
  /** The client of each socket, by the path's query. */
  readonly callerOf?: (query: string) => Caller;
  /** Notified of the sessions that hold up a sleep. */
  readonly inhibitor?: SocketsOptions['inhibitor'];
}

/** Ends with the test. */
export async function serveSockets(t: Test, options: SocketServerOptions = {}) {
  const { Sockets } = await import('#src/viewers/socket/sockets.js');
  const log: string[] = [];
  const config = new FakeConfig();
  const sinks = new Map<SampleSink, View | undefined>();
  let number = 1;
  let title = '';
  let newest = encodedOf(number, options.sampleBytes);
  const sampler = {
    intervalMs: 1000,
    nextTickInMs: 1000,
    attach(sink: SampleSink) {
      sinks.set(sink, sink.view);
      return () => void sinks.delete(sink);
    },
    peek: () => newest,
    latest: async () => newest,
  };
  const rows: readonly Command[] = [
    {
      name: 'media.stop',
      prepare: () => async () => ({ result: { message: (await options.run?.()) ?? 'Done' } }),
    },
  ];
  const mediaChanges = new Listeners();
  const history = new FakeHistory();
  const clock = systemClock(() => performance.now());
  const events = new EventBook({ mutes: noMutes(), unixMs: Date.now });
  logEvents({ history, config, machine: 'pc', book: events });
  const server = await createEngine({
    headersRead: new Set(),
    socketPaths: ['/api/ws'],
    onRequest: (exchange) => {
      const { remoteAddress = '', query } = exchange.head;
      sockets.open(exchange, options.callerOf?.(query) ?? callerAt(remoteAddress), machine);
    },
  });
  const machine = new LocalMachine({
    config,
    sampler,
    commands: new Commands(rows, config),
    media: {
      status: async () => ({ status: 'active', title, artist: '' }),
      art: async () => undefined,
      onChange: (listener) => mediaChanges.add(listener),
    },
    power: {
      status: async () => ({ actions: {}, pending: null, inhibitors: [], recorded: [] }) as never,
      onChange: () => () => undefined,
      onFeedback: () => undefined,
    },
    processes: undefined,
    history: new HistoryQueries({ history, clock, unixMs: Date.now }),
    events,
    readSystem: () => Promise.reject(new Error('not asked here')),
  });
  const sockets = new Sockets({
    version: '0',
    role: 'hostwire',
    ...(options.inhibitor === undefined ? {} : { inhibitor: options.inhibitor }),
    features: () => config.current.features,
    find: () => machine,
    ends: machine.ends,
    intervalMs: () => sampler.intervalMs,
    clock,
    gate: { hears: () => true, noteRefusal: () => undefined },
    log: createLog((line) => log.push(line)),
    server: {
      publish: (topic, bytes) => {
        options.onPublish?.(topic);
        server.publish(topic, bytes);
      },
    },
  });
  const port = await server.listen('127.0.0.1', 0);
  t.teardown(() => {
    sockets.close('the test is over');
    server.close();
  });
  return {
    port,
    server,
    sockets,
    machine,
    open: (exchange: Exchange, caller: Caller) => sockets.open(exchange, caller, machine),
    log,
    history,
    /** The views that are wanted. */
    views: () => [...sinks.values()],
    /** Changes the title of the current track, which is sent. */
    setTitle: (next: string) => {
      title = next;
      mediaChanges.notify();
    },
    /** Sends a sample; returns its number. */
    publish: () => {
      newest = encodedOf(++number, options.sampleBytes);
      for (const sink of sinks.keys()) sink.publish(newest);
      return number;
    },
  };
}
