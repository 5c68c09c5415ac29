/** A process burns the processor while no client is connected; after it has exited, the history names it. */
import os from 'node:os';
import t from 'tap';
import { ask, jsonOf } from '../../helpers/clients/http.ts';
import { startService } from '../../helpers/service/service.ts';
import { askUntil, BURNER, isBurnerIn, ranAt, startBurners } from '../burner.ts';

interface Payload {
  readonly events: readonly {
    readonly rule: string;
    readonly state: string;
    readonly processes?: unknown;
  }[];
}

const nowSeconds = () => Date.now() / 1000;

t.test(
  '[3.history-spike] [3.watch-event] a process that has ended is named for the moment when it ran',
  async (t) => {
    const service = await startService({
      config: {
        history: { minutes: 60, idle_interval_seconds: 1 },
        watch: { rules: { busy: { series: 'cpu.load', above: 1, for_seconds: 1 } } },
      },
    });
    t.teardown(() => service.stop());
    // So that there is a window in which it starts.
    await askUntil(
      'two readings',
      () => ranAt(service.port, nowSeconds()),
      ({ window_seconds: window }) => window !== null,
    );
    const burners = startBurners(t, os.availableParallelism());
    const named = await askUntil('the burner', () => ranAt(service.port, nowSeconds()), isBurnerIn);
    await burners.end();
    t.ok((named.cpu?.find(({ name }) => name === BURNER)?.value ?? 0) > 0);
    const later = await ranAt(service.port, named.taken_at ?? 0);
    t.ok(isBurnerIn(later), 'also when it has ended');
    t.equal(later.taken_at, named.taken_at);

    const { events } = await askUntil(
      'an event',
      async () => jsonOf(await ask(service.port, '/api/history?series=cpu.load')) as Payload,
      (payload) => payload.events.some(({ state }) => state === 'begin'),
    );
    const begun = events.find(({ state }) => state === 'begin');
    t.match(begun, { rule: 'busy', processes: { memory: [{ value: Number }] } });
    t.match(service.stderr(), /watch rule busy begins: CPU load has been above 1 % for 1 s/);
  },
);
