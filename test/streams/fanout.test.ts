/** Streams of the Node engine whose connections the addon takes over: all that is counted stays right. */
import net from 'node:net';
import t, { type Test } from 'tap';
import { loadEngine } from '#src/engines.js';
import { viewOf } from '#src/stats/view.js';
import { encodedOf } from '../helpers/fakes/encoded.ts';
import { callerAt } from '../helpers/fakes/sender.ts';
import { createStreams } from '../helpers/service/streams.ts';
import { until } from '../helpers/until.ts';

const VIEW = viewOf(0, true);

async function serve(t: Test, firstBytes = 10) {
  const { quota, counts, source, streams, engineOptions, endWith } = createStreams();
  let newest = encodedOf(1, firstBytes);
  let number = 1;
  /** After each request. */
  const connections: number[] = [];
  const { create } = await loadEngine('node');
  const engine = create({
    ...engineOptions,
    onRequest: (exchange) => {
      const caller = callerAt(exchange.head.path === '/b' ? '10.0.0.2' : '10.0.0.1');
      const event = newest.event(VIEW);
      streams.open(source, VIEW, { exchange, headers: [], event, caller, skipsNext: false });
      connections.push(engine.connections);
    },
  });
  const port = await engine.listen('127.0.0.1', 0);
  endWith(t, engine);
  const publish = (bytes?: number) => {
    newest = encodedOf(++number, bytes);
    source.publish(newest);
  };
  const open = (path: string, version = '1.1') => {
    const client = net.connect(port, '127.0.0.1');
    client.on('error', () => undefined);
    t.teardown(() => client.destroy());
    client.write(`GET ${path} HTTP/${version}\r\nHost: localhost\r\n\r\n`);
    let text = '';
    client.setEncoding('latin1').on('data', (part) => {
      text += part;
    });
    return { client, text: () => text };
  };
  return { streams, quota, counts, source, engine, connections, publish, open };
}

const eventsOf = (text: string) => [...text.matchAll(/"timestamp":(\d+)/g)].map((match) => Number(match[1]));

t.test('streams come, are judged again and end', async (t) => {
  const { streams, counts, source, engine, connections, publish, open } = await serve(t);
  const a = open('/a');
  const b = open('/b');
  const old = open('/a', '1.0');
  await until(() => streams.adopted === 3);
  t.equal(streams.size, 3, 'each is counted once');
  t.equal(engine.connections, 3, 'they are still connections of the service');
  t.ok(Math.max(...connections) <= 3, `${connections} counted while they were handed over`);
  t.strictSame([counts.places.of('10.0.0.1'), counts.places.of('10.0.0.2')], [2, 1]);
  t.equal(source.size, 1, 'all of them share one subscription');
  publish();
  for (const { text } of [a, b, old]) await until(() => eventsOf(text()).length === 2);
  t.strictSame(eventsOf(a.text()), [1, 2]);
  t.match(old.text(), /\r\n\r\ndata: [^\r]*\n\ndata: [^\r]*\n\n$/, 'HTTP/1.0 has no chunk marks');
  streams.revalidate((caller) => caller.address !== '10.0.0.2');
  await until(() => b.client.closed && streams.size === 2);
  t.strictSame([source.size, counts.places.of('10.0.0.2')], [1, 0]);
  a.client.destroy();
  await until(() => streams.size === 1);
  streams.close();
  streams.end();
  t.equal(streams.isEnding, true);
  await until(() => old.client.closed && !streams.isEnding && streams.size === 0);
  t.strictSame([source.size, counts.places.of('10.0.0.1'), engine.connections], [0, 0, 0]);
});

t.test('a first event that is long is sent as it is taken', async (t) => {
  const { streams, quota, publish, open } = await serve(t, 16_000_000);
  const { client, text } = open('/a');
  client.pause();
  await until(() => streams.size === 1);
  publish();
  t.equal(streams.adopted, 1);
  await until(() => quota.bytesOf('10.0.0.1') > 0);
  client.resume();
  await until(() => eventsOf(text()).includes(2));
  publish();
  await until(() => eventsOf(text()).includes(3));
  t.equal(quota.bytes, 0);
  t.strictSame(eventsOf(text()), [1, 2, 3]);
});

t.test('bytes that the writer keeps for a stream are in the quota', async (t) => {
  const { streams, quota, publish, open } = await serve(t);
  const { client } = open('/a');
  await until(() => streams.adopted === 1);
  client.pause();
  // More than the kernel holds for both ends: shorter ones may fill it to the end of one, of which nothing is kept.
  publish(16_000_000);
  await until(() => quota.bytesOf('10.0.0.1') > 0);
  t.ok(quota.bytesOf('10.0.0.1') < 16_000_200, 'one event at most');
  client.resume();
  await until(() => quota.bytes === 0);
  client.pause();
  publish(16_000_000);
  await until(() => quota.bytes > 0);
  client.destroy();
  await until(() => quota.bytes === 0 && streams.size === 0);
  t.pass('all of it is released');
});
