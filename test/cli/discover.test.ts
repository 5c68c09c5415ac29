/** `hostwire discover`: what is made of what other hosts announce. */
import t from 'tap';
import { discover, listServices } from '#src/cli/discover.js';
import type { FoundService } from '#src/host/discovery.js';

const TEXTS = ['txtvers=1', 'id=0123456789abcdef', 'version=1.2.3', 'path=/', 'tls=1', 'auth=0'];
const foundWith = (part: Partial<FoundService> = {}): FoundService => ({
  name: 'desk',
  host: 'desk.local',
  address: '192.0.2.7',
  link: 'eth0',
  port: 9990,
  texts: TEXTS,
  ...part,
});

t.test('[3.mdns-discover] one entry for each service, its best address first', async (t) => {
  const listed = listServices([
    foundWith({ address: '127.0.0.1', link: 'lo' }),
    foundWith({ address: 'fe80::7' }),
    foundWith({ address: '2001:db8::7' }),
    foundWith(),
    foundWith(),
    foundWith({ name: 'attic', port: 1 }),
  ]);
  t.strictSame(
    listed.map(({ name, addresses }) => [name, addresses]),
    [
      ['attic', ['192.0.2.7']],
      ['desk', ['192.0.2.7', '2001:db8::7', 'fe80::7%eth0', '127.0.0.1']],
    ],
  );
  t.match(listed[1], { id: '0123456789abcdef', version: '1.2.3', path: '/', tls: true, auth: false });
});

t.test('[3.mdns-untrusted] announcements of others cannot command a terminal, and are bounded', async (t) => {
  const [listed, ...more] = listServices([
    foundWith({
      name: `\u001b]0;owned\u0007desk\n\u202egnp.exe\u2028${'x'.repeat(200)}`,
      host: 'h\r'.repeat(500),
      texts: [
        'VERSION=\u001b[2J1.0',
        'version=2.0',
        'id=\u0085\ud800\ufffd',
        'tls',
        '=x',
        `path=${'/'.repeat(500)}`,
        'auth=yes',
      ],
    }),
    foundWith({ name: 'a', address: '192.0.2.7\u001b[2J' }),
    foundWith({ name: 'b', address: 'fe80::1%\u001b' }),
    foundWith({ name: 'c', port: 0 }),
  ]);
  t.strictSame(more, [], 'without a port or an address it is of no use');
  t.match(listed?.name, /^\?\]0;owned\?desk \?gnp\.exe x+…$/);
  t.equal(listed?.name.length, 63);
  t.equal(listed?.host.length, 255);
  t.match(listed, { version: '?[2J1.0', id: '??\ufffd', tls: null, auth: null });
  t.equal(listed?.path?.length, 64);
  const { text } = await discover(
    { browse: async () => [foundWith({ name: '\u001b[31m', texts: ['id=\u009b'] })] },
    { isJson: false, seconds: 1 },
  );
  t.notMatch(text, /[^\n\x20-\x7e]/);
  const many = Array.from({ length: 100 }, (_, at) => foundWith({ address: `192.0.2.${at}` }));
  t.equal(listServices(many)[0]?.addresses.length, 16);
});

t.test('[3.mdns-discover] a table, JSON, or a sentence if no service answers', async (t) => {
  const asked: number[] = [];
  const host = {
    browse: async (milliseconds: number) => {
      asked.push(milliseconds);
      return [foundWith({ texts: [] }), foundWith({ name: 'attic' })];
    },
  };
  const { text, exitCode } = await discover(host, { isJson: false, seconds: 7 });
  t.equal(
    text,
    [
      'name   address    port  version  tls  key  id',
      'attic  192.0.2.7  9990  1.2.3    yes  no   0123456789abcdef',
      'desk   192.0.2.7  9990  -        -    -    -',
      '',
    ].join('\n'),
  );
  t.equal(exitCode, 0);
  t.strictSame(asked, [7000]);
  const { text: json } = await discover(host, { isJson: true, seconds: 1 });
  t.strictSame(JSON.parse(json)[1], {
    name: 'desk',
    host: 'desk.local',
    addresses: ['192.0.2.7'],
    port: 9990,
    version: null,
    id: null,
    path: null,
    tls: null,
    auth: null,
  });
  const none = await discover({ browse: async () => [] }, { isJson: false, seconds: 3 });
  t.strictSame(none, { text: 'no hostwire service answered within 3 s\n', exitCode: 0 });
});
