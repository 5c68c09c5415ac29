/** `hub.commands`: the rules that are accepted and refused. */
import t from 'tap';
import { load, yaml } from './loading.ts';

t.test('[8.hub-commands] a map of names to rules', async (t) => {
  const { config, origins } = load(t, {
    'config.yaml': `hub:
  commands:
    living-room:
      commands: [media.*, power.sleep]
      clients: [192.168.1.0/24, "2001:db8::/32"]
      hosts: [tv, desk]
      labels: {site: berlin}
    admins: {commands: ["*"], keys: [default]}
`,
    'config.json': '{"hub": {"commands": {"lock": {"commands": ["power.lock"]}}}}',
  });
  t.same(Object.keys(config.hub.commands).sort(), ['admins', 'living-room', 'lock']);
  t.same(config.hub.commands['living-room'], {
    commands: ['media.*', 'power.sleep'],
    clients: ['192.168.1.0/24', '2001:db8::/32'],
    hosts: ['tv', 'desk'],
    labels: { site: 'berlin' },
  });
  t.same(config.hub.commands['lock'], { commands: ['power.lock'], labels: {} });
  t.match(origins.get('hub.commands.admins'), /config\.yaml:8$/);
  t.equal(Object.keys(load(t, {}).config.hub.commands).length, 0, 'nothing is allowed by default');
});

t.test('[8.hub-commands] a wrong rule stops the start, with its line', async (t) => {
  const entry = (body: string) => `hub:\n  commands:\n    x:\n      commands: ["*"]\n      ${body}\n`;
  const whole = (body: string) => `hub:\n  commands:\n    x: ${body}\n`;
  for (const text of [
    whole('"*"'),
    whole('{}'),
    whole('{clients: [192.0.2.1]}'),
    whole('{commands: []}'),
    whole('{commands: "*"}'),
    whole('{commands: [media]}'),
    whole('{commands: ["media.Play"]}'),
    whole('{commands: ["*.play"]}'),
    entry('clients: []'),
    entry('clients: [pc.lan]'),
    entry('clients: ["*"]'),
    entry('clients: [192.0.2.0/33]'),
    entry('hosts: []'),
    entry('hosts: ["a b"]'),
    entry('keys: [""]'),
    entry('labels: [a]'),
    entry('host: [a]'),
  ])
    t.match(yaml(t, text), [/^config\.yaml:[345] hub\.commands\.x/], text);
});

t.test('[8.hub-commands] a name that no key has is a warning', async (t) => {
  const warningsOf = (auth: string, keys: string) =>
    load(t, { 'config.yaml': `${auth}hub:\n  commands:\n    x: {commands: ["*"], keys: [${keys}]}\n` })
      .notices.filter(({ level }) => level === 'warn')
      .map(({ text }) => text.replace(/^.*config\.yaml/u, ''));
  const digest = `sha256/${'A'.repeat(43)}=`;
  const auth = `auth:\n  enabled: true\n  keys:\n    phone: {digest: "${digest}", scopes: [read]}\n`;
  t.same(warningsOf(auth, 'phone'), []);
  t.same(warningsOf(auth, 'phnoe, tv'), [
    ':7: hub.commands.x.keys: auth.keys has no key "phnoe", so this rule allows no client with it; did you mean phone?',
    ':7: hub.commands.x.keys: auth.keys has no key "tv", so this rule allows no client with it; "hostwire pair" or "hostwire keygen" makes one',
  ]);
  const [message = ''] = warningsOf('', 'default');
  t.match(message, /auth\.api_key is not set, so this rule allows no client with it; "hostwire pair"/);
  t.same(warningsOf(`auth: {enabled: true, api_key: ${'k'.repeat(32)}}\n`, 'default'), []);
});
