/** The parsers: strict JSON, YAML's core schema, and the line of every value. */
import t from 'tap';
import { createLineFinder, MAX_DEPTH, type Parsed, parse } from '#src/config/sources/parse.js';
import { json, yaml } from './loading.ts';

const parseJson = (text: string) => parse(text, 'JSON');
const parseYaml = (text: string) => parse(text, 'YAML');

t.test('[8.depth] a text that is nested too deeply is rejected and does not crash', async (t) => {
  const jsonAt = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  t.same(parseJson(jsonAt(MAX_DEPTH - 1)).problems, []);
  t.match(parseJson(jsonAt(MAX_DEPTH)).problems, [
    { line: 1, message: /^not JSON: nesting exceeded .*; no key is deeper than 6 levels$/ },
  ]);
  t.same(parseJson(`[${Array(100).fill('[]').join(',')}]`).problems, [], 'siblings are not depth');
  t.same(parseYaml(`[${Array(100).fill('[]').join(',')}]`).problems, []);
  for (const text of ['['.repeat(60_000), '{"a":'.repeat(12_000), '- '.repeat(30_000), '{'.repeat(60_000)]) {
    const [problem = ''] = json(t, text);
    t.match(problem, /not JSON: (?:nested too deeply; no key is deeper than 6 levels|expected )/);
    t.ok(problem.length < 500, 'and names few keys');
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
