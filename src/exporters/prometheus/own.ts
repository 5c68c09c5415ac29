/** The families of the service itself. Every series is there from the first scrape on: none appears with its first event. */
import type { CurrentConfig } from '../../config/current.ts';
import type { ServiceFacts } from '../../stats/system.ts';
import { type Family, family, labelled, single } from './exposition.ts';

/** The parts of the service that count. */
export interface OwnDeps {
  readonly facts: ServiceFacts;
  /** The name of the HTTP engine. */
  readonly engine: string;
  readonly server: { readonly connections: number };
  readonly streams: () => {
    readonly size: number;
    /** By what sends them. */
    readonly senders: Readonly<Record<string, number>>;
    /** Samples that were sent, and those that a full stream was never sent. */
    readonly eventCounters: { readonly sent: number; readonly skipped: number };
  };
  readonly sockets: { readonly size: number; readonly sent: number };
  readonly sampler: { readonly tickCounters: { readonly ticks: number; readonly latenessMs: number } };
  /** Refused requests by reason. */
  readonly gate: { readonly refusals: Readonly<Record<string, number>> };
  /** The state of the player; undefined until a client has asked for players. */
  readonly media: { peekPlayback(): string | undefined };
  readonly config: CurrentConfig;
  readonly log: { readonly leftOut?: () => number };
  /** The resident memory of this process, in bytes. */
  readonly rss: (() => number) | undefined;
}

const PLAYBACKS = ['playing', 'paused', 'stopped'] as const;

function processFamilies({ facts, engine, rss, server }: OwnDeps): readonly Family[] {
  const { version, node, platform } = facts;
  const labels = { version, engine, node, platform };
  return [
    family('hostwire_build_info', 'The running version; its value is always 1.', [{ labels, value: 1 }]),
    single('hostwire_start_time_seconds', 'Start time of the service, in Unix seconds.', facts.startedAt),
    single('hostwire_resident_memory_bytes', 'Resident memory of the service.', rss?.()),
    single('hostwire_connections', 'Open connections.', server.connections),
  ];
}

function subscriberFamilies({ streams, sockets, sampler }: OwnDeps): readonly Family[] {
  const { size, senders, eventCounters } = streams();
  const { sent, skipped } = eventCounters;
  const { ticks, latenessMs } = sampler.tickCounters;
  return [
    family(
      'hostwire_subscribers',
      'Open event streams and WebSockets.',
      labelled('kind', { stream: size, socket: sockets.size }),
    ),
    family(
      'hostwire_streams',
      'Open event streams by what sends them: the native writer, or the HTTP engine.',
      labelled('sender', senders),
    ),
    family(
      'hostwire_events_sent_total',
      'Samples sent, one per subscriber.',
      labelled('kind', { stream: sent, socket: sockets.sent }),
    ),
    single(
      'hostwire_events_skipped_total',
      'Samples that an event stream skipped because its client was too slow.',
      skipped,
    ),
    single('hostwire_ticks_total', 'Readings made for subscribers.', ticks),
    single('hostwire_tick_lateness_seconds_total', 'Total delay of these readings.', latenessMs / 1000),
  ];
}

export function ownFamilies(deps: OwnDeps): readonly Family[] {
  const { gate, log, media, config } = deps;
  const playback = config.current.features.enable_media ? media.peekPlayback() : undefined;
  return [
    ...processFamilies(deps),
    ...subscriberFamilies(deps),
    family(
      'hostwire_refused_requests_total',
      'Requests and connections that access rules, scopes, flags or limits refused.',
      labelled('reason', gate.refusals),
    ),
    single(
      'hostwire_log_lines_left_out_total',
      'Log lines that were dropped because there were too many.',
      log.leftOut?.(),
    ),
    family(
      'hostwire_media_playback',
      'State of the media player; 1 for the current one.',
      playback === undefined
        ? []
        : PLAYBACKS.map((state) => ({ labels: { state }, value: Number(state === playback) })),
    ),
  ];
}
