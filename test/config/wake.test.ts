/** `wake.hosts`: the machines that are accepted and rejected. */
import t from 'tap';
import { checkConfiguration } from '#src/cli/check.js';
import { load, makeFolder, optionsFor, writeFiles } from './loading.ts';

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
