/** Maps by name: the entries that the configuration has, where each is from, and what check shows of it. */
import t, { type Test } from 'tap';
import { checkConfiguration } from '#src/cli/check.js';
import { readKey } from '#src/config/config.js';
import { makePair } from '../helpers/certificates.ts';
import { type Files, load, makeFolder, namedProblemsOf, optionsFor, writeFiles } from './loading.ts';

const URL = 'http://pc1.lan:9990';
const PIN = `sha256/${'A'.repeat(43)}=`;
const KEY = 'k'.repeat(40);
const MAC = '02:00:5e:10:00:00';

/** A key, two files that define its entries, the entries, and the name and the line of one of them. */
const MAPS: readonly (readonly [
  key: string,
  yaml: string,
  json: object,
  entries: Readonly<Record<string, object>>,
  name: string,
  line: number,
])[] = [
  [
    'processes.launch',
    `processes:
  launch:
    term:
      command: /usr/bin/foot
      args: ["-e", "top"]
      cwd: /tmp
      env: {TERM: foot, _x1: ""}
      allow_args: true
    constructor: {command: /bin/true}
    "a.b_c-9": {command: /x}
    ${'n'.repeat(64)}: {command: /y}
`,
    { processes: { launch: { constructor: { command: '/bin/true' } } } },
    {
      term: {
        command: '/usr/bin/foot',
        args: ['-e', 'top'],
        cwd: '/tmp',
        env: { TERM: 'foot', _x1: '' },
        allow_args: true,
      },
      constructor: { command: '/bin/true', args: [], env: {}, allow_args: false },
      'a.b_c-9': { command: '/x', args: [], env: {}, allow_args: false },
      ['n'.repeat(64)]: { command: '/y', args: [], env: {}, allow_args: false },
    },
    'a.b_c-9',
    10,
  ],
  [
    'wake.hosts',
    `wake:
  hosts:
    nas: "${MAC}"
    cellar:
      mac: 02-00-5E-10-00-01
      broadcast: 192.0.2.255
      port: 7
    constructor: {mac: 02005e100002}
`,
    { wake: { hosts: { nas: MAC, tv: { mac: MAC } } } },
    {
      nas: { mac: MAC, port: 9 },
      cellar: { mac: '02-00-5E-10-00-01', broadcast: '192.0.2.255', port: 7 },
      constructor: { mac: '02005e100002', port: 9 },
      tv: { mac: MAC, port: 9 },
    },
    'cellar',
    4,
  ],
  [
    'watch.rules',
    `watch:
  rules:
    hot:
      series: cpu.temperature
      above: 85
    idle: {series: cpu.load, below: 0.5, for_seconds: 3600}
    gone: {series: cpu.temperature, missing: true}
    constructor: {series: "disk.used_percent/*", above: -1}
`,
    { watch: { rules: { low: { series: 'battery.percent/*', below: 10 } } } },
    {
      hot: { series: 'cpu.temperature', above: 85, for_seconds: 10 },
      idle: { series: 'cpu.load', below: 0.5, for_seconds: 3600 },
      gone: { series: 'cpu.temperature', missing: true, for_seconds: 10 },
      constructor: { series: 'disk.used_percent/*', above: -1, for_seconds: 10 },
      low: { series: 'battery.percent/*', below: 10, for_seconds: 10 },
    },
    'idle',
    6,
  ],
  [
    'hub.agents',
    `hub:
  agents:
    pc1: ${URL}
    pc-2:
      url: https://[2001:db8::1]
      pin: ${PIN}
      labels: {site: "Berlin, 2nd floor", role: web}
    constructor: {url: "http://192.0.2.1:80/"}
`,
    { hub: { agents: { pc1: URL, tv: { url: URL } } } },
    {
      pc1: { url: URL, labels: {} },
      'pc-2': {
        url: 'https://[2001:db8::1]',
        pin: PIN,
        labels: { site: 'Berlin, 2nd floor', role: 'web' },
      },
      constructor: { url: 'http://192.0.2.1:80/', labels: {} },
      tv: { url: URL, labels: {} },
    },
    'pc-2',
    4,
  ],
  [
    'hub.commands',
    `hub:
  commands:
    living-room:
      commands: [media.*, power.sleep]
      clients: [192.168.1.0/24, "2001:db8::/32"]
      hosts: [tv, desk]
      labels: {site: berlin}
    admins: {commands: ["*"], keys: [default]}
`,
    { hub: { commands: { lock: { commands: ['power.lock'] } } } },
    {
      'living-room': {
        commands: ['media.*', 'power.sleep'],
        clients: ['192.168.1.0/24', '2001:db8::/32'],
        hosts: ['tv', 'desk'],
        labels: { site: 'berlin' },
      },
      admins: { commands: ['*'], keys: ['default'], labels: {} },
      lock: { commands: ['power.lock'], labels: {} },
    },
    'admins',
    8,
  ],
];

t.test(
  '[8.launch] [8.wake] [8.watch-rules] [8.hub] [8.hub-commands] maps of names to entries, or to their main value',
  async (t) => {
    for (const [key, yaml, json, entries, name, line] of MAPS) {
      const { config, origins } = load(t, { 'config.yaml': yaml, 'config.json': JSON.stringify(json) });
      const map = readKey(config, key) as Readonly<Record<string, object>>; // One of MAPS.
      t.same(map, entries, key);
      t.equal('cwd' in (map['constructor'] ?? {}), false, 'what is not set is absent');
      t.equal(map['toString'], undefined, `${key}: nothing comes from a prototype`);
      t.match(origins.get(`${key}.${name}`), new RegExp(`config\\.yaml:${line}$`));
      t.equal(origins.get(key), 'default');
      t.same(readKey(load(t, {}).config, key), {}, 'none by default');
      const folder = makeFolder(t);
      writeFiles(folder, { 'config.yaml': yaml });
      t.match(checkConfiguration(optionsFor(folder)).text, `${key}.${name} = {"`);
    }
  },
);

t.test('[8.wake] a variable may set the map', async (t) => {
  const folder = makeFolder(t);
  writeFiles(folder, { 'config.yaml': `wake:\n  hosts:\n    nas: "${MAC}"\n` });
  const { surroundings, ...options } = optionsFor(folder);
  const variables = { ...surroundings.variables, HOSTWIRE_WAKE_HOSTS: `{"tv": "${MAC}"}` };
  const { text } = checkConfiguration({ ...options, surroundings: { ...surroundings, variables } }, true);
  t.match(JSON.parse(text).settings['wake.hosts.tv'], {
    value: { mac: MAC, port: 9 },
    origin: 'variable HOSTWIRE_WAKE_HOSTS',
  });
});

t.test('check warns of a history without a folder, which a service must not look at', async (t) => {
  const folder = makeFolder(t);
  writeFiles(folder, { 'config.yaml': 'history: {path: /no/such/folder/h.db}\n' });
  const warning = /warn: \S+config\.yaml:1: history\.path: its folder \/no\/such\/folder: it does not exist/;
  t.match(checkConfiguration(optionsFor(folder)).text, warning);
  t.notMatch(
    JSON.stringify(load(t, { 'config.yaml': 'history: {path: /no/such/h.db}' }).notices),
    'its folder',
  );
});

t.test('[8.hub-dial] the keys by which a service dials belong together', async (t) => {
  const folder = makeFolder(t);
  const write = (hub: object) => {
    writeFiles(folder, { 'config.json': JSON.stringify({ hub }), 'pc.key': KEY });
    // A problem of the configuration is an error.
    return checkConfiguration(optionsFor(folder));
  };
  const agent = { url: 'wss://hub.lan:9980/prefix', key_file: 'pc.key', pin: PIN };
  t.equal(write(agent).exitCode, 0);
  t.match(write({ key_file: 'pc.key' }).text, /hub\.key_file: needs hub\.url; /);
  t.match(write({ ...agent, url: 'ws://hub.lan' }).text, /hub\.pin: is used with TLS only/);
  const plain = { url: 'ws://hub.lan', key_file: 'pc.key' };
  t.match(
    write(plain).text,
    /warn: hub\.url: the key, all samples and all commands cross the network unencrypted/,
  );
  t.notMatch(write({ ...plain, url: 'ws://127.0.0.1:9980' }).text, /unencrypted/);
  t.match(
    write({ ...plain, url: ['ws://[::1]:9980', 'ws://hub.lan'] }).text,
    /unencrypted/,
    'one of several',
  );
  t.equal(write({ ...agent, url: ['wss://hub.lan', 'wss://hub2.lan'], scopes: ['power'] }).exitCode, 0);
  t.match(write({ ...agent, url: ['wss://hub.lan', 'http://hub2.lan'] }).text, /hub\.url.*expected ws:/);
  t.match(write({ ...agent, scopes: ['reed'] }).text, /unknown scope "reed"; did you mean "read"/);
  t.match(write({ ...agent, plain_networks: ['hub.lan'] }).text, /hub\.plain_networks/);
  const both = write({ ...agent, agents: { tv: URL } });
  t.match(both.text, /hub\.pin: used by "hostwire run" only, hub\.agents by "hostwire hub" only/);
  t.equal(both.exitCode, 0, 'one file may serve both');
});

const { cert } = await makePair({ isIssuer: true });

/** The problems of a configuration in JSON, with the folder left out. */
const problemsOf = (t: Test, config: object, files: Files = {}) =>
  namedProblemsOf(t, { 'config.json': JSON.stringify(config), ...files });

t.test('[3.mqtt-password-refused] a password needs its user', async (t) => {
  const mqtt = { url: 'mqtt://localhost', password_file: 'password' };
  t.same(problemsOf(t, { mqtt }, { password: 'x' }), [
    'config.json:1 mqtt.password_file needs mqtt.username; set it too',
  ]);
});

t.test('[3.mqtt-ca] authorities are read from a PEM file, and only for TLS', async (t) => {
  const of = (mqtt: object, ca: string) =>
    problemsOf(t, { mqtt: { ca: 'ca.pem', ...mqtt } }, { 'ca.pem': ca });
  t.same(of({ url: 'mqtts://broker' }, cert), []);
  t.same(of({ url: 'mqtt://broker' }, cert), [
    'config.json:1 mqtt.ca is used with TLS only; write mqtts:// in mqtt.url, or leave it out',
  ]);
  const why = 'config.json:1 mqtt.ca ca.pem:';
  t.same(of({}, 'x'), [`${why} contains no certificate in PEM form; name the certificate of the authority`]);
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  t.same(of({}, `${cert}\n${broken}`), [
    `${why} certificate 2 in it cannot be read; name the certificate of the authority`,
  ]);
});

t.test('[3.mqtt-plain] a password without TLS is warned of, but not on this machine', async (t) => {
  const noticesOf = (url: string) =>
    load(t, {
      'config.json': JSON.stringify({ mqtt: { url, username: 'pc', password_file: 'password' } }),
      password: 'x',
    }).notices;
  t.match(noticesOf('mqtt://broker.lan'), [{ level: 'warn', text: /unencrypted; use mqtts:/ }]);
  for (const url of ['mqtts://broker.lan', 'mqtt://localhost', 'mqtt://127.0.0.1:1883', 'mqtt://[::1]'])
    t.same(noticesOf(url), [], url);
});
