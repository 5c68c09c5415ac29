/** `wake.hosts`: the machines that are accepted and rejected. */
import t from 'tap';
import { checkConfiguration } from '#src/cli/check.js';
import { json, load, makeFolder, optionsFor, writeFiles, yaml } from './loading.ts';

const MAC = '02:00:5e:10:00:00';

t.test('[8.wake] a map of names to MAC addresses, or to entries with more', async (t) => {
  const { config, origins } = load(t, {
    'config.yaml': `wake:
  hosts:
    nas: "${MAC}"
    cellar:
      mac: 02-00-5E-10-00-01
      broadcast: 192.0.2.255
      port: 7
    constructor: {mac: 02005e100002}
`,
    'config.json': `{"wake": {"hosts": {"nas": "${MAC}", "tv": {"mac": "${MAC}"}}}}`,
  });
  t.same(Object.keys(config.wake.hosts).sort(), ['cellar', 'constructor', 'nas', 'tv']);
  t.strictSame(config.wake.hosts['nas'], { mac: MAC, port: 9 }, 'two files may say the same');
  t.strictSame(config.wake.hosts['cellar'], {
    mac: '02-00-5E-10-00-01',
    broadcast: '192.0.2.255',
    port: 7,
  });
  t.equal(config.wake.hosts['toString'], undefined, 'no machine comes from a prototype');
  t.match(origins.get('wake.hosts.cellar'), /config\.yaml:4$/);
});

t.test('[8.wake-refused] a wrong machine stops the start, with its line', async (t) => {
  const expected = 'expected the MAC address of a network card, such as "02:00:5e:10:00:00", in quotes';
  const entry = (body: string) => `wake:\n  hosts:\n    x:\n      mac: "${MAC}"\n      ${body}\n`;
  const whole = (body: string) => `wake:\n  hosts:\n    x: ${body}\n`;
  const cases: readonly (readonly [text: string, problem: string])[] = [
    [whole('nas.lan'), `3 wake.hosts.x ${expected}, found "nas.lan"`],
    [whole('"ff:ff:ff:ff:ff:ff"'), `3 wake.hosts.x ${expected}, found "ff:ff:ff:ff:ff:ff"`],
    // YAML takes digits alone for a number.
    [
      whole('20000000001'),
      '3 wake.hosts.x expected a MAC address in quotes, or a map with the key mac, found 20000000001',
    ],
    [
      whole('["a"]'),
      '3 wake.hosts.x expected a MAC address in quotes, or a map with the key mac, found a list',
    ],
    [whole('{mac: 5}'), `3 wake.hosts.x.mac ${expected}, found 5`],
    [whole('{port: 9}'), '3 wake.hosts.x expected the key mac, with a MAC address'],
    [
      entry('broadcast: pc.lan'),
      '5 wake.hosts.x.broadcast expected an IPv4 address, in quotes, found "pc.lan"',
    ],
    [
      entry('broadcast: "ff02::1"'),
      '5 wake.hosts.x.broadcast expected an IPv4 address, in quotes, found "ff02::1"',
    ],
    [entry('port: 0'), '5 wake.hosts.x.port expected a whole number from 1 to 65535, found 0'],
    [entry('brodcast: 1'), '5 wake.hosts.x.brodcast unknown key; did you mean broadcast?'],
    [
      `wake:\n  hosts:\n    a b: "${MAC}"\n`,
      '3 wake.hosts.a b expected a name of 1 to 64 letters, digits, "_", "." or "-"',
    ],
    [
      'wake:\n  hosts: []\n',
      '2 wake.hosts expected a map of names to MAC addresses or {mac, broadcast, port}, found a list',
    ],
    [`wake:\n  host:\n    x: "${MAC}"\n`, '2 wake.host unknown key; did you mean wake.hosts?'],
  ];
  for (const [text, problem] of cases) t.same(yaml(t, text), [`config.yaml:${problem}`], text);
  t.same(json(t, `{"wake": {"hosts": {"x": "${MAC}", "x": "${MAC}"}}}`).length, 1, 'twice');
});

t.test('[8.wake] a variable may set the map, and check shows each machine', async (t) => {
  const folder = makeFolder(t);
  writeFiles(folder, { 'config.yaml': `wake:\n  hosts:\n    nas: "${MAC}"\n` });
  const options = optionsFor(folder);
  const shown = checkConfiguration(options).text;
  t.match(shown, `wake.hosts.nas = {"mac":"${MAC}","port":9}`);
  t.match(shown, /config\.yaml:3\)/);
  const variables = { ...options.surroundings.variables, HOSTWIRE_WAKE_HOSTS: `{"tv": "${MAC}"}` };
  const loaded = checkConfiguration(
    { ...options, surroundings: { ...options.surroundings, variables } },
    true,
  );
  t.match(JSON.parse(loaded.text).settings['wake.hosts.tv'], {
    value: { mac: MAC, port: 9 },
    origin: 'variable HOSTWIRE_WAKE_HOSTS',
  });
});
