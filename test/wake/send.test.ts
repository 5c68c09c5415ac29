/** Where packets go, and how each sending ends; on the loopback of this machine only. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import t from 'tap';
import { magicPacket } from '#src/wake/packet.js';
import { sendToAll, targetsOf } from '#src/wake/send.js';
import { describeSent, wakeMachine } from '#src/wake/wake.js';

const MAC = '02:00:5e:10:00:00';

t.test('[3.wake-targets] the broadcast address of each interface, or the one that is given', async (t) => {
  const interfaces = [
    { name: 'eth0', address: '192.0.2.7', broadcast: '192.0.2.255' },
    { name: 'eth1', address: '198.51.100.2', broadcast: null },
  ];
  t.strictSame(targetsOf(interfaces, undefined), [
    { interface: 'eth0', from: '192.0.2.7', address: '192.0.2.255', port: 9 },
    { interface: 'eth1', from: '198.51.100.2', address: '255.255.255.255', port: 9 },
  ]);
  t.strictSame(targetsOf(interfaces, '203.0.113.255', 7), [
    { interface: null, from: undefined, address: '203.0.113.255', port: 7 },
  ]);
  t.strictSame(targetsOf([], undefined), []);
});

t.test(
  '[3.wake-repeated] three packets to each target, and an error costs no other target its own',
  async (t) => {
    const receiver = createSocket('udp4');
    receiver.bind(0, '127.0.0.1');
    await once(receiver, 'listening');
    t.teardown(() => receiver.close());
    const received: Buffer[] = [];
    receiver.on('message', (bytes) => received.push(bytes));
    const { port } = receiver.address();
    const here = { interface: 'lo', from: '127.0.0.1', address: '127.0.0.1', port };
    // An address of no interface.
    const elsewhere = { interface: 'eth9', from: '192.0.2.7', address: '192.0.2.255', port };
    const packet = magicPacket(MAC);
    t.strictSame(await sendToAll(packet, [here, elsewhere]), [
      { interface: 'lo', address: '127.0.0.1', port, packets: 3, error: null },
      {
        interface: 'eth9',
        address: '192.0.2.255',
        port,
        packets: 0,
        error: 'EADDRNOTAVAIL: the interface no longer has an address',
      },
    ]);
    while (received.length < 3) await once(receiver, 'message');
    t.strictSame(received, [packet, packet, packet]);
  },
);

t.test('[3.wake-targets] a target is named with its interface and its error', async (t) => {
  const sent = { address: '192.0.2.255', port: 9, packets: 3 };
  t.strictSame(
    [
      describeSent({ ...sent, interface: 'eth0', error: null }),
      describeSent({ ...sent, interface: null, error: 'ENETDOWN: the interface is down' }),
    ],
    ['192.0.2.255 (eth0)', '192.0.2.255: ENETDOWN: the interface is down'],
  );
});

t.test('[3.wake-nowhere] without an interface nothing is sent', async (t) => {
  t.strictSame(await wakeMachine({ mac: MAC, port: 9 }, async () => []), {
    mac: MAC,
    targets: [],
    failure: 'no interface has a link and an IPv4 broadcast address',
  });
  await t.rejects(
    wakeMachine({ mac: MAC, port: 9 }, () => Promise.reject(new Error('no'))),
    new Error('no'),
  );
});

t.test('[3.wake-repeated] more interfaces than sockets at a time', async (t) => {
  const target = { interface: 'lo', from: '127.0.0.1', address: '127.0.0.1', port: 9 };
  const targets = Array.from({ length: 70 }, (_, at) => ({ ...target, interface: `lo${at}` }));
  const sent = await sendToAll(magicPacket(MAC), targets);
  t.strictSame(
    sent.map(({ interface: name, packets }) => [name, packets]),
    targets.map(({ interface: name }) => [name, 3]),
    'in their order',
  );
});
