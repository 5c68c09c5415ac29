/** The figures of the hub itself, as the text format 0.0.4 of Prometheus. */

import { family, type Labels, labelled, single, writeFamily } from '../exporters/prometheus/exposition.ts';
import type { Counters } from '../machine/remote-deps.ts';
import type { StreamFigures } from '../streams/streams.ts';
import type { HostState } from '../wire/hub.ts';

export interface Figures {
  readonly states: Readonly<Record<HostState, number>>;
  readonly streams: StreamFigures;
  readonly sockets: { readonly size: number; readonly sent: number };
  readonly counters: Counters;
  /** By id, whether each machine is up. */
  readonly up: Readonly<Record<string, number>>;
  readonly build: Labels;
  /** The resident memory of this process, in bytes. */
  readonly rss: number | undefined;
  /** Refused requests by reason. */
  readonly refusals: Readonly<Record<string, number>>;
}

export function hubMetrics(figures: Figures): string {
  const { states, streams, sockets, counters, up, build, rss, refusals } = figures;
  const { size: viewers, senders, eventCounters: events } = streams;
  const one = (name: string, help: string, value: number) => single(`hostwire_hub_${name}`, help, value);
  const by = 'Open event streams by what sends them: the native writer, or the HTTP engine.';
  const { samples, sampleBytes, connections, failures } = counters;
  const refused = 'Requests and connections that access rules, scopes, flags or limits refused.';
  const families = [
    family('hostwire_build_info', 'The running version; its value is always 1.', [
      { labels: build, value: 1 },
    ]),
    single('hostwire_resident_memory_bytes', 'Resident memory of the hub.', rss),
    family('hostwire_refused_requests_total', refused, labelled('reason', refusals)),
    family('hostwire_hub_host_up', 'Whether the hub reaches the machine.', labelled('host', up)),
    family('hostwire_hub_hosts', 'Machines by state.', labelled('state', states)),
    one('viewers', 'Open streams of viewers.', viewers),
    family('hostwire_streams', by, labelled('sender', senders)),
    one('sockets', 'Open WebSockets.', sockets.size),
    one('socket_samples_total', 'Samples sent over WebSockets.', sockets.sent),
    one('samples_total', 'Samples from machines.', samples),
    one('sample_bytes_total', 'Bytes of these samples.', sampleBytes),
    one('agent_connections_total', 'Sessions with machines that were begun.', connections),
    one('agent_failures_total', 'Sessions with machines that failed or ended.', failures),
    one('viewer_events_total', 'Events sent to viewers.', events.sent),
    one('viewer_events_skipped_total', 'Events that slow viewers missed.', events.skipped),
  ];
  return families.map(writeFamily).join('');
}
