/** `hub.agents` and the keys for dialling: what is accepted and rejected. */
import t from 'tap';
import { checkConfiguration } from '#src/cli/check.js';
import { load, makeFolder, optionsFor, writeFiles } from './loading.ts';

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
