import t, { type Test } from 'tap';
import { compileAccess } from '#src/access/decide.js';
import { loadConfig } from '#src/config/load.js';
import { catchProblems, type Files, makeFolder, optionsFor, writeFiles } from './loading.ts';

function prepare(t: Test, files: Files) {
  const folder = makeFolder(t);
  writeFiles(folder, files);
  return { folder, load: () => loadConfig(optionsFor(folder)) };
}

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
