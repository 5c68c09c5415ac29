/** hub.example.yaml: valid as it is, and with each of its comments removed. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { loadConfig } from '#src/config/load.js';
import { makePair } from '../helpers/certificates.ts';
import { load, makeFolder, optionsFor, writeFiles } from './loading.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const TEXT = readFileSync(path.join(ROOT, 'hub.example.yaml'), 'utf8');
const KEY = 'k'.repeat(40);

t.test('[8.hub-example] as it is: a hub on port 9980 without machines', async (t) => {
  const { config, notices, unknownKeys } = load(t, { 'config.yaml': TEXT }, { role: 'hub' });
  t.same(notices, []);
  t.same(unknownKeys, []);
  t.equal(config.server.port, 9980);
  t.strictSame({ ...config.server, port: 9990 }, DEFAULT_CONFIG.server);
  t.strictSame(config.hub, DEFAULT_CONFIG.hub);
  t.strictSame(config.auth, DEFAULT_CONFIG.auth);
});

t.test('[8.hub-example] each line that is commented out has a known key', async (t) => {
  const folder = makeFolder(t);
  const { cert } = await makePair();
  // Keys are words in lower case before a colon; no sentence begins like that.
  const edited = TEXT.replace(/^( *)# ( *[a-z_-]+:( .*)?)$/gm, '$1$2');
  const keys = ['hub.key', 'nas.key', 'hub1.key'].map((name) => [name, KEY] as const);
  writeFiles(folder, { 'config.yaml': edited, ...Object.fromEntries(keys), 'broker-ca.pem': cert });
  const { config, notices, unknownKeys } = loadConfig(optionsFor(folder, { role: 'hub' }));
  t.same(notices, []);
  t.same(unknownKeys, []);
  t.equal(config.auth.enabled, true);
  t.same(Object.keys(config.hub.agents).sort(), ['desk', 'nas']);
  t.same(config.hub.agents['nas']?.labels, { site: 'berlin' });
  t.match(config.hub.brokers['room'], { url: 'mqtts://broker.lan', username: 'hub1' });
  t.same(Object.keys(config.hub.commands), ['living-room']);
  t.equal(config.server.host, '127.0.0.1');
  t.same(edited.match(/^ *# *[a-z_-]+:.*$/gm) ?? [], [], 'no key is left commented out');
});

t.test('[8.hub-example] the hubs of packaging/compose', async (t) => {
  const { cert } = await makePair();
  const hubs = [
    ['mosquitto', 'hub', 'hub1'],
    ['nats', 'hub1', 'hub1'],
    ['nats', 'hub2', 'hub2'],
  ] as const;
  for (const [name, file, username] of hubs) {
    const folder = makeFolder(t);
    const text = readFileSync(path.join(ROOT, 'packaging/compose', name, `${file}.yaml`), 'utf8');
    writeFiles(folder, { 'config.yaml': text, 'viewers.key': KEY, [`${username}.key`]: KEY, 'ca.pem': cert });
    const variables = { XDG_CONFIG_HOME: path.dirname(folder), HOSTWIRE_SERVER_PORT: '9980' };
    const { config, notices, unknownKeys } = loadConfig(
      optionsFor(folder, { surroundings: { platform: 'linux', cwd: folder, variables }, role: 'hub' }),
    );
    t.same(notices, []);
    t.same(unknownKeys, []);
    t.equal(config.server.port, 9980);
    t.match(Object.values(config.hub.brokers), [{ username, password_file: { secret: KEY } }]);
    t.equal(config.auth.enabled, true);
  }
});
