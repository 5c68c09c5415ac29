/** The figures of the hub itself, as the text format 0.0.4 of Prometheus. */
import type { StreamFigures } from '../http/stream/stream-hub.ts';
import type { HostState } from '../wire/hub.ts';
import type { Counters } from './host/parts.ts';

export interface Figures {
  readonly states: Readonly<Record<HostState, number>>;
  readonly streams: StreamFigures;
  readonly sockets: { readonly size: number; readonly sent: number };
  readonly counters: Counters;
}

type Kind = 'gauge' | 'counter';

const family = (name: string, kind: Kind, help: string, ...samples: readonly string[]) =>
  [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`, ...samples.map((sample) => `${name}${sample}`)].join(
    '\n',
  );

export function hubMetrics({ states, streams, sockets, counters }: Figures): string {
  const { size: viewers, senders, eventCounters: events } = streams;
  const hosts = Object.entries(states).map(([state, count]) => `{state="${state}"} ${count}`);
  const families = [
    family('hostwire_hub_hosts', 'gauge', 'Machines by state.', ...hosts),
    family('hostwire_hub_viewers', 'gauge', 'Open streams of viewers.', ` ${viewers}`),
    family(
      'hostwire_streams',
      'gauge',
      'Open event streams by what sends them: the native writer, or the HTTP engine.',
      ...Object.entries(senders).map(([sender, count]) => `{sender="${sender}"} ${count}`),
    ),
    family('hostwire_hub_sockets', 'gauge', 'Open WebSockets.', ` ${sockets.size}`),
    family(
      'hostwire_hub_socket_samples_total',
      'counter',
      'Samples that were sent over WebSockets.',
      ` ${sockets.sent}`,
    ),
    family('hostwire_hub_samples_total', 'counter', 'Samples from agents.', ` ${counters.samples}`),
    family(
      'hostwire_hub_sample_bytes_total',
      'counter',
      'Bytes of these samples.',
      ` ${counters.sampleBytes}`,
    ),
    family(
      'hostwire_hub_agent_connections_total',
      'counter',
      'Connections to agents that were begun.',
      ` ${counters.connections}`,
    ),
    family(
      'hostwire_hub_agent_failures_total',
      'counter',
      'Connections to agents that failed or ended.',
      ` ${counters.failures}`,
    ),
    family(
      'hostwire_hub_viewer_events_total',
      'counter',
      'Events that were sent to viewers.',
      ` ${events.sent}`,
    ),
    family(
      'hostwire_hub_viewer_events_skipped_total',
      'counter',
      'Events that a full viewer was never sent.',
      ` ${events.skipped}`,
    ),
  ];
  return `${families.join('\n')}\n`;
}
