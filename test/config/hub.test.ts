/** `hub.agents` and the keys for dialling: what is accepted and rejected. */
import t from 'tap';
import { checkConfiguration } from '#src/cli/check.js';
import { json, load, makeFolder, optionsFor, writeFiles, yaml } from './loading.ts';

const URL = 'http://pc1.lan:9990';
const PIN = `sha256/${'A'.repeat(43)}=`;
const KEY = 'k'.repeat(40);

t.test('[8.hub] a map of ids to URLs, or to entries with more', async (t) => {
  const { config, origins } = load(t, {
    'config.yaml': `hub:
  agents:
    pc1: ${URL}
    pc-2:
      url: https://[2001:db8::1]
      pin: ${PIN}
      labels: {site: "Berlin, 2nd floor", role: web}
    constructor: {url: "http://192.0.2.1:80/"}
`,
    'config.json': `{"hub": {"agents": {"pc1": "${URL}", "tv": {"url": "${URL}"}}}}`,
  });
  t.same(Object.keys(config.hub.agents).sort(), ['constructor', 'pc-2', 'pc1', 'tv']);
  t.strictSame(config.hub.agents['pc1'], { url: URL, labels: {} }, 'two files may say the same');
  t.same(config.hub.agents['pc-2'], {
    url: 'https://[2001:db8::1]',
    pin: PIN,
    labels: { site: 'Berlin, 2nd floor', role: 'web' },
  });
  t.equal(config.hub.agents['toString'], undefined, 'no agent comes from a prototype');
  t.match(origins.get('hub.agents.pc-2'), /config\.yaml:4$/);
});

t.test('[8.hub-refused] a wrong agent stops the start, with its line', async (t) => {
  const expected =
    'expected http://HOST or https://HOST, with a port where it is not 80 or 443, and nothing after it, found a string (not shown)';
  const entry = (body: string) => `hub:\n  agents:\n    x:\n      url: "${URL}"\n      ${body}\n`;
  const whole = (body: string) => `hub:\n  agents:\n    x: ${body}\n`;
  const labels =
    'expected a map of at most 16 labels: names of 1 to 64 letters, digits, "_" and "-", texts of 1 to 64 characters';
  const cases: readonly (readonly [text: string, problem: string])[] = [
    ...[
      'pc1.lan',
      'ftp://pc1',
      'http://',
      'http://pc1/x',
      'http://u:p@pc1',
      'http://pc1:99999',
      'http://pc1?x',
    ].map((url): readonly [string, string] => [whole(`"${url}"`), `3 hub.agents.x ${expected}`]),
    [
      whole('5'),
      '3 hub.agents.x expected an http:// or https:// URL in quotes, or a map with the key url, found 5',
    ],
    [
      whole(`{pin: "${PIN}"}`),
      '3 hub.agents.x expected the key url, with an http:// or https:// URL, or dials_in',
    ],
    [entry('pin: abc'), '5 hub.agents.x.pin expected a pin, sha256/BASE64, found "abc"'],
    [entry(`pin: "${PIN}"`), '3 hub.agents.x pin is used with TLS only; write https:// in its url'],
    [entry('labels: [a]'), `5 hub.agents.x.labels ${labels}, found a list`],
    [entry('lables: {}'), '5 hub.agents.x.lables unknown key; did you mean labels?'],
    [
      `hub:\n  agents:\n    a.b: "${URL}"\n`,
      '3 hub.agents.a.b expected a name of 1 to 64 letters, digits, "_" or "-"',
    ],
    [
      'hub:\n  agents: []\n',
      '2 hub.agents expected a map of ids to URLs or {url, dials_in, key_file, pin, labels}, found a list',
    ],
    [`hub:\n  agent:\n    x: "${URL}"\n`, '2 hub.agent unknown key; did you mean hub.agents?'],
  ];
  for (const [text, problem] of cases) t.same(yaml(t, text), [`config.yaml:${problem}`], text);
  for (const wrong of ['{"a b": "x"}', '{"a": ""}', '{"a": 1}', `{"a": "${'x'.repeat(65)}"}`, '{"a": " x"}'])
    t.equal(json(t, `{"hub": {"agents": {"x": {"url": "${URL}", "labels": ${wrong}}}}}`).length, 1, wrong);
});

t.test('[8.hub-dial] an entry is for one direction, and says what it lacks', async (t) => {
  const entry = (body: string) => `hub:\n  agents:\n    x: {${body}}\n`;
  const cases: readonly (readonly [text: string, problem: string])[] = [
    [
      entry(`url: "${URL}", dials_in: true, key_file: k`),
      '3 hub.agents.x url and dials_in contradict each other; leave url out if the agent connects to this hub',
    ],
    [
      entry('dials_in: true'),
      '3 hub.agents.x dials_in needs key_file, with the key that "hostwire keygen" has made',
    ],
    [
      entry('dials_in: false'),
      '3 hub.agents.x expected the key url, or dials_in: true where the agent connects',
    ],
    [
      entry(`dials_in: true, key_file: k, pin: "${PIN}"`),
      '3 hub.agents.x pin belongs to url; an agent that dials in has the pin of this hub in hub.pin',
    ],
    [
      'hub: {url: ws://hub.lan}\n',
      '1 hub.url needs hub.key_file; "hostwire keygen" makes the key for that file',
    ],
  ];
  for (const [text, problem] of cases) t.same(yaml(t, text), [`config.yaml:${problem}`], text);
  for (const url of [
    'http://hub',
    'ws://',
    'ws://u:p@hub',
    'ws://hub/a?b',
    'ws://hub/a#b',
    'ws://hub:0',
    'hub',
  ])
    t.match(yaml(t, `hub: {url: "${url}"}`).join(), /hub\.url expected ws:\/\/HOST or wss:\/\/HOST/, url);
});

t.test('[8.hub-dial] the keys by which a service dials belong together', async (t) => {
  const folder = makeFolder(t);
  const write = (hub: object) => {
    writeFiles(folder, { 'config.json': JSON.stringify({ hub }), 'pc.key': KEY });
    // A problem of the configuration is an error.
    const { text: shown, exitCode } = checkConfiguration(optionsFor(folder));
    return { shown, exitCode };
  };
  const agent = { url: 'wss://hub.lan:9980/prefix', key_file: 'pc.key', pin: PIN };
  t.equal(write(agent).exitCode, 0);
  t.match(write({ key_file: 'pc.key' }).shown, /hub\.key_file: needs hub\.url; /);
  t.match(write({ ...agent, url: 'ws://hub.lan' }).shown, /hub\.pin: is used with TLS only/);
  const plain = { url: 'ws://hub.lan', key_file: 'pc.key' };
  t.match(write(plain).shown, /warn: hub\.url: all samples and all commands cross the network unencrypted/);
  t.notMatch(write({ ...plain, url: 'ws://127.0.0.1:9980' }).shown, /unencrypted/);
  const both = write({ ...agent, agents: { tv: URL } });
  t.match(both.shown, /hub\.pin: used by "hostwire run" only, hub\.agents by "hostwire hub" only/);
  t.equal(both.exitCode, 0, 'one file may serve both');
});
