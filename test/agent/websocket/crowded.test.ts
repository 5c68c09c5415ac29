/** Strangers that connect and say nothing: they make room for agents, which prove themselves with their first message. */
import t from 'tap';
import { Attempts, type Unproven } from '#src/agent/transports/websocket/attempts.js';
import { createLog } from '#src/log/log.js';
import { FakeClock } from '../../helpers/fakes/clock.ts';
import { until } from '../../helpers/until.ts';
import { isUp, startHub } from '../../hub/setup.ts';
import { Dialler, dialled } from './setup.ts';

t.setTimeout(280_000);

const CROWDED = { code: 1008, reason: 'too many others prove themselves now' };

t.test('[I.hub.dial.crowded] silent connections of a few addresses keep no agent out', async (t) => {
  // The clock stands still: no matter how long it takes to open them, no proof is late.
  const clock = new FakeClock();
  const hub = await startHub(t, { pc: dialled() }, {}, {}, clock);
  const silent = (number: number) =>
    new Dialler(t, hub.port, { localAddress: `127.0.1.${1 + (number % 16)}` });
  const strangers = Array.from({ length: 256 }, (_, number) => silent(number));
  for (const stranger of strangers) await stranger.next('challenge');
  t.equal(strangers.filter(({ closed }) => closed !== undefined).length, 0, 'all of them are taken');
  for (let run = 1; run <= 10; run++) {
    const agent = new Dialler(t, hub.port);
    await agent.enter(`run${run}`);
    await hub.host('pc', isUp);
    agent.socket.terminate();
    await hub.host('pc', ({ state }) => state === 'down');
    // The strangers come again.
    await silent(run).next('challenge');
  }
  const cut = strangers.filter(({ closed }) => closed !== undefined);
  for (const { closed } of cut) t.same(closed, CROWDED);
  t.same(await until(() => strangers[0]?.closed), CROWDED, 'the oldest one has made room');
  await clock.advance(1000);
  t.match(
    await until(() => hub.log.find((line) => line.includes('unauthenticated'))),
    /closed \d+ unauthenticated connections of agents to make room for others: \d+ addresses, most from 127\.0\.1\.\d+ \(\d+\)/,
  );
});

/** Connections as Attempts knows them, of which it is known whether they were ended. */
function connections(attempts: Attempts) {
  const ended = new Set<Unproven>();
  const begin = (address: string): Unproven => {
    const connection: Unproven = { address, end: () => ended.add(connection) };
    attempts.begin(connection);
    return connection;
  };
  return { ended, begin };
}

for (const addresses of [16, 200, 1000])
  t.test(`[I.hub.dial.crowded] silent connections from ${addresses} addresses`, async (t) => {
    const clock = new FakeClock();
    const lines: string[] = [];
    const attempts = new Attempts(
      clock,
      createLog((line) => lines.push(line)),
    );
    t.equal(attempts.proofLimitMs, 5000);
    const { ended, begin } = connections(attempts);
    let begun = 0;
    const crowd = (count: number) => {
      for (let i = 0; i < count; i++, begun++) {
        const number = begun % addresses;
        begin(`192.0.${number >> 8}.${number & 255}`);
      }
    };
    crowd(3000);
    t.equal(begun - ended.size, 256, 'they are limited in all');
    t.equal(attempts.proofLimitMs, 2000, 'and have less time');
    for (let round = 0; round < 100; round++) {
      const agent = begin('198.51.100.7');
      // As many come while it proves itself.
      crowd(100);
      if (ended.has(agent)) t.fail(`round ${round}: the agent has made room for strangers`);
      attempts.settle(agent);
      attempts.settle(agent);
    }
    const before = ended.size;
    for (let second = 0; second < 90; second++) {
      attempts.look(clock.now());
      crowd(10);
      await clock.advance(1000);
    }
    t.equal(lines.length, 2, 'one line per minute');
    t.match(lines[0], `closed ${before} unauthenticated connections of agents`);
    t.match(lines[1], '599 unauthenticated connections', 'one was free');
  });

t.test('[I.hub.dial.crowded] the oldest connection of one address makes room', async (t) => {
  const attempts = new Attempts(
    new FakeClock(),
    createLog(() => undefined),
  );
  const { ended, begin } = connections(attempts);
  const other = begin('192.0.2.1');
  const own = Array.from({ length: 20 }, () => begin('192.0.2.2'));
  t.same([...ended], own.slice(0, 4));
  for (const connection of [...own, other]) attempts.settle(connection);
  t.equal(attempts.proofLimitMs, 5000);
});
