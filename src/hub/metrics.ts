/** The figures of the hub itself, as the text format 0.0.4 of Prometheus. */

import type { Counters } from '../agent/remote/deps.ts';
import { family, labelled, single, writeFamily } from '../exporters/prometheus/exposition.ts';
import type { StreamFigures } from '../streams/streams.ts';
import type { HostState } from '../wire/hub.ts';

export interface Figures {
  readonly states: Readonly<Record<HostState, number>>;
  readonly streams: StreamFigures;
  readonly sockets: { readonly size: number; readonly sent: number };
  readonly counters: Counters;
}

export function hubMetrics({ states, streams, sockets, counters }: Figures): string {
  const { size: viewers, senders, eventCounters: events } = streams;
  const one = (name: string, help: string, value: number) => single(`hostwire_hub_${name}`, help, value);
  const by = 'Open event streams by what sends them: the native writer, or the HTTP engine.';
  const { samples, sampleBytes, connections, failures } = counters;
  const families = [
    family('hostwire_hub_hosts', 'Machines by state.', labelled('state', states)),
    one('viewers', 'Open streams of viewers.', viewers),
    family('hostwire_streams', by, labelled('sender', senders)),
    one('sockets', 'Open WebSockets.', sockets.size),
    one('socket_samples_total', 'Samples sent over WebSockets.', sockets.sent),
    one('samples_total', 'Samples from agents.', samples),
    one('sample_bytes_total', 'Bytes of these samples.', sampleBytes),
    one('agent_connections_total', 'Attempted connections to agents.', connections),
    one('agent_failures_total', 'Connections to agents that failed or ended.', failures),
    one('viewer_events_total', 'Events sent to viewers.', events.sent),
    one('viewer_events_skipped_total', 'Events that slow viewers missed.', events.skipped),
  ];
  return families.map(writeFamily).join('');
}
