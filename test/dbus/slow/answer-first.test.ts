/**
 * The act comes after the answer: a relay before the bus notes each call before it passes it on, the client (in a
 * thread of its own) notes when it has read the whole answer, both on the same monotonic clock. HOSTWIRE_FULL=1: two
 * hundred runs per action.
 */
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { askAll } from '../../helpers/clients/http-thread.ts';
import { missingForBus, until } from '../../helpers/dbus/bus.ts';
import { METHODS, PowerService } from '../../helpers/service/power.ts';

const RUNS = process.env['HOSTWIRE_FULL'] === '1' ? 200 : 5;
/** After a longer stall of either thread the order is not certain, so that run is made again. */
const MAX_STALL_MS = 20;
const LOOK_MS = 5;

const OK = '{"status":"ok","message":"Command initiated"}';

/** The longest stall of this thread, where the relay is, while `work` went on. */
async function stallOf(work: () => Promise<void>): Promise<number> {
  let worstMs = 0;
  let lookedAtMs = performance.now();
  const look = () => {
    const now = performance.now();
    worstMs = Math.max(worstMs, now - lookedAtMs - LOOK_MS);
    lookedAtMs = now;
  };
  const timer = setInterval(look, LOOK_MS);
  await work();
  look();
  clearInterval(timer);
  return worstMs;
}

t.setTimeout(120_000 + RUNS * 10_000);
t.test(
  '[5.answer-first] exactly the right method, once, after the client has read the whole answer',
  { skip: missingForBus() },
  async (t) => {
    const service = await PowerService.start(t, { sleepSeconds: 0 });
    t.ok((await service.status()).actions['sleep']?.supported);
    const { port } = service.process;
    let worstMs = 0;
    let leastMs = Number.POSITIVE_INFINITY;
    let repeated = 0;
    for (const [action, method] of Object.entries(METHODS)) {
      let wrong = 0;
      for (let judged = 0, runs = 0; judged < RUNS; runs++) {
        if (runs > 3 * RUNS + 20) {
          t.pass('in calm', { skip: 'this machine is too busy to determine what came first' });
          break;
        }
        const before = service.acts.length;
        let endedAtNs = 0n;
        let clientStalledMs = 0;
        const relayStalledMs = await stallOf(async () => {
          const request = `POST /api/pw/${action} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`;
          const { answers, stalledMs } = await askAll(port, [request]);
          clientStalledMs = stalledMs;
          endedAtNs = answers[0]?.endedAtNs ?? 0n;
          if (!answers[0]?.text.endsWith(OK)) wrong++;
          await until('the act', () => service.acts.length > before);
        });
        const [act, ...more] = service.acts.slice(before);
        if (act?.member !== `${method}WithFlags` || act.argument !== 16 || more.length > 0) wrong++;
        const afterMs = Number((act?.atNs ?? 0n) - endedAtNs) / 1e6;
        if (Math.max(clientStalledMs, relayStalledMs) > MAX_STALL_MS) {
          repeated++;
          continue;
        }
        judged++;
        if (afterMs <= 0) wrong++;
        worstMs = Math.max(worstMs, afterMs);
        leastMs = Math.min(leastMs, afterMs);
      }
      t.equal(wrong, 0, `${action}: ${RUNS} runs`);
    }
    await sleep(600);
    const counts = Object.values(METHODS).map(
      (method) => service.acts.filter(({ member }) => member === `${method}WithFlags`).length,
    );
    const isEachOnce = counts.reduce((sum, count) => sum + count, 0) === service.acts.length;
    t.ok(isEachOnce, 'and nothing else was ever called');
    t.ok(worstMs < 500, `${worstMs.toFixed(1)} ms at the latest`);
    t.comment(
      `figure: ${RUNS} runs per action, each act once and ${leastMs.toFixed(0)} to ${worstMs.toFixed(0)} ms after the whole answer was read; ${repeated} more runs on a busy machine`,
    );
  },
);
