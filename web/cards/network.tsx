/** Network traffic, in total and per interface. */
import type { InterfaceDetail } from '../../src/wire/sample.ts';
import { bytes, rate } from '../format.ts';
import { Card, Folded } from '../parts/card.tsx';
import { Chart } from '../parts/chart.tsx';
import { type Line, RATE } from '../parts/line.ts';
import type { Detail } from '../sample.ts';
import { inOrder, shownFirst } from './interfaces.ts';
import type { CardRow } from './row.ts';

const T = {
  title: 'Network',
  receive: 'Received',
  send: 'Sent',
  total: (received: string, sent: string) => `${received} received, ${sent} sent since boot`,
  down: 'not connected',
  more: (count: number) => `${count} more`,
  areDown: (count: number) => (count === 1 ? '1 not connected' : `${count} not connected`),
} as const;

const LINES: readonly Line[] = [
  { series: 'network.receive', label: T.receive, colour: 'series-2' },
  { series: 'network.send', label: T.send, colour: 'series-6', isDashed: true },
];

function InterfaceRow({ of: each }: { readonly of: InterfaceDetail }) {
  return (
    <li>
      <span class="name" title={each.addresses.join(', ')}>
        {each.name} <small>{each.kind === 'ethernet' ? '' : each.kind}</small>
      </span>
      <span class="value">
        {each.up === false ? (
          T.down
        ) : (
          <>
            <span>↓ {rate(each.receive_rate)}</span> <span>↑ {rate(each.send_rate)}</span>
          </>
        )}
      </span>
    </li>
  );
}

function NetworkCard({ network }: { readonly network: Detail<'network'> }) {
  const interfaces = inOrder(network.interfaces);
  const rowsOf = (all: readonly InterfaceDetail[]) =>
    all.map((each) => <InterfaceRow key={each.name} of={each} />);
  const [shown, more] = shownFirst(interfaces.filter((each) => each.up !== false));
  const down = rowsOf(interfaces.filter((each) => each.up === false));
  return (
    <Card title={T.title}>
      <Chart title={T.title} lines={LINES} scale={RATE} />
      <ul class="rows">{rowsOf(shown)}</ul>
      <Folded label={T.more(more.length)}>{rowsOf(more)}</Folded>
      <Folded label={T.areDown(down.length)}>{down}</Folded>
      <p class="note">{T.total(bytes(network.bytesRecv), bytes(network.bytesSent))}</p>
    </Card>
  );
}

export const NETWORK: CardRow = {
  Card: ({ sample: { network } }) => (network ? <NetworkCard network={network} /> : null),
  points: ({ network }) => [
    ['network.receive', network?.receive_rate ?? null],
    ['network.send', network?.send_rate ?? null],
  ],
  kept: ['network.receive', 'network.send'],
};
