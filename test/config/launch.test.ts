/** `processes.launch`: the apps that are accepted and rejected. */
import t from 'tap';
import { json, load, problemsOf, yaml } from './loading.ts';

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

t.test('[8.launch-refused] a wrong app stops the start, with its line', async (t) => {
  const app = (body: string) => `processes:\n  launch:\n    x:\n      command: /x\n      ${body}\n`;
  const cases: readonly (readonly [string, string])[] = [
    ['args: [1]', '5 processes.launch.x.args[0] expected a string, in quotes, found 1'],
    ['args: x', '5 processes.launch.x.args expected a list of strings, found "x"'],
    ['args: ["a\\0b"]', '5 processes.launch.x.args[0] expected a list of strings, found "a\\u0000b"'],
    ['cwd: tmp', '5 processes.launch.x.cwd expected an absolute path, found "tmp"'],
    ...[
      ...['{A: 1}', '{constructor: 1}', '{1A: a}', '{"A=B": a}', '{"": a}', '{A: "a\\0b"}'].map((map) => [
        map,
        'map',
      ]),
      ...[
        ['[A]', 'list'],
        ['hunter2', 'string'],
      ],
    ].map(
      ([env, kind]) =>
        [
          `env: ${env}`,
          `5 processes.launch.x.env expected a map of variable names to strings, found a ${kind} (not shown)`,
        ] as const,
    ),
    ['allow_args: 1', '5 processes.launch.x.allow_args expected true or false, found 1'],
    ['alow_args: true', '5 processes.launch.x.alow_args unknown key; did you mean allow_args?'],
    ['argz: []', '5 processes.launch.x.argz unknown key; did you mean args?'],
    ['command: /y', '5 processes.launch.x.command set twice; first in line 4'],
  ];
  for (const [body, problem] of cases) t.same(yaml(t, app(body)), [`config.yaml:${problem}`], body);
  t.same(
    json(
      t,
      '{"processes": {"launch": {\n"x": {},\n"y": "/y",\n"z": {"command": "z"},\n"w": {"command": "/a\\u0000b"}}}}',
    ),
    [
      'config.json:2 processes.launch.x expected the key command, with an absolute path',
      'config.json:3 processes.launch.y expected a map with the key command, found "/y"',
      'config.json:4 processes.launch.z.command expected an absolute path, found "z"',
      'config.json:5 processes.launch.w.command expected an absolute path, found "/a\\u0000b"',
    ],
  );
});

t.test('[8.launch-unknown] an unknown key that resembles no known one is a warning', async (t) => {
  const { config, unknownKeys } = load(t, {
    'config.yaml': 'processes:\n  launch:\n    x: {command: /x, icon: y}',
  });
  t.match(unknownKeys, [{ key: 'processes.launch.x.icon', line: 3, message: /^unknown key, ignored; / }]);
  t.equal(config.processes.launch['x']?.command, '/x');
  t.match(load(t, { 'config.yaml': 'processes: {colour: 1}' }).unknownKeys, [{ key: 'processes.colour' }]);
});

t.test('[8.launch-name] names have 1 to 64 letters, digits, _ . -', async (t) => {
  for (const name of ['', 'a b', 'a/b', 'é', 'n'.repeat(65), 'a\n']) {
    const problems = problemsOf(t, {
      'config.json': JSON.stringify({ processes: { launch: { [name]: { command: '/x' } } } }),
    });
    t.match(
      problems,
      [{ line: 1, message: 'expected a name of 1 to 64 letters, digits, "_", "." or "-"' }],
      JSON.stringify(name),
    );
  }
});
