/**
 * Connections of streams on their way from the engine to the native writer, among others that come and go: none is mistaken for
 * another, no byte is lost or torn, and no descriptor is left.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import t, { type Test } from 'tap';
import { repetitions } from '../helpers/random.ts';
import { until } from '../helpers/until.ts';
import { CHURN_SEED, Client, churn, get, serveNumbered } from './stream-churn.ts';

t.setTimeout(900_000);

t.test(
  '[4.bytes] churn: every stream is that of its client, whole, and nothing is left',
  async (t) => await churn(t, repetitions(t, 50_000, CHURN_SEED)),
);

t.test('streams that are being handed over when access is judged again, or when all end', async (t) => {
  const { streams, source, port, asked } = await serveNumbered(t);
  const clients = Array.from({ length: 50 }, (_, at) => new Client(port, `j${at}`));
  for (const { id, socket } of clients) socket.write(get(`/stream?${id}`));
  await until(() => {
    streams.revalidate(() => false);
    return asked() === clients.length && streams.size === 0;
  });
  const late = Array.from({ length: 50 }, (_, at) => new Client(port, `e${at}`));
  for (const { id, socket } of late) socket.write(get(`/stream?${id}`));
  await until(() => streams.size > 0);
  streams.close();
  streams.end();
  await until(() => late.every(({ socket }) => socket.destroyed || socket.readableEnded));
  await until(() => streams.adopted === 0);
  for (const client of [...clients, ...late]) client.socket.destroy();
  await until(() => streams.size === 0);
  t.equal(source.size, 0);
});

/**
 * Runs `act` while this process may open no descriptor. Another process sets the limits: this one could not start it then.
 */
async function withoutDescriptors(t: Test, act: () => Promise<void>): Promise<void> {
  const pid = `${process.pid}`;
  const most = spawnSync('prlimit', ['--pid', pid, '--nofile', '--output=SOFT', '--noheadings']);
  const script = 'while read limit; do prlimit --pid "$0" --nofile="$limit:" && echo set; done';
  const setter = spawn('/bin/sh', ['-c', script, pid], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => setter.kill());
  const limit = async (text: string) => {
    setter.stdin.write(`${text}\n`);
    await once(setter.stdout, 'data');
  };
  await limit('3');
  try {
    await act();
  } finally {
    await limit(String(most.stdout).trim());
  }
}

t.test(
  '[4.few-descriptors] none is left for a connection on its way: it is cut, and nothing else',
  async (t) => {
    const { streams, source, engine, port, publish } = await serveNumbered(t);
    const held = new Client(port, 'held');
    held.socket.write(get('/stream?held'));
    await until(() => streams.adopted === 1);
    const clients = Array.from({ length: 20 }, (_, at) => new Client(port, `d${at}`));
    for (const { socket } of clients) socket.write(get('/answer?10'));
    await until(() => clients.every(({ text }) => text.endsWith('aaaaaaaaaa')));
    await withoutDescriptors(t, async () => {
      for (const { id, socket } of clients) socket.write(get(`/stream?${id}`));
      await until(() => clients.every(({ socket }) => socket.closed));
    });
    await until(() => streams.size === 1 && engine.connections === 1);
    t.equal(source.size, 1, 'only the first is counted');
    for (const client of clients) t.notMatch(client.text, 'event-stream', 'no byte of a stream was sent');
    publish();
    await until(() => held.text.includes('"number":1'));
    t.equal(held.fault(false), undefined, 'the stream that was open goes on');
    const late = new Client(port, 'late');
    late.socket.write(get('/stream?late'));
    await until(() => late.text.endsWith('\n\n\r\n'));
    t.equal(streams.adopted, 2, 'and new ones are taken as soon as there are descriptors again');
    for (const { socket } of [held, late]) socket.destroy();
    await until(() => streams.adopted === 0);
  },
);
