/** The announcements of the service's listen addresses, and their id. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { type AnnouncementFacts, listAnnouncements, Mdns, type MdnsDeps } from '#src/exporters/mdns.js';
import type { Announced, Announcement, DiscoveryHost } from '#src/host/discovery.js';
import { identify } from '#src/identity.js';
import { createLog } from '#src/log/log.js';
import { configWith } from '../helpers/fakes/config-parts.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';

const FACTS: AnnouncementFacts = {
  hostname: 'desk.example.org',
  id: '0123456789abcdef',
  version: '1.2.3',
  hasKey: true,
  addresses: [{ scheme: 'http', host: '::', port: 9990 }],
  links: { lo: [{ address: '127.0.0.1' }], eth0: [{ address: '192.0.2.7' }, { address: 'fe80::7' }] },
};
const listWith = (part: Partial<AnnouncementFacts>) => listAnnouncements({ ...FACTS, ...part });

t.test('[3.mdns-announced] name, port and texts', async (t) => {
  t.strictSame(listAnnouncements(FACTS), [
    {
      name: 'desk',
      port: 9990,
      link: '',
      texts: ['txtvers=1', 'id=0123456789abcdef', 'version=1.2.3', 'path=/', 'tls=0', 'auth=1'],
    },
  ]);
  const both = listWith({
    hasKey: false,
    addresses: [...FACTS.addresses, { scheme: 'https', host: '::', port: 9443 }],
  });
  t.strictSame(
    both.map(({ name, port, texts }) => [name, port, texts.slice(4)]),
    [
      ['desk', 9990, ['tls=0', 'auth=0']],
      ['desk (https)', 9443, ['tls=1', 'auth=0']],
    ],
    'two addresses have two names',
  );
  const [secure] = listWith({
    addresses: [{ scheme: 'https', host: '0.0.0.0', port: 1 }],
  });
  t.equal(secure?.name, 'desk', 'the only listener has the name of the machine');
});

t.test('[3.mdns-announced] a name is one label of DNS', async (t) => {
  const nameOf = (hostname: string) => listWith({ hostname })[0]?.name;
  t.equal(nameOf(''), 'hostwire');
  t.equal(nameOf('x'.repeat(80)), 'x'.repeat(63));
  t.equal(nameOf('ü'.repeat(40)), 'ü'.repeat(31), 'whole characters');
});

t.test(
  '[3.mdns-loopback] only addresses that others can reach, on the interface that has their address',
  async (t) => {
    const listener = (host: string) => ({ scheme: 'http', host, port: 9990 }) as const;
    t.strictSame(listWith({ addresses: [listener('127.0.0.1')] }), []);
    const linkOf = (host: string) => listWith({ addresses: [listener(host)] })[0]?.link;
    t.equal(linkOf('192.0.2.7'), 'eth0');
    t.equal(linkOf('192.0.2.8'), '', 'nobody has it now');
    t.equal(linkOf('0.0.0.0'), '');
    t.equal(linkOf('desk.lan'), '');
  },
);

t.test('[3.mdns-id] the id stays, and does not give away the id of the machine', async (t) => {
  const root = t.testdir({ etc: { 'machine-id': `${'ab'.repeat(16)}\n` } });
  const id = identify({ root, id: undefined });
  t.match(id, /^[0-9a-f]{16}$/);
  t.equal(identify({ root, id: undefined }), id);
  t.notMatch(id, 'abab');
  t.equal(identify({ root, id: 'desk' }), 'desk', 'host.id comes first');
  writeFileSync(path.join(root, 'etc/machine-id'), 'uninitialized\n');
  const other = identify({ root, id: undefined });
  t.not(other, id, 'without one the host name counts');
  mkdirSync(path.join(root, 'var/lib/dbus'), { recursive: true });
  writeFileSync(path.join(root, 'var/lib/dbus/machine-id'), 'ab'.repeat(16));
  t.equal(identify({ root, id: undefined }), id);
});

function rig() {
  const lines: string[] = [];
  const asked: (readonly Announcement[])[] = [];
  let tell: (announced: readonly Announced[]) => void = () => undefined;
  const discovery: DiscoveryHost = {
    announce: async (list) => void asked.push(list),
    onNews: (listener) => {
      tell = listener;
    },
  };
  const config = { current: configWith({ discovery: { mdns: true } }) };
  const parts: MdnsDeps = {
    config,
    host: { ...fixtureHost(), discovery },
    log: createLog((line) => lines.push(line), 'debug'),
    facts: { version: '1.2.3' },
    addresses: [
      { scheme: 'http', host: '::', port: 9990 },
      { scheme: 'https', host: '::', port: 9443 },
    ],
  };
  const mdns = new Mdns(parts, 'id', 'desk');
  return { mdns, asked, config, lines, tell: (...news: readonly Announced[]) => tell(news) };
}

const waiting = (name: string): Announced => ({ name, isAnnounced: false, reason: null });
const done = (name: string): Announced => ({ name, isAnnounced: true, reason: null });
const failed = (name: string, reason: string): Announced => ({ name, isAnnounced: false, reason });

t.test('[3.mdns-log] each change is one line, repeated failures none', async (t) => {
  const { lines, tell } = rig();
  const take = () => lines.splice(0).map((line) => line.trim().replace(/^.*?(?=(?:not )?announced)/, ''));
  tell(waiting('desk'), waiting('desk (https)'));
  t.strictSame(take(), []);
  const none = 'Avahi is not on the system bus';
  tell(failed('desk', none), failed('desk (https)', none));
  t.strictSame(take(), [`not announced on the network (discovery.mdns): ${none}`]);
  tell(waiting('desk'), waiting('desk (https)'));
  tell(failed('desk', none), failed('desk (https)', none));
  t.strictSame(take(), [], 'tried again, in vain');
  tell(done('desk #2'), waiting('desk (https)'));
  tell(done('desk #2'), done('desk (https)'));
  t.strictSame(take(), [
    'announced on the network as "desk #2", port 9990 (mDNS)',
    'announced on the network as "desk (https)", port 9443 (mDNS)',
  ]);
});

t.test('[3.mdns-reload] a reload that changes nothing of it asks for nothing', async (t) => {
  const { mdns, asked, config, tell, lines } = rig();
  mdns.reconfigure();
  t.equal(asked.length, 1);
  config.current = configWith({ discovery: { mdns: true }, auth: { enabled: true, api_key: 'k' } });
  mdns.reconfigure();
  t.equal(asked.length, 2);
  t.ok(asked[1]?.every(({ texts }) => texts.includes('auth=1')));
  await mdns.close();
  t.strictSame(asked[2], [], 'withdrawn at the end');
  tell(done('desk'), done('desk'));
  t.strictSame(lines, [], 'and silent');
});
