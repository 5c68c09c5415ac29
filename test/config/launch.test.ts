/** `processes.launch`: the apps that are accepted and rejected. */
import t from 'tap';
import { load } from './loading.ts';

t.test('[8.launch] a map of names to apps', async (t) => {
  const { config, origins } = load(t, {
    'config.yaml': `processes:
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
  });
  t.same(Object.keys(config.processes.launch), ['term', 'constructor', 'a.b_c-9', 'n'.repeat(64)]);
  t.same(config.processes.launch['term'], {
    command: '/usr/bin/foot',
    args: ['-e', 'top'],
    cwd: '/tmp',
    env: { TERM: 'foot', _x1: '' },
    allow_args: true,
  });
  t.strictSame(config.processes.launch['constructor'], {
    command: '/bin/true',
    args: [],
    env: {},
    allow_args: false,
  });
  t.notOk('cwd' in (config.processes.launch['constructor'] ?? {}));
  t.match(origins.get('processes.launch.a.b_c-9'), /config\.yaml:10$/);
  t.equal(origins.get('processes.launch'), 'default');
});
