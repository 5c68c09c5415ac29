/** `offline` and a sleep that another program asks for: logind on a private bus, and a real broker behind a slow line. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import process from 'node:process';
import t, { type Test } from 'tap';
import { listen } from '../../../helpers/clients/listen.ts';
import { missingForBus, until as untilAsync } from '../../../helpers/dbus/bus.ts';
import { msBetween, Sleeper } from '../../../helpers/dbus/sleeper.ts';
import { checkTime } from '../../../helpers/limits.ts';
import { type ServiceProcess, serveProgram } from '../../../helpers/service/service.ts';
import { until } from '../../../helpers/until.ts';
import { AVAILABILITY, NO_BROKER, startBroker, Witness } from '../broker.ts';

const skip = NO_BROKER || missingForBus();
const MAX_DELAY_MS = 1500;

/** Between the service and the broker. */
class SlowLine {
  /** Each answer of the broker is this late. */
  delayMs = 0;
  /** Nothing passes any more. */
  isCut = false;
  /** `offline` is published from now on; it is in the last will too. */
  isAwaitingOffline = false;
  /** When the acknowledgement of `offline` was passed on, by process.hrtime. */
  acknowledgedNs: bigint | undefined;
  #hasSaidOffline = false;
  url = '';
  readonly #server: net.Server;

  private constructor(port: number) {
    this.#server = net.createServer((near) => {
      const far = net.connect(port, '127.0.0.1');
      near.on('error', () => undefined).on('close', () => far.destroy());
      far.on('error', () => undefined).on('close', () => near.destroy());
      near.on('data', (bytes) => {
        if (this.isAwaitingOffline && bytes.includes('offline')) this.#hasSaidOffline = true;
        if (!this.isCut) far.write(bytes);
      });
      far.on('data', (bytes) => {
        // PUBACK
        const isAnswer = this.#hasSaidOffline && bytes[0] === 0x40;
        setTimeout(() => {
          if (this.isCut) return;
          if (isAnswer) this.acknowledgedNs ??= process.hrtime.bigint();
          near.write(bytes);
        }, this.delayMs);
      });
    });
  }

  static async start(t: Test, port: number): Promise<SlowLine> {
    const line = new SlowLine(port);
    line.url = `mqtt://127.0.0.1:${await listen(t, line.#server)}`;
    return line;
  }
}

async function rig(t: Test) {
  const sleeper = await Sleeper.start(t);
  const broker = await startBroker(t);
  const witness = await Witness.open(t, broker.url);
  const line = await SlowLine.start(t, broker.port);
  const start = async (mqtt: object): Promise<ServiceProcess> =>
    await serveProgram(t, {
      config: { power: { backend: 'system' }, host: { id: 'pc' }, mqtt },
      env: { DBUS_SYSTEM_BUS_ADDRESS: sleeper.bus.address },
    });
  return { sleeper, broker, witness, line, start };
}

t.setTimeout(280_000);

t.test(
  '[3.mqtt-delay] the broker has `offline` before a sleep that another program asked for begins',
  { skip },
  async (t) => {
    const { sleeper, witness, line, start } = await rig(t);
    const service = await start({ url: line.url, interval_seconds: 3600 });
    await witness.waitFor(AVAILABILITY, 'online');
    await sleeper.waitFor('inhibit', 1);
    t.strictSame(sleeper.of('inhibit')[0]?.words, [
      ...['sleep:shutdown', 'hostwire', 'reports that this machine is away', 'delay'],
    ]);
    await until(() => witness.on('hostwire/pc/state').length === 1, 'nothing else is on its way');
    // The last will may say `offline` once more when the machine has woken and leaves the old connection.
    const changes = () => witness.on(AVAILABILITY).filter((state, at, all) => state !== all[at - 1]);
    for (const sleep of [1, 2]) {
      line.delayMs = sleep === 1 ? 100 : 0;
      line.isAwaitingOffline = true;
      await sleeper.suspend();
      await sleeper.waitFor('awake', sleep);
      line.delayMs = 0;
      t.strictSame(
        sleeper.events.slice((sleep - 1) * 5, sleep * 5).map(({ event }) => event),
        ['inhibit', 'prepare', 'released', 'asleep', 'awake'],
        `sleep ${sleep}`,
      );
      await sleeper.waitFor('inhibit', sleep + 1);
      await until(() => changes().length === 2 * sleep + 1, 'offline, and online again');
    }
    t.same(changes(), ['online', 'offline', 'online', 'offline', 'online']);
    const released = sleeper.of('released')[0]?.atNs ?? 0n;
    if (line.acknowledgedNs === undefined) t.fail('offline was not acknowledged');
    else
      t.ok(released > line.acknowledgedNs, `${released - line.acknowledgedNs} ns after the acknowledgement`);
    await until(() => /woken/.test(service.stderr()), 'the log');
    t.notMatch(service.stderr(), /lost connection|cannot delay/);
    await service.stop();
    await sleeper.waitFor('released', 3);
  },
);

t.test(
  '[3.mqtt-delay] a broker that does not answer delays a sleep by a second at most',
  { skip },
  async (t) => {
    const { sleeper, witness, line, start } = await rig(t);
    await start({ url: line.url, interval_seconds: 3600 });
    await witness.waitFor(AVAILABILITY, 'online');
    await sleeper.waitFor('inhibit', 1);
    line.isCut = true;
    await sleeper.suspend();
    await sleeper.waitFor('asleep', 1);
    const [held, prepare, released] = sleeper.events;
    t.strictSame(
      [held, prepare, released].map((each) => each?.event),
      ['inhibit', 'prepare', 'released'],
    );
    const delayMs = msBetween(prepare, released);
    t.ok(delayMs > 200, `it waited for the broker, ${delayMs.toFixed()} ms`);
    checkTime(t, delayMs, MAX_DELAY_MS, 'the delay of the sleep');
  },
);

t.test(
  '[3.mqtt-delay] only a connection delays sleeps; another logind is asked again',
  { skip },
  async (t) => {
    const { sleeper, broker, witness, start } = await rig(t);
    const service = await start({});
    await fetch(`${service.baseUrl}/api/pw`);
    t.strictSame(sleeper.events, [], 'not without mqtt.url');
    await service.stop();
    const connected = await start({ url: broker.url, interval_seconds: 3600 });
    await witness.waitFor(AVAILABILITY, 'online');
    await sleeper.waitFor('inhibit', 1);
    // The connections of the service, of logind and of the question.
    await untilAsync(
      'the connection for descriptors is closed',
      async () => (await sleeper.connections()) === 3,
    );
    await sleeper.restart();
    await sleeper.waitFor('inhibit', 2);
    await broker.kill();
    await sleeper.waitFor('released', 1);
    await until(() => /lost connection/.test(connected.stderr()), 'the log');
  },
);

t.test(
  '[5.sleep-delay] a service that hangs delays a sleep by a second, and delays the next one as well',
  { skip },
  async (t) => {
    const sleeper = await Sleeper.start(t);
    const script = `
      import { writeSync } from 'node:fs';
      import { openNativeHost } from ${JSON.stringify(import.meta.resolve('#src/host/native.js'))};
      const { power } = openNativeHost();
      await power.delaySleep('for a test');
      writeSync(1, 'held');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: sleeper.bus.address },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    await sleeper.suspend();
    await sleeper.waitFor('inhibit', 2);
    const [held, prepare, released, ...rest] = sleeper.events;
    t.strictSame(
      [held, prepare, released, ...rest].map((each) => each?.event),
      ['inhibit', 'prepare', 'released', 'asleep', 'awake', 'inhibit'],
    );
    const delayMs = msBetween(prepare, released);
    t.ok(delayMs > 900, `${delayMs.toFixed()} ms`);
    checkTime(t, delayMs, MAX_DELAY_MS, 'the delay of the sleep');
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    await sleeper.waitFor('released', 2);
  },
);
