/** The machine's end of a broker that a test plays: which sessions it begins, and when they end. */
import t from 'tap';
import { createLog } from '#src/log/log.js';
import { scopesOf } from '#src/scopes.js';
import { BrokerServer, type BrokerServerOptions } from '#src/socket/broker/broker-server.js';
import type { Carrier } from '#src/socket/carrier.js';
import { FakeClock, settle } from '../../helpers/fakes/clock.ts';
import { PlayedBroker } from './played-broker.ts';

const sessionOf = (number: number) => String(number).padStart(16, '0');

interface Served {
  readonly hub: string | undefined;
  readonly carrier: Carrier;
  readonly frames: string[];
  readonly ends: string[];
}

function play() {
  const clock = new FakeClock();
  const broker = new PlayedBroker();
  const log: string[] = [];
  const served: Served[] = [];
  const holders = new Set<object>();
  let link: ReturnType<PlayedBroker['open']> | undefined;
  const serve: BrokerServerOptions['serve'] = (carrier, { key }) => {
    const each: Served = { hub: key, carrier, frames: [], ends: [] };
    served.push(each);
    carrier.send('hello');
    return {
      onFrame: (bytes) => void each.frames.push(bytes.toString()),
      onControl: () => undefined,
      onEnd: ({ reason }) => void each.ends.push(reason),
    };
  };
  const server = new BrokerServer({
    broker: {
      host: 'broker',
      port: 1883,
      isSecure: false,
      name: 'mqtt://broker:1883',
      clientId: 'pc',
      username: undefined,
      password: undefined,
      ca: undefined,
    },
    topic: 'hostwire',
    id: 'pc',
    status: { run: 'r' },
    serve,
    scopes: scopesOf(['read', 'hub']),
    inhibitor: {
      hold: (holder) => void holders.add(holder),
      release: (holder) => void holders.delete(holder),
    },
    clock,
    log: createLog((line) => log.push(line), 'debug'),
    random: () => 0.5,
    openLink: (options) => {
      link = broker.open(options);
      return link;
    },
  });
  link?.begin();
  const say = (hub: string, payload: string, isRetained = false) => {
    broker.publish(`hostwire/pc/in/${hub}`, payload, isRetained);
  };
  return {
    clock,
    broker,
    log,
    served,
    holders,
    server,
    link: () => link,
    say,
    open: (hub: string, number: number) => say(hub, `${sessionOf(number)} 0\n`),
  };
}

t.test('[I.hub.mqtt.once] a session begins once, and ends with the next', async (t) => {
  const machine = play();
  machine.say('hub1', `${sessionOf(1)} 1\nearly`);
  machine.say('hub1', `${sessionOf(1)} 0\nx`);
  machine.say('hub1', 'x');
  t.equal(machine.served.length, 0, 'an empty frame opens a session');
  machine.open('hub1', 1);
  machine.open('hub1', 1);
  await settle();
  const [first] = machine.served;
  t.equal(machine.served.length, 1);
  t.equal(first?.hub, 'mqtt.hub1', 'no key of auth.keys has that name');
  t.same(machine.broker.published, [{ topic: 'hostwire/pc/out/hub1', text: `${sessionOf(1)} 0\nhello` }]);
  for (const payload of [1, 1, 2, 1].map((number) => `${sessionOf(1)} ${number}\n${number}`))
    machine.say('hub1', payload);
  machine.say('hub2', `${sessionOf(1)} 3\nanother hub`);
  t.same(first?.frames, ['1', '2']);
  machine.open('hub1', 2);
  t.same(first?.ends, ['a newer session of this hub has taken its place']);
  // All of the first session again.
  for (const number of [0, 1, 2]) machine.say('hub1', `${sessionOf(1)} ${number}\n${number || ''}`);
  t.equal(machine.served.length, 2);
  t.ok(machine.served[1]?.carrier.isOpen);
  machine.say('hub1', `${sessionOf(2)} end\ndone`);
  t.same(machine.served[1]?.ends, ['it ended the session: done']);
  machine.open('hub1', 2);
  t.equal(machine.served.length, 2, 'and one that has ended is not begun again');
});

t.test('[I.hub.mqtt.once] what was kept, and what a sleep has delayed', async (t) => {
  const machine = play();
  machine.link()?.end();
  machine.say('hub1', `${sessionOf(1)} 0\n`, true);
  machine.link()?.begin();
  await settle();
  t.equal(machine.served.length, 0, 'a retained one is from a hub that may be gone');
  machine.broker.hasSlept = true;
  machine.open('hub1', 2);
  t.equal(machine.served.length, 0);
  machine.broker.hasSlept = false;
  machine.open('hub1', 3);
  t.equal(machine.served.length, 1);
});

t.test('[I.hub.mqtt] the end of a session whose hub is silent, or whose broker is lost', async (t) => {
  const machine = play();
  t.equal(machine.holders.size, 1, 'a sleep waits for its status');
  machine.open('hub1', 1);
  machine.open('hub2', 2);
  for (let minute = 0; minute < 4; minute++) {
    await machine.clock.advance(60_000);
    machine.say('hub2', `${sessionOf(2)} ${minute + 1}\nping`);
  }
  t.same(machine.served[0]?.ends, ['no message within the timeout']);
  t.same(machine.served[1]?.ends, []);
  machine.link()?.end();
  t.same(machine.served[1]?.ends, ['the broker is unreachable']);
  t.equal(machine.holders.size, 0);
  await machine.server.close();
  t.equal(machine.clock.timers, 0);
});

t.test('[I.hub.hostile] at most 16 hubs, and few sessions of each', async (t) => {
  const machine = play();
  for (let number = 0; number < 20; number++) machine.open(`hub${number}`, number);
  t.equal(machine.served.length, 16);
  t.equal(machine.log.filter((line) => /more than 16 hubs/.test(line)).length, 1);
  for (let number = 100; number < 200; number++) machine.open('hub1', number);
  t.equal(machine.served.length, 16 + 8);
  machine.say('hub2', `${sessionOf(2)} end\n`);
  machine.open('hub17', 17);
  t.equal(machine.served.length, 24, 'it may come back');
  await machine.clock.advance(61_000);
  machine.open('hub17', 17);
  t.equal(machine.served.length, 25, 'after a minute another one has its place');
  t.equal(machine.served.at(-1)?.hub, 'mqtt.hub17');
});
