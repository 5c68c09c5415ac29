/** The pauses between attempts to reach a machine that is off: short at first, then long, and none for a viewer. */
import t from 'tap';
import type { AgentEntry } from '#src/config/rows/hub-rows.js';
import { Places } from '#src/fairness/places.js';
import { DialOuts } from '#src/hub/dial-outs.js';
import { Listeners } from '#src/listeners.js';
import { createLog } from '#src/log/log.js';
import { type RemoteDeps, TIMES } from '#src/machine/remote-deps.js';
import { viewOf } from '#src/stats/view.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { callerAt } from '../helpers/fakes/sender.ts';
import { findFreePort } from '../helpers/service/free-port.ts';
import { until } from '../helpers/until.ts';

const STEP_MS = 250;

t.test(
  '[I.hub.off-pauses] attempts become rare while a machine is off, until a viewer wants it',
  async (t) => {
    const clock = new FakeClock();
    const counters = { samples: 0, sampleBytes: 0, connections: 0, failures: 0 };
    const nobody = () => {
      throw new Error('nobody commands it');
    };
    const deps: RemoteDeps = {
      clock,
      times: TIMES,
      log: createLog(() => undefined),
      counters,
      limits: { questions: new Places(10), commands: new Places(10) },
      commander: { command: nobody, check: nobody, scopesAt: nobody },
      conditions: new Listeners<readonly [id: string]>(),
      random: () => 0.5,
    };
    const dialOuts = new DialOuts(deps);
    const entry: AgentEntry = { url: `http://127.0.0.1:${await findFreePort()}`, labels: {} };
    const { machine } = dialOuts.add('off', entry, 0);
    t.teardown(() => dialOuts.close());
    const startedAtMs = clock.now();
    /** Advances by `ms`; returns the times of the attempts, since the start. */
    const attemptsFor = async (ms: number): Promise<readonly number[]> => {
      const begun: number[] = [];
      for (let passed = 0; passed < ms; passed += STEP_MS) {
        const before = counters.connections;
        await clock.advance(STEP_MS);
        if (counters.connections > before) begun.push(clock.now() - startedAtMs);
        await until(() => counters.failures === counters.connections || undefined);
      }
      return begun;
    };
    const longest = (begun: readonly number[]) =>
      Math.max(...begun.map((atMs, at) => atMs - (begun[at - 1] ?? atMs)));
    const first = await attemptsFor(32_000);
    t.ok(first.length > 8 && longest(first) <= 4000, `within half a minute: ${first.join()}`);
    await attemptsFor(600_000);
    const later = await attemptsFor(300_000);
    t.ok(longest(later) > 30_000 && longest(later) <= 60_000, `after ten minutes: ${later.join()}`);
    // Just after an attempt.
    let last = 0;
    while (last === 0) last = (await attemptsFor(STEP_MS))[0] ?? 0;
    for (const [name, want] of Object.entries({
      'a stream': () => machine.subscribe(viewOf(1, false)),
      'a request': () =>
        machine.ask({ what: 'power', params: {}, client: callerAt('::1') }).catch(() => undefined),
    })) {
      await attemptsFor(5000);
      void want();
      t.equal((await attemptsFor(STEP_MS)).length, 1, `${name} asks for it immediately`);
      for (let i = 0; i < 10; i++) machine.refusal();
      t.ok((await attemptsFor(3500)).length === 0, `${name}: not again within 4 s`);
      await attemptsFor(1000);
    }
    dialOuts.close();
    for (let i = 0; i < 10; i++) machine.refusal();
    t.strictSame(await attemptsFor(5000), [], 'a machine that was removed is not tried');
  },
);
