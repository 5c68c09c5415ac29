/** Network traffic, in total and per interface. */
import { bytes, rate, rateTick } from '../format.ts';
import { Card } from '../parts/card.tsx';
import { Chart, type Line, RATE_RANGE } from '../parts/chart.tsx';
import type { Detail } from '../sample.ts';
import type { CardRow } from './row.ts';

const T = {
  title: 'Network',
  receive: 'Received',
  send: 'Sent',
  total: (received: string, sent: string) => `${received} received, ${sent} sent since boot`,
  down: 'down',
} as const;

const SCALE = { format: rate, tick: rateTick, range: RATE_RANGE };
const LINES: readonly Line[] = [
  { series: 'receive', label: T.receive, colour: 'series-2' },
  { series: 'send', label: T.send, colour: 'series-6', isDashed: true },
];
/** /api/usage lists all of them. */
const MAX_SHOWN = 8;

function NetworkCard({ network }: { readonly network: Detail<'network'> }) {
  // Those that are up first; otherwise in the service's order.
  const shown = network.interfaces
    .toSorted((a, b) => Number(b.up ?? false) - Number(a.up ?? false))
    .slice(0, MAX_SHOWN);
  return (
    <Card title={T.title}>
      <Chart title={T.title} lines={LINES} scale={SCALE} />
      <ul class="rows">
        {shown.map((each) => (
          <li key={each.name}>
            <span class="name" title={each.addresses.join(', ')}>
              {each.name} <small>{each.kind === 'ethernet' ? '' : each.kind}</small>
            </span>
            <span class="value">
              {each.up === false ? T.down : `↓ ${rate(each.receive_rate)}  ↑ ${rate(each.send_rate)}`}
            </span>
          </li>
        ))}
      </ul>
      <p class="note">{T.total(bytes(network.bytesRecv), bytes(network.bytesSent))}</p>
    </Card>
  );
}

export const NETWORK: CardRow = {
  Card: ({ sample: { network } }) => (network ? <NetworkCard network={network} /> : null),
  points: ({ network }) => [
    ['receive', network?.receive_rate ?? null],
    ['send', network?.send_rate ?? null],
  ],
};
