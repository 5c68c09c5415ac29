/** A broker that is killed repeatedly, behind two hubs: streams continue, and no command is done twice or late. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { BROKERS } from '../../../agent/reporter/rig.ts';
import { createRandom } from '../../../helpers/random.ts';
import { Commander, judge } from './commands.ts';
import { isFull, startAgent, startBrokerHub } from './parts.ts';
import { Recovery, stateOf, Viewer } from './viewers.ts';

t.setTimeout(1_800_000);

const KILLS = isFull ? 50 : 3;
/** The last of them last long: by then attempts come as seldom as they ever do. */
const LONG_KILLS = isFull ? 5 : 1;
const LONG_MS = isFull ? 20_000 : 5000;
/** With the bursts fewer than the 150 lines per minute and address that a log takes. */
const EVERY_MS = 700;

for (const { name, skip, start } of BROKERS) {
  t.test(`[I.hub.faults.broker] ${name} is killed ${KILLS} times`, { skip }, async (t) => {
    const random = createRandom(7);
    const broker = await start(t);
    const { part: agent, marks } = await startAgent(t, 'pc', broker.url);
    const hubs = [await startBrokerHub(t, broker.url, 'hub1'), await startBrokerHub(t, broker.url, 'hub2')];
    const viewers = await Promise.all(hubs.map(({ port }) => Viewer.open(t, port, 'pc')));
    const commander = new Commander(
      t,
      'pc',
      hubs.map(({ port }) => port),
      EVERY_MS,
    );
    const recovery = new Recovery(`${name} killed`);
    for (let kill = 1; kill <= KILLS; kill++) {
      await sleep(300 + random.below(1000));
      // Some of them are on their way when it dies.
      commander.burst(random.below(4));
      await sleep(random.below(8));
      const before = viewers.map((viewer) => viewer.states().length);
      await broker.kill();
      for (const { port } of hubs) {
        const { reason } = await stateOf(port, 'pc', ({ state }) => state === 'down');
        t.equal(reason, 'the broker is unreachable', `kill ${kill}: the state shown`);
      }
      await sleep(kill > KILLS - LONG_KILLS ? LONG_MS : random.below(800));
      await broker.start();
      await recovery.take(t, viewers, performance.now());
      await Promise.all(hubs.map(({ port }) => stateOf(port, 'pc', ({ state }) => state === 'up')));
      viewers.forEach((viewer, index) => {
        const seen = viewer.states(before[index]);
        t.ok(seen.includes('down') && seen.at(-1) === 'up', `kill ${kill}: ${seen.join(', ')} on the socket`);
      });
    }
    t.notOk(
      viewers.some(({ stream }) => stream.isEnded || stream.connection.isClosed),
      'no stream has ended',
    );
    await commander.stop();
    recovery.report(t);
    const hubLogs = hubs.map(({ log }) => log).join('');
    await judge(t, `${name} killed`, commander.sent, marks, { agent: agent.log, hubs: hubLogs });
  });
}
