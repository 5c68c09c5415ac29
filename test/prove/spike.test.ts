/** A process burns the processor for 15 s while no client is connected; ten minutes later the history names it. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { serveProgram } from '../helpers/service/service.ts';
import { BURNER, isBurnerIn, ranAt, startBurners } from '../history/burner.ts';

const BURN_MS = 15_000;
/** Begins of the spikes, each at another time within a slot. */
const PAUSES_MS = [70_000, 73_000, 77_000];
const LATER_MS = 600_000;

t.setTimeout(20 * 60_000);

t.test('[3.history-spike] ten minutes later, with the settings of a new installation', async (t) => {
  const service = await serveProgram(t, { config: { history: { minutes: 60, idle_interval_seconds: 10 } } });
  const middles: number[] = [];
  for (const pauseMs of PAUSES_MS) {
    await sleep(pauseMs);
    const begunAt = Date.now() / 1000;
    const burners = startBurners(t, 1);
    await sleep(BURN_MS);
    await burners.end();
    middles.push(begunAt + BURN_MS / 2000);
  }
  await sleep(LATER_MS);
  for (const at of middles) {
    const answer = await ranAt(service.port, at);
    const use = answer.cpu?.find(({ name }) => name === BURNER);
    t.ok(
      isBurnerIn(answer),
      `figure: ${use?.value} % of the machine in a window of ${answer.window_seconds} s`,
    );
  }
  const before = await ranAt(service.port, (middles[0] ?? 0) - 40);
  t.notOk(isBurnerIn(before), 'not for the time before it');
});
