/** The figures of the hub itself, as the text format 0.0.4 of Prometheus. */

import type { Counters } from '../agent/remote/deps.ts';
import type { StreamFigures } from '../viewers/stream/stream-server.ts';
import type { HostState } from '../wire/hub.ts';

export interface Figures {
  readonly states: Readonly<Record<HostState, number>>;
  readonly streams: StreamFigures;
  readonly sockets: { readonly size: number; readonly sent: number };
  readonly counters: Counters;
}

type Kind = 'gauge' | 'counter';

const familyOf = (
  name: string,
  kind: Kind,
  help: string,
  samples: readonly (readonly [labels: string, value: number])[],
) => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${kind}`,
  ...samples.map(([labels, value]) => `${name}${labels} ${value}`),
];

const labelled = (label: string, values: Readonly<Record<string, number>>) =>
  Object.entries(values).map(([name, value]) => [`{${label}="${name}"}`, value] as const);

export function hubMetrics({ states, streams, sockets, counters }: Figures): string {
  const { size: viewers, senders, eventCounters: events } = streams;
  const one = (name: string, kind: Kind, help: string, value: number) =>
    familyOf(`hostwire_hub_${name}`, kind, help, [['', value]]);
  const by = 'Open event streams by what sends them: the native writer, or the HTTP engine.';
  const { samples, sampleBytes, connections, failures } = counters;
  const lines = [
    ...familyOf('hostwire_hub_hosts', 'gauge', 'Machines by state.', labelled('state', states)),
    ...one('viewers', 'gauge', 'Open streams of viewers.', viewers),
    ...familyOf('hostwire_streams', 'gauge', by, labelled('sender', senders)),
    ...one('sockets', 'gauge', 'Open WebSockets.', sockets.size),
    ...one('socket_samples_total', 'counter', 'Samples that were sent over WebSockets.', sockets.sent),
    ...one('samples_total', 'counter', 'Samples from agents.', samples),
    ...one('sample_bytes_total', 'counter', 'Bytes of these samples.', sampleBytes),
    ...one('agent_connections_total', 'counter', 'Connections to agents that were begun.', connections),
    ...one('agent_failures_total', 'counter', 'Connections to agents that failed or ended.', failures),
    ...one('viewer_events_total', 'counter', 'Events that were sent to viewers.', events.sent),
    ...one(
      'viewer_events_skipped_total',
      'counter',
      'Events that a full viewer was never sent.',
      events.skipped,
    ),
  ];
  return `${lines.join('\n')}\n`;
}
