/** The service on the test's clock. */
import { EventStream } from '../clients/event-stream.ts';
import { FakeClock, settle } from '../fakes/clock.ts';
import type { FixtureHost } from '../fakes/host.ts';
import type { Scope } from '../scope.ts';
import { type ConfigPart, serveHere } from './service.ts';

/** The window of a first load: the time between its two readings. */
export const FIRST_WINDOW_MS = 200;

export interface ClockedService {
  readonly clock: FakeClock;
  readonly port: number;
  /** The result of `ask`, which waits for a reading; advances the clock when it does. */
  readonly withFirstLoad: <T>(ask: () => Promise<T>) => Promise<T>;
  /** Opens a stream. Without a recent sample it waits for one: open it in `withFirstLoad`. */
  readonly open: (target?: string) => Promise<EventStream>;
}

export async function startOnClock(
  t: Scope,
  host: FixtureHost,
  config: ConfigPart = {},
): Promise<ClockedService> {
  const clock = new FakeClock();
  const { readCounters } = host;
  host.readCounters = (...asked) => ({ ...readCounters(...asked), unixMs: 1e12 + clock.now() });
  const service = await serveHere(t, host, config, { clock });
  return {
    clock,
    port: service.port,
    withFirstLoad: async (ask) => {
      const before = clock.timers;
      const answer = ask();
      while (clock.timers === before) await settle();
      await clock.advance(FIRST_WINDOW_MS);
      return await answer;
    },
    open: async (target = '/api/stream') => {
      return await EventStream.openIn(t, service.port, target);
    },
  };
}
