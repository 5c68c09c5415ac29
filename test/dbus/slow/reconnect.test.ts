/** The bus daemon is killed and started again, over and over. HOSTWIRE_FULL=1: fifty times. */
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { missingForBus, until } from '../../helpers/dbus/bus.ts';
import { PowerService } from '../../helpers/service/power.ts';

const TIMES = process.env['HOSTWIRE_FULL'] === '1' ? 50 : 10;
/** Calls that are under way when the daemon dies. */
const UNDER_WAY = 20;

t.setTimeout(TIMES * 10_000);
t.test(
  '[5.reconnect] back within two seconds, no call stuck, nothing leaked, nothing asked twice',
  { skip: missingForBus() },
  async (t) => {
    const service = await PowerService.start(t);
    const isSupported = async () => (await service.status()).actions['sleep']?.supported === true;
    t.ok(await isSupported());
    const connections = () => service.relay.connections;
    // Taken after one full round, with as many HTTP connections as this test ever has.
    let begin = service.usage();
    let worstMs = 0;
    let worstCallMs = 0;
    for (let i = 0; i < TIMES; i++) {
      // A logind that is stopped keeps calls under way.
      process.kill(service.bus.logindPid, 'SIGSTOP');
      const begun = performance.now();
      const stuck = Array.from({ length: UNDER_WAY }, () => service.refusal('sleep'));
      await sleep(30);
      await service.bus.kill();
      for (const { status } of await Promise.all(stuck))
        if (status !== 501) t.fail(`a call ended with ${status}`);
      worstCallMs = Math.max(worstCallMs, performance.now() - begun);
      await service.bus.stopLogind();
      await service.bus.restart();
      const restartedMs = performance.now();
      const before = connections();
      // Without any request, it reconnects on its own.
      await until('the way back', () => connections() > before);
      worstMs = Math.max(worstMs, performance.now() - restartedMs);
      await service.bus.startLogind();
      await until('an answer', isSupported);
      if (i === 1) begin = service.usage();
    }
    t.ok(worstMs <= 2000, `back after ${worstMs.toFixed(0)} ms at most`);
    t.ok(worstCallMs < 1500, `every call ended within ${worstCallMs.toFixed(0)} ms`);
    t.strictSame(service.actTexts, [], 'nothing was done');
    await sleep(200);
    const end = service.usage();
    t.ok(end.descriptors <= begin.descriptors, `descriptors: ${begin.descriptors}, then ${end.descriptors}`);
    const grownKib = end.residentKib - begin.residentKib;
    t.ok(grownKib < 12 * 1024, `${grownKib} KiB more`);
    t.comment(
      `figure: daemon killed and restarted ${TIMES} times with ${UNDER_WAY} calls under way: back after ${worstMs.toFixed(0)} ms at most, calls ended within ${worstCallMs.toFixed(0)} ms, ${end.descriptors - begin.descriptors} descriptors and ${grownKib} KiB more`,
    );
  },
);
