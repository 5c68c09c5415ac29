/** Lists of a configuration: the messages about their entries, and that the gate understands every accepted one. */
import path from 'node:path';
import t, { type Test } from 'tap';
import { compileAccess } from '#src/access/decide.js';
import { loadConfig } from '#src/config/load.js';
import { catchProblems, type Files, makeFolder, optionsFor, writeFiles } from './loading.ts';

function prepare(t: Test, files: Files) {
  const folder = makeFolder(t);
  writeFiles(folder, files);
  return { folder, load: () => loadConfig(optionsFor(folder)) };
}

const NOT_AN_ADDRESS = 'not an address; expected four decimal parts without leading zeros, or IPv6';

t.test('[1.addresses-bad-entry] a bad entry stops the start with file, line, key and value', async (t) => {
  const lines = [
    'auth:',
    '  allowed_ips:',
    '    - "*"',
    '    - 10.0.0.0/8',
    '    - 192.168.1',
    '    - 010.0.0.1',
    '  blocked_ips: ["*", "fe80::1%eth0"]',
    'server:',
    '  trusted_proxies:',
    '    - 10.0.0.1/33',
  ];
  const { folder, load } = prepare(t, { 'config.yaml': lines.join('\n') });
  const file = path.join(folder, 'config.yaml');
  t.same(catchProblems(load), [
    {
      file,
      line: 5,
      key: 'auth.allowed_ips[2]',
      value: '"192.168.1"',
      message: `${NOT_AN_ADDRESS}, found "192.168.1"`,
    },
    {
      file,
      line: 6,
      key: 'auth.allowed_ips[3]',
      value: '"010.0.0.1"',
      message: `${NOT_AN_ADDRESS}, found "010.0.0.1"`,
    },
    {
      file,
      line: 7,
      key: 'auth.blocked_ips[0]',
      value: '"*"',
      message: '"*" is for the allow list only; list addresses and ranges here',
    },
    {
      file,
      line: 7,
      key: 'auth.blocked_ips[1]',
      value: '"fe80::1%eth0"',
      message: 'a zone id cannot be listed, found "fe80::1%eth0"',
    },
    {
      file,
      line: 10,
      key: 'server.trusted_proxies[0]',
      value: '"10.0.0.1/33"',
      message: 'the prefix must be a number from 0 to 32, found "10.0.0.1/33"',
    },
  ]);
});

t.test(
  '[1.addresses-host-bits] [1.addresses-zero-prefix] are reported once, with file and line',
  async (t) => {
    const { folder, load } = prepare(t, {
      'config.json':
        '{"auth": {"enabled": true,\n"allowed_ips": ["10.1.2.3/8"],\n"blocked_ips": ["::1/64"]},\n"server": {"trusted_proxies": ["10.0.0.1/9"]}}',
      'config.yaml': 'auth:\n  api_key: 0123456789abcdef0123456789abcdef\n',
    });
    const { notices, config } = load();
    const place = (line: number) => `warn: ${path.join(folder, 'config.json')}:${line}: `;
    t.same(
      notices.map(({ level, text }) => `${level}: ${text}`),
      [
        `${place(2)}auth.allowed_ips: 10.1.2.3/8 has bits set beyond its prefix; read as 10.0.0.0/8`,
        `${place(3)}auth.blocked_ips: ::1/64 has bits set beyond its prefix; read as ::/64`,
        `${place(4)}server.trusted_proxies: 10.0.0.1/9 has bits set beyond its prefix; read as 10.0.0.0/9`,
      ],
    );
    t.same(config.auth.allowed_ips.entries, ['10.1.2.3/8'], 'the entry is kept as it was written');
    const zero = prepare(t, {
      'config.yaml': `auth: {enabled: true, api_key: ${'k'.repeat(32)}, allowed_ips: ["0.0.0.0/0", "::/0"]}`,
    });
    t.same(
      zero.load().notices.map(({ text }) => text.replace(`${zero.folder}/`, '')),
      [
        'config.yaml:1: auth.allowed_ips: 0.0.0.0/0 in the allow list admits every IPv4 client without the key; "*" admits every client that has it',
        'config.yaml:1: auth.allowed_ips: ::/0 in the allow list admits every IPv6 client without the key; "*" admits every client that has it',
      ],
    );
  },
);

t.test('[8.lists-understood] every name and origin is rejected here or understood by the gate', async (t) => {
  const hosts = [
    'pc',
    'PC.Example.org.',
    'my_pc.lan',
    'a..b',
    'a.',
    'a..',
    '-a',
    'a-',
    'a.-b',
    '1.2.3.4',
    `${'a'.repeat(63)}.org`,
    `${'a'.repeat(64)}.org`,
    `${'a.'.repeat(127)}b`,
    'é.org',
  ];
  const origins = [
    'https://pc.example',
    'https://*.example.org',
    'https://*',
    'http://[::1]:9990',
    'app://obsidian.md',
    'app://a%20b',
    'app://a!b',
    'chrome-extension://abcdefgh',
    'http://xn--bcher-kva.example',
  ];
  const taken: string[] = [];
  const check = (key: 'allowed_hosts' | 'cors_origins', entry: string) => {
    const { load } = prepare(t, { 'config.json': JSON.stringify({ server: { [key]: [entry] } }) });
    if (catchProblems(load).length > 0) return;
    taken.push(entry);
    const { guard } = compileAccess(load().config, []);
    t.equal((key === 'allowed_hosts' ? guard.hosts : guard.origins).size, 1, entry);
  };
  for (const host of hosts) check('allowed_hosts', host);
  for (const origin of origins) check('cors_origins', origin);
  t.same(taken, [
    'pc',
    'PC.Example.org.',
    'my_pc.lan',
    'a.',
    'a.-b',
    '1.2.3.4',
    `${'a'.repeat(63)}.org`,
    'https://pc.example',
    'http://[::1]:9990',
    'app://obsidian.md',
    'chrome-extension://abcdefgh',
    'http://xn--bcher-kva.example',
  ]);
});
