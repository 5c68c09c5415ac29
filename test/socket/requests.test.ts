/** What is asked of one machine: how each request ends; what waits, waits here, in turns by client, and commands never for reads. */
import t from 'tap';
import type { Step } from '#src/commands/command.js';
import { RATES } from '#src/fairness/limits.js';
import { Places } from '#src/fairness/places.js';
import { Bucket } from '#src/fairness/rate.js';
import { Requests } from '#src/socket/requests.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { callerAt } from '../helpers/fakes/sender.ts';

const LIMITS = () => ({ questions: new Places(2000), commands: new Places(1000) });

/** One connection, on which the test is the machine. */
function connect(limits = LIMITS()) {
  const clock = new FakeClock();
  const sent: { readonly id: number; readonly what: string; readonly client: string }[] = [];
  let ids = 0;
  const world: { isOpen: boolean; onSent?: (id: number) => void } = { isOpen: true };
  const requests = new Requests({
    clock,
    limits,
    answerMs: 1000,
    // That of a hub without the scope `hub`.
    pace: () => ({ perSecond: 8, burst: 16 }),
    nextId: () => ids++,
    send: (id, { what, client }) => {
      if (!world.isOpen) return false;
      sent.push({ id, what, client: client.address });
      world.onSent?.(id);
      return true;
    },
  });
  const steps: Step[] = [];
  const command = (address = '192.0.2.9', params = {}) =>
    requests.ask(
      {
        what: 'media.mute',
        params,
        client: callerAt(address),
        deadlineMs: clock.now() + 5000,
        onStep: (step) => steps.push(step),
      },
      true,
    );
  const read = (address: string, what: string, waitMs = 10_000) =>
    requests.ask({ what, params: {}, client: callerAt(address), deadlineMs: clock.now() + waitMs }, false);
  const last = () => sent.at(-1)?.id;
  return { clock, world, requests, sent, steps, command, read, last };
}

t.test('[I.hub.outcomes] how a request ends', async (t) => {
  const { clock, world, requests, sent, command, read, last } = connect();
  const refused = async (call: Promise<unknown>, code: string, text: string) =>
    await t.rejects(call, { code }, text);
  const done = command();
  requests.takeStep(last(), { stage: 'running' });
  requests.takeAnswer('x', { body: {} });
  requests.takeAnswer(-1, { body: {} });
  requests.takeAnswer(last(), { body: { status: 'ok' }, delivered: 'true', etag: '"a"' });
  t.match(await done, { bytes: Buffer.from('{"status":"ok"}'), delivered: 'true', etag: '"a"' });
  requests.takeAnswer(last(), { body: {} });

  for (const [data, code] of [
    [{ error: { code: 'action_failed', message: 'No.' } }, 'action_failed'],
    [{ error: { code: 'made_up' } }, 'internal_error'],
    [{ error: { code: 'constructor' } }, 'internal_error'],
    [{ error: null }, 'internal_error'],
    [{ body: 5 }, 'host_unreachable'],
    [{ body: [] }, 'host_unreachable'],
  ] as const) {
    const call = command();
    requests.takeAnswer(last(), data);
    await refused(call, code, JSON.stringify(data));
  }
  for (const [code, wanted] of [
    ['LATE', 'host_unreachable'],
    ['RATE_LIMITED', 'too_many_requests'],
    ['FORBIDDEN', 'internal_error'],
  ] as const) {
    const call = command();
    requests.takeError(last(), { code, message: 'No.' });
    await refused(call, wanted, code);
  }
  for (const data of [{}, { type: 'text/html', base64: 'PGI+' }, { type: 'image/png', base64: 1 }]) {
    const art = read('192.0.2.9', 'art');
    requests.takeAnswer(last(), data);
    await refused(art, 'host_unreachable', `no picture: ${JSON.stringify(data)}`);
  }

  const silent = refused(command(), 'outcome_unknown', 'nothing came');
  await clock.advance(5999);
  const slow = command('192.0.2.9', { timeout_ms: 3000 });
  await clock.advance(1);
  await silent;
  requests.takeAnswer(last(), { body: {} });
  await slow;

  const count = sent.length;
  world.isOpen = false;
  await refused(command(), 'host_unreachable', 'it was not sent');
  t.equal(sent.length, count);
  world.isOpen = true;
  const [cut, undone] = [command(), read('192.0.2.9', 'power')];
  requests.end('it was lost');
  await refused(cut, 'outcome_unknown', 'it was sent');
  await refused(undone, 'host_unreachable', 'a question does nothing');
  await refused(command(), 'host_unreachable', 'after the end');
  t.equal(new Set(sent.map(({ id }) => id)).size, sent.length, 'each has an id of its own');
});

t.test('[I.hub.outcomes] a command that goes on is followed to its end, or given up', async (t) => {
  const { clock, requests, steps, command, last } = connect();
  const follow = async () => {
    const call = command();
    const id = last();
    requests.takeAnswer(id, { body: { message: 'In 60 s' }, follows: true });
    t.match(await call, { isFollowed: true });
    return id;
  };
  const first = await follow();
  requests.takeStep(first, { stage: 'running', message: 'Now' });
  requests.takeStep(first, { stage: 'done', message: 'Done' });
  requests.takeStep(first, { stage: 'failed', message: 'again' });
  t.strictSame(
    steps.splice(0).map(({ stage, message }) => `${stage} ${message}`),
    ['accepted In 60 s', 'running Now', 'done Done'],
  );
  await follow();
  await clock.advance(120_000);
  t.match(steps.splice(0).at(-1), { stage: 'unknown', message: 'no result was reported' });
  for (let i = 0; i < 17; i++) {
    await follow();
    await clock.advance(100);
  }
  t.equal(steps.splice(0).filter(({ stage }) => stage === 'unknown').length, 1, 'the oldest of too many');
  requests.end('it was lost');
  t.equal(steps.filter(({ stage }) => stage === 'unknown').length, 16);
});

/** A machine that answers, and lets this hub in as any client: 20 messages per second, 40 that come together. */
function answering({ answerMs = 5 } = {}) {
  const connection = connect();
  const { clock, world, requests, sent } = connection;
  const rate = new Bucket(RATES.messages, 0);
  const figures = { refused: 0, done: 0, failed: [] as string[], reading: 0, mostReading: 0 };
  world.onSent = (id) => {
    const isRead = sent.at(-1)?.what.includes('.') === false;
    if (!rate.takeOne(clock.now())) figures.refused++;
    if (isRead) figures.mostReading = Math.max(figures.mostReading, ++figures.reading);
    clock.setTimer(() => {
      if (isRead) figures.reading--;
      requests.takeAnswer(id, { body: {} });
    }, answerMs);
  };
  const count = (call: Promise<unknown>) =>
    void call.then(
      () => figures.done++,
      (error: { readonly code: string }) => figures.failed.push(error.code),
    );
  const attempt = (call: Promise<unknown>) => void call.catch(() => undefined);
  return { ...connection, figures, count, attempt };
}

t.test('[I.hub.hostile] commands do not fail because two addresses read the history', async (t) => {
  const { clock, sent, figures, count, attempt, read, command } = answering();
  let reads = 0;
  for (let i = 0; i < 30; i++) {
    for (let each = 0; each < 40; each++) attempt(read(`192.0.2.${1 + (each % 2)}`, `history ${reads++}`));
    count(command());
    await clock.advance(100);
  }
  await clock.advance(1000);
  t.match(figures, { done: 30, failed: [], refused: 0 });
  t.ok(figures.mostReading <= 12);
  t.ok(sent.filter(({ what }) => what.includes('history')).length > 30, 'and reads go on');
});

t.test('[I.hub.hostile] nor because others send commands; slow ones hold up nobody else', async (t) => {
  const busy = answering();
  for (let i = 0; i < 30; i++) {
    for (let each = 0; each < 20; each++) {
      busy.attempt(busy.command(`192.0.2.${1 + (each % 2)}`));
      busy.attempt(busy.read(`192.0.2.${1 + (each % 2)}`, `history ${i} ${each}`));
    }
    busy.count(busy.command());
    busy.count(busy.read('192.0.2.9', `power ${i}`));
    // Less than its third of 8 per second.
    await busy.clock.advance(400);
  }
  await busy.clock.advance(1000);
  t.match(busy.figures, { done: 60, failed: [], refused: 0 });

  const { clock, sent, figures, count, attempt, command } = answering({ answerMs: 4000 });
  for (let each = 0; each < 30; each++) attempt(command('192.0.2.1'));
  t.equal(sent.length, 4);
  count(command('192.0.2.9'));
  t.equal(sent.at(-1)?.client, '192.0.2.9');
  await clock.advance(4000);
  t.equal(figures.done, 1);
});

t.test('[I.hub.hostile] a waiting command ends at its deadline, and was not done', async (t) => {
  const { clock, sent, figures, count, command } = answering({ answerMs: 60_000 });
  for (let each = 0; each < 5; each++) count(command('192.0.2.1'));
  await clock.advance(5000);
  t.strictSame(figures.failed, ['host_unreachable'], 'the fifth has not been sent');
  t.equal(sent.length, 4);
});

t.test('[I.hub.hostile] requests of one address to many machines leave room for others', async (t) => {
  const limits = LIMITS();
  let refused = 0;
  for (let machine = 0; machine < 100; machine++) {
    const { read } = connect(limits);
    for (let each = 0; each < 60; each++) read('192.0.2.1', `q${each}`).catch(() => refused++);
  }
  await Promise.resolve();
  const { sent, read } = connect(limits);
  read('192.0.2.9', 'power').catch(() => undefined);
  t.equal(sent.length, 1);
  await new Promise((resolve) => setImmediate(resolve));
  t.ok(refused >= 6000 - 500, `a quarter for one address: ${refused} refused`);
});
