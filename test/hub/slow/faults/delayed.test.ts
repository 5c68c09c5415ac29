/** What passes between a hub and a machine is held back for 20 s, and brokers deliver all of it twice: nothing is done twice or late. */
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { listen } from '../../../helpers/clients/listen.ts';
import { startRepeater } from '../../../socket/broker/repeater.ts';
import { isFull } from './parts.ts';
import { Scene } from './scene.ts';
import { WAYS } from './ways.ts';

t.setTimeout(1_800_000);

const ROUNDS = isFull ? 3 : 1;
const DELAY_MS = 20_000;

/** A path whose bytes arrive `delayMs` after they were sent, in both directions, also if the sender has closed by then. */
class SlowPath {
  delayMs = 0;

  async open(t: Test, port: number): Promise<number> {
    const server = net.createServer((near) => {
      const far = net.connect(port, '127.0.0.1');
      this.#pass(near, far);
      this.#pass(far, near);
      t.teardown(() => [near, far].forEach((socket) => socket.destroy()));
    });
    return await listen(t, server);
  }

  #pass(from: net.Socket, to: net.Socket): void {
    let dueMs = 0;
    const later = (act: () => void) => {
      dueMs = Math.max(dueMs, performance.now() + this.delayMs);
      setTimeout(act, dueMs - performance.now()).unref();
    };
    from
      .on('data', (bytes) => later(() => to.write(bytes)))
      .on('error', () => undefined)
      .on('close', () => later(() => to.end()));
  }
}

for (const { name, skip, start } of WAYS)
  t.test(`[I.hub.faults.delayed] a path of 20 s to a machine ${name}`, { skip }, async (t) => {
    const path = new SlowPath();
    const { broker, ...cast } = await start(t, { through: async (port) => await path.open(t, port) });
    const scene = await Scene.set(t, { ...cast, what: `a path of 20 s to a machine ${name}` });
    if (broker !== undefined) await startRepeater(t, broker);
    for (let round = 1; round <= ROUNDS; round++) {
      await sleep(3000);
      scene.commander.burst(10);
      path.delayMs = DELAY_MS;
      scene.commander.burst(10);
      await scene.shown('down');
      await sleep(DELAY_MS + 2000);
      path.delayMs = 0;
      const endMs = performance.now();
      await scene.shown('up');
      t.ok((await scene.viewer.sampleAfter(endMs)) > endMs, 'the stream goes on');
    }
    await scene.end();
  });
