/** The texts of network files: every column, odd rows, names that are bytes, signal levels. */
import { mkdirSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { FOLDER, makeMachine } from '../helpers/machine/tree.ts';
import { eth0, HEADER, link, netDev, readDetail, readLinks } from './network-tree.ts';

t.test('every counter is in its place', async (t) => {
  const row = '  eth0: 11 12 13 14 15 16 17 18 21 22 23 24 25 26 27 28\n';
  const machine = makeMachine(t, { 'proc/net/dev': HEADER + row, ...eth0 });
  const of = await readDetail(machine, (links) => links[0]?.speedMbps === 1000);
  t.match(of('eth0'), {
    receivedBytes: 11,
    receivedPackets: 12,
    receiveErrors: 13,
    receiveDrops: 14,
    sentBytes: 21,
    sentPackets: 22,
    sendErrors: 23,
    sendDrops: 24,
  });
});

t.test('unusual texts of /proc/net/dev', async (t) => {
  const read = (text: string) =>
    readLinks(makeMachine(t, { 'proc/net/dev': text })).map((one) => [
      one.name,
      one.receivedBytes,
      one.sentBytes,
    ]);
  const row = ' 2 0 0 0 0 0 0 7 8 0 0 0 0 0 0\n';
  t.strictSame(read(`${HEADER}eth0:1: 5${row}`), [['eth0:1', 5, 7]], 'an alias');
  t.strictSame(
    read(`${HEADER}  eth0:4294967296${row}`),
    [['eth0', 4294967296, 7]],
    'no blank after the colon',
  );
  t.strictSame(
    read(`${HEADER}eth0: 18446744073709551615${row}`),
    [['eth0', 2 ** 64, 7]],
    'the largest number',
  );
  const wide = HEADER.replace('multicast|bytes', 'multicast later|bytes');
  t.strictSame(
    read(`${wide}eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n`),
    [['eth0', 1, 10]],
    'one column more',
  );
  t.strictSame(
    read('|x\n face |bytes packets|bytes packets\neth0: 1 2 3 4\n'),
    [['eth0', 1, 3]],
    'fewer columns',
  );
  t.strictSame(
    read(`${HEADER}eth0: 1 2 3\nno numbers here\n: 1${row}eth1: 9${row}`),
    [['eth1', 9, 7]],
    'cut rows',
  );
  t.strictSame(read('garbage\n\n::::\n'), [], 'nothing of sense');
});

t.test(
  'a name that is not UTF-8 is shown as Node would show it, and its files are still found',
  async (t) => {
    for (const bytes of [
      [0x77, 0xff, 0x30],
      [0xe2, 0x82, 0x41],
      [0xc3, 0xa9],
      [0xed, 0xa0, 0x80],
      [0xf0, 0x9f, 0x92],
    ]) {
      const name = Buffer.from(bytes);
      const row = Buffer.from(': 1 2 0 0 0 0 0 0 3 4 0 0 0 0 0 0\n');
      const text = Buffer.concat([Buffer.from(HEADER), name, row]);
      const machine = makeMachine(t, { 'proc/net/dev': text, 'sys/class/net': FOLDER });
      const folder = Buffer.concat([Buffer.from(`${machine.root}/sys/class/net/`), name]);
      mkdirSync(folder);
      writeFileSync(Buffer.concat([folder, Buffer.from('/ifindex')]), '17\n');
      const [first] = readLinks(machine);
      t.equal(first?.name, name.toString('utf8'), name.toString('hex'));
      t.equal(first?.index, 17);
    }
  },
);

t.test('a signal that is not a receiver level is unknown', async (t) => {
  const levels = { '-40.': -40, ' 200.': -56, '0': null, '-256': null, ' 70.': null, '-1000': null };
  for (const [level, expected] of Object.entries(levels)) {
    const row = (name: string, dbm: string) => ` ${name}: 0000   54.  ${dbm}  -256        0\n`;
    const machine = makeMachine(t, {
      ...netDev('wlan0', 'wlan1'),
      ...link('wlan0', { wireless: FOLDER }),
      ...link('wlan1', { wireless: FOLDER }),
      'proc/net/wireless': `Inter-| sta-|\n face | tus |\n${row('wlan0', level)}${row('wlan1', '-61.')}`,
    });
    const of = await readDetail(machine, ([, second]) => second?.signalDbm === -61);
    t.equal(of('wlan1').signalDbm, -61);
    t.equal(of('wlan0').signalDbm, expected, level);
  }
});
