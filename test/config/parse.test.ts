/** The parsers: strict JSON, YAML's core schema, and the line of every value. */
import { load as loadYaml } from 'js-yaml';
import t from 'tap';
import { createLineFinder, MAX_DEPTH, type Parsed, parse } from '#src/config/sources/parse.js';
import { json, load, problemsOf, yaml } from './loading.ts';

const parseJson = (text: string) => parse(text, 'JSON');
const parseYaml = (text: string) => parse(text, 'YAML');

t.test('[8.json-strict] the parser accepts exactly what JSON.parse accepts', async (t) => {
  const texts = [
    '{}',
    '[]',
    '{"a":1}',
    ' { "a" : [ 1 , 2 ] } ',
    '{"a":-0.5e+10}',
    '{"a":1E5}',
    '"\\u0041\\n\\"\\\\\\/"',
    '"\ud800"',
    '"\\ud83d\\ude00"',
    'true',
    'null',
    '-0',
    '0.10',
    '{"":{"":[]}}',
    '[[],[[]]]',
    '"\u2028"',
    '\t\r\n{}',
    '{"a":1,}',
    '[1,]',
    '{,}',
    '[,]',
    '{a:1}',
    "{'a':1}",
    '{"a" 1}',
    '{"a":}',
    '{"a"}',
    '{"a":1 "b":2}',
    '[1 2]',
    '{"a":1}}',
    '[1]]',
    '{} x',
    '01',
    '+1',
    '.5',
    '1.',
    '1e',
    '0x10',
    '-',
    'NaN',
    'Infinity',
    'True',
    'nul',
    'truee',
    'undefined',
    '"a',
    '"\\x41"',
    '"\\u00g0"',
    '"\t"',
    '"\n"',
    '"\u0000"',
    '{"a":1/*x*/}',
    '// x\n{}',
    '# x\n{}',
    '{"a":[1,{"b":2}',
    '{',
    '[',
    '"',
    '{"a":"b"',
    '\u00a0{}',
    '{}\ufeff',
    '[1]\v',
    '{"a":1,"a":2}',
    '["\\"]',
    '"\\',
    '[1,\n2',
  ];
  for (const [index, text] of texts.entries()) {
    // TAP cannot escape some of these texts.
    const name = `text ${index}: ${text.replace(/[^ -~]/g, '.')}`;
    let expected: unknown;
    let isJson = true;
    try {
      expected = JSON.parse(text);
    } catch {
      isJson = false;
    }
    const { value, problems } = parseJson(text);
    const isTwice = text === '{"a":1,"a":2}';
    t.equal(problems.length, isJson && !isTwice ? 0 : 1, name);
    t.same(value, expected, name);
  }
});

t.test('[8.json-lines] a JSON error names its line and the key it is at, and quotes nothing', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    [
      '{\n "auth": {\n  "api_key": "hunter2\n }\n}',
      'config.json:3 auth.api_key not JSON: a string is not closed, or contains a bad escape or a control character; write \\\\ for a backslash',
    ],
    ['{\n "auth": {\n  "enabled": tru\n }\n}', 'config.json:3 auth.enabled not JSON: expected a value'],
    [
      '{\r\n "auth": {\r\n  "enabled": true,\r\n }\r\n}',
      'config.json:4 auth not JSON: expected a key in double quotes; remove the comma before it',
    ],
    ['{"a": {"b": 1}, "c" 1}', "config.json:1 c not JSON: expected ':' after the key"],
    ['{"a": 1\n"b": 2}', "config.json:2 - not JSON: expected ',' or '}'"],
    ['{"a": [1\n 2]}', "config.json:2 a not JSON: expected ',' or ']'"],
    [
      '{"a": 1,\n // hunter2\n "b": 2}',
      'config.json:2 - not JSON: expected a key in double quotes; JSON has no comments, YAML has',
    ],
    ['# hunter2\n{}', 'config.json:1 - not JSON: expected a value; JSON has no comments, YAML has'],
    [
      '{}\n/* hunter2 */',
      'config.json:2 - not JSON: expected the end of the file after the closing bracket; JSON has no comments, YAML has',
    ],
    ['{"a": 1 /', "config.json:1 - not JSON: expected ',' or '}'"],
    ['{} {}', 'config.json:1 - not JSON: expected the end of the file after the closing bracket'],
    ['{"a":\n', 'config.json:2 a not JSON: the text ends too early; close its brackets'],
  ];
  for (const [text, problem] of cases) t.same(json(t, text), [problem], JSON.stringify(text));
});

t.test('[8.depth] a text that is nested too deeply is rejected and does not crash', async (t) => {
  const jsonAt = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  t.same(parseJson(jsonAt(MAX_DEPTH - 1)).problems, []);
  t.match(parseJson(jsonAt(MAX_DEPTH)).problems, [
    { line: 1, message: /^not JSON: nesting exceeded .*; no key is deeper than 6 levels$/ },
  ]);
  t.same(parseJson(`[${Array(100).fill('[]').join(',')}]`).problems, [], 'siblings are not depth');
  t.same(parseYaml(`[${Array(100).fill('[]').join(',')}]`).problems, []);
  for (const text of ['['.repeat(60_000), '{"a":'.repeat(12_000), '- '.repeat(30_000), '{'.repeat(60_000)]) {
    t.equal(json(t, text).length, 1);
    t.equal(yaml(t, text).length, 1);
  }
});

t.test('[8.yaml-core] YAML is read by the core schema', async (t) => {
  const { value, problems } = parseYaml(
    'a: yes\nb: 0o17\nc: 0x1F\nd: ~\ne: "1"\nf: 1_000\ng: 2001-01-01\nh: |\n  x\n  y\ni: [1.5, -.inf, null]\nj: !!str 5\nk: !!map {x: 1}\nl: on\nm: TRUE\n"n": \'o\'\n? p\n: q\nr: 012\ns: !!seq\n- !!int "7"\n',
  );
  t.same(problems, []);
  t.same(value, {
    a: 'yes',
    b: 15,
    c: 31,
    d: null,
    e: '1',
    f: '1_000',
    g: '2001-01-01',
    h: 'x\ny\n',
    i: [1.5, Number.NEGATIVE_INFINITY, null],
    j: '5',
    k: { x: 1 },
    l: 'on',
    m: true,
    n: 'o',
    p: 'q',
    r: 12,
    s: [7],
  });
});

t.test('[8.yaml-core] a scalar is read as js-yaml reads it by the core schema', async (t) => {
  const scalars = [
    '1',
    '-1',
    '+1',
    '1.',
    '.5',
    '1e3',
    '-.INF',
    '.NaN',
    '0x1f',
    '0X1F',
    '0o7',
    '0b1',
    '010',
    '1_0',
    '~',
    'null',
    'NULL',
    'nULL',
    'true',
    'True',
    'tRUE',
    'FALSE',
    'yes',
    'off',
    '12:30:45',
    '=',
    "''",
    '""',
    "'1'",
    '"true"',
    '|-\n 5',
    '>-\n null',
  ];
  for (const scalar of scalars) {
    const text = `a: ${scalar}\n`;
    const { value, problems } = parseYaml(text);
    t.same(problems, []);
    t.strictSame(value, Object.assign(Object.create(null), loadYaml(text)), scalar.replace('\n', ' '));
  }
});

t.test('[8.yaml-refused] no aliases, anchors, merge keys, foreign tags or further documents', async (t) => {
  const alias = 'aliases (*name) are not allowed; quote a text that starts with *';
  const anchor = 'anchors (&name) are not allowed; quote a text that starts with &';
  const tag = "expected a value of YAML's core schema; quote a text that starts with !";
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['x1: &hunter2\n  {}\ny1: *hunter2\n', [`1 x1 ${anchor}`, `3 y1 ${alias}`]],
    ['auth:\n  api_key: *hunter2\n', [`2 auth.api_key ${alias}`]],
    ['auth:\n  enabled: &hunter2 true\n', [`2 auth.enabled ${anchor}`]],
    ['auth: &a {}\n', [`1 auth ${anchor}`]],
    [
      'auth:\n  allowed_ips: &a [x]\n',
      [
        `2 auth.allowed_ips ${anchor}`,
        '2 auth.allowed_ips[0] not an address; expected four decimal parts without leading zeros, or IPv6, found "x"',
      ],
    ],
    ['&a foo: 1\n', [`1 - ${anchor}`]],
    ['features:\n  <<: {enable_sleep: true}\n', ['2 features.<< merge keys (<<) are not allowed']],
    ['auth:\n  api_key: !hunter2 x\n', [`2 auth.api_key ${tag}`]],
    ['auth: !hunter2 {}\n', [`1 auth ${tag}`]],
    ['foo: !hunter2 [1]\n', [`1 foo ${tag}`]],
    ['foo: !!binary aGk=\n', [`1 foo ${tag}`]],
    ['foo: !!map\n', [`1 foo ${tag}`]],
    ['foo: !!int x\n', [`1 foo ${tag}`]],
    ['features: {}\n---\nauth: {}\n', ['2 - expected one document, found another']],
    ['---\nfeatures:\n  {}\n---\n', ['4 - expected one document, found another']],
    ['---\n---\n', ['2 - expected one document, found another']],
    ['features: {}\n...\nlog: {}\n', ['2 - expected one document, found another']],
    [
      '? [a]\n: 1\nfeatures: {enable_sleep: 1}\n',
      ['1 - expected a word as the key', '3 features.enable_sleep expected true or false, found 1'],
    ],
    ['? {a: b}\n: {c: d}\n', ['1 - expected a word as the key']],
  ];
  for (const [text, expected] of cases) {
    const found = yaml(t, text).filter((line) => !line.includes('unknown key'));
    t.same(
      found,
      expected.map((line) => `config.yaml:${line}`),
      text,
    );
    t.notMatch(found.join(), 'hunter2');
  }
  t.same(
    load(t, { 'config.yaml': '%YAML 1.2\n---\nlog: {level: warn}\n...\n' }).config.log.level,
    'warn',
    'one document with its marks',
  );
});

t.test(
  '[8.yaml-lines] a YAML error names its line and the nearest known key, and quotes nothing',
  async (t) => {
    const cases: readonly (readonly [string, string, number])[] = [
      ['auth:\n  enabled: [true\n', 'auth.enabled', 2],
      ['auth:\n  enabled: [true\nlog: {}\n', 'auth.enabled', 2],
      ['auth:\n  api_key: "hunter2\n', 'auth.api_key', 2],
      ['auth:\n  api_key: !hunter2^ x\n', 'auth.api_key', 2],
      ['auth:\n  api_key: !hunter2!x y\n', 'auth.api_key', 2],
      ['auth:\n\tenabled: true\n', 'auth.enabled', 2],
      ['features:\n  enable_sleep: true\n   enable_media: true\n', 'features.enable_media', 3],
      ['foo:\n  hunter2: [\n', '-', 2],
      ['features:\n  hunter2: [\n', 'features', 2],
      ['features: {enable_sleep: tr}ue\n', 'features', 1],
      ['hunter2\nhunter2: [', '-', 2],
    ];
    for (const [text, key, line] of cases) {
      const problems = problemsOf(t, { 'config.yaml': text });
      t.match(problems, [{ message: /^not YAML: ./ }], text);
      t.equal(problems[0]?.key ?? '-', key, text);
      t.equal(problems[0]?.line, line, text);
      t.equal(problems.length, 1);
      t.notMatch(JSON.stringify(problems), 'hunter2', text);
    }
  },
);

t.test('[8.yaml-lines] the line that is to blame, and what to do about it', async (t) => {
  const notClosed = (mark: string, end = mark) => `a ${mark} is not closed; add a ${end} where it ends`;
  const quotes = 'the value continues where none is expected; quote all of it';
  const indent = 'indent the keys of one section alike, below their section';
  const noColon = 'the line has no colon; write "key: value", with a colon and a space';
  const cases: readonly (readonly [text: string, line: number, message: string])[] = [
    ['auth:\n  allowed_ips: ["10.0.0.1"\n  enabled: true\nserver: {}\n', 2, notClosed('[', ']')],
    ['auth:\n  allowed_ips: [x,\n  y,\n  z\nlog: {}\n', 2, notClosed('[', ']')],
    ['server: {port: 8080\nlog:\n  level: info\n', 1, notClosed('{', '}')],
    ['server: {tls: {port: 1}\nlog:\n  level: info\n', 1, notClosed('{', '}')],
    ['server:\n  host: "a\\"\n  port: 1\n', 2, notClosed('"')],
    ["server:\n  host: 'it''s\n  port: 1\n", 2, notClosed("'")],
    ["a: don't\nb: [x # ]\nc: 1\n", 2, notClosed('[', ']')],
    ['a: "[" # {\nb: [\n', 2, notClosed('[', ']')],
    ['a: b: c\n', 1, quotes],
    ['a: @b\n', 1, quotes],
    ['a: "b" c\n', 1, quotes],
    ['server:\n  port: 1\n   host: a\n', 3, `bad indentation of a mapping entry; ${indent}`],
    ['server:\n    port: 1\n  host: a\n', 3, `bad indentation of a mapping entry; ${indent}`],
    ['server:\n\tport: 1\n', 2, 'tab characters must not be used in indentation; use spaces'],
    ['server:\n  port: 1\n  host\n', 3, noColon],
    ['server:\n  port: 1\n  host\n  x: 2\n', 3, noColon],
    ['a: [b, "c" d]\n', 1, 'missed comma between flow collection entries; write a comma between two entries'],
    [
      'a:\n  - *\n',
      2,
      'name of an alias node must contain at least one character; quote a text that starts with *',
    ],
  ];
  for (const [text, line, message] of cases)
    t.match(parseYaml(text).problems, [{ line, message: `not YAML: ${message}` }], text);
});

t.test('[8.duplicate-key] a key that is set twice in one file stops the start', async (t) => {
  t.same(yaml(t, 'log:\n  level: info\nlog:\n  level: info\n'), [
    'config.yaml:3 log set twice; first in line 1',
  ]);
  t.same(json(t, '{"log":{"level":"info",\n"level":"info",\n"level":"warn"}}'), [
    'config.json:2 log.level set twice; first in line 1',
    'config.json:3 log.level set twice; first in line 1',
  ]);
  t.same(
    json(t, '{"log":{"level":"info",\n"\\u006cevel":"info"}}'),
    ['config.json:2 log.level set twice; first in line 1'],
    'however it is spelt',
  );
  t.same(
    json(t, '{"xyzzy":[{"a":1,"a":2}]}'),
    ['config.json:1 xyzzy[0].a set twice; first in line 1'],
    'also where nothing is read',
  );
});

t.test('[8.proto] __proto__ stops the start at any level, in both spellings', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['{"__proto__": {"auth": 1}}', '__proto__'],
    ['{"auth": {"__proto__": {"enabled": true}}}', 'auth.__proto__'],
    ['{"features": {"__proto__": true}}', 'features.__proto__'],
    ['{"processes": {"launch": {"__proto__": {"command": "/x"}}}}', 'processes.launch.__proto__'],
    ['{"processes": {"launch": {"x": {"command": "/x", "__proto__": 1}}}}', 'processes.launch.x.__proto__'],
    [
      '{"processes": {"launch": {"x": {"command": "/x", "env": {"A": "a"}, "args": [], "\\u005f_proto__": 1}}}}',
      'processes.launch.x.__proto__',
    ],
    ['{"xyzzy": [{"deep": {"__proto__": 1}}]}', 'xyzzy[0].deep.__proto__'],
  ];
  for (const [text, key] of cases) {
    t.same(json(t, text), [`config.json:1 ${key} is not allowed as a key`], text);
    t.same(yaml(t, text), [`config.yaml:1 ${key} is not allowed as a key`], text);
  }
  t.equal(({} as { enabled?: unknown }).enabled, undefined);
});

t.test('[8.not-a-map] the top level is a map of sections', async (t) => {
  const message =
    'expected a map of stats, auth, features, server, discovery, power, processes, history, mqtt, wake, hub, watch, host, log, found';
  t.same(yaml(t, '# x\n- a\n'), [`config.yaml:2 - ${message} a list`]);
  t.same(json(t, '\n"x"'), [`config.json:2 - ${message} a string`]);
  t.same(json(t, '3'), [`config.json:1 - ${message} a number`]);
  t.same(yaml(t, 'null\n'), [`config.yaml:1 - ${message} nothing`]);
  t.same(yaml(t, 'true\n'), [`config.yaml:1 - ${message} true or false`]);
});

t.test('[8.empty-file] an empty file has no keys', async (t) => {
  for (const text of ['', ' \n\t\r\n', '\ufeff', '\ufeff\n']) t.same(json(t, text), [], JSON.stringify(text));
  for (const text of ['', '\n', '# only a comment\n', '---\n', '---\n...\n', '\ufeff'])
    t.same(yaml(t, text), [], JSON.stringify(text));
});

t.test('lines end with CR, LF or CRLF', async (t) => {
  const lineOf = createLineFinder('a\nb\r\nc\rd\n');
  t.same([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 50].map(lineOf), [1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5]);
  const linesOf = ({ lines }: Parsed) =>
    Object.fromEntries([...lines].map(([key, line]) => [key.replaceAll('\0', '.'), line]));
  const expected = { '': 1, a: 1, 'a.b': 2, 'a.c': 4, 'a.c[0]': 5, 'a.c[1]': 6 };
  t.strictSame(linesOf(parseJson('{"a":\n{"b":\n1,\n"c":[\n1,\n2]}}')), expected);
  t.strictSame(linesOf(parseYaml('a:\n  b:\n    1\n  c:\n    - 1\n    - 2\n')), expected);
  const missing = { '': 1, a: 1, 'a.b': 2, c: 4, 'c[0]': 5 };
  t.strictSame(linesOf(parseYaml('a:\n  b:\n\nc:\n-\n')), missing);
});

t.test('[8.size] a text of tags costs no more than another', async (t) => {
  const began = performance.now();
  const { problems } = parseYaml(`a: [${'!x b,'.repeat(10_000)}]`);
  t.equal(problems.length, 100);
  t.ok(performance.now() - began < 5000, 'it took 12 s');
});
