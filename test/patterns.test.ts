/** Every regular expression of the sources has a row, and those that peers reach take linear time, whatever the peers send. */
import t from 'tap';
import { attacksOn } from './patterns/attacks.ts';
import { Judge } from './patterns/judge.ts';
import { ROWS, type Row } from './patterns/rows.ts';
import { allPatterns, patternOf, patternsIn } from './patterns/sources.ts';

const nameOf = ({ file, text }: { readonly file: string; readonly text: string }) => `${file} ${text}`;
const nameOfRow = ({ file, pattern, made }: Row) => nameOf({ file, text: made ?? String(pattern) });

const found = new Map(allPatterns().map((each) => [nameOf(each), each]));
const rows = new Map(ROWS.map((row) => [nameOfRow(row), row]));
const judge = new Judge();

t.test('every pattern of the sources has a row, and every row a pattern', async (t) => {
  t.ok(found.size > 150, `${found.size} patterns`);
  t.equal(rows.size, ROWS.length, 'no row twice');
  t.strictSame(
    [...found.keys()].filter((name) => !rows.has(name)),
    [],
    'patterns without a row',
  );
  t.strictSame(
    [...rows.keys()].filter((name) => !found.has(name)),
    [],
    'rows without a pattern',
  );
});

t.test('a pattern is found wherever it stands, and nothing else is taken for one', async (t) => {
  const text = `
    const a = /x[/]y\\/z/gi; // /comment/
    const b = 1 / 2 / 3, c = '/text/', d = \`/\${/in/u.test(c)}/\`;
    c.match('implicit'); c.search(\`a\`); c.split('no'); new RegExp(c, 'u'); RegExp('called');`;
  t.strictSame(
    patternsIn('any.ts', text).map((each) => each.text),
    [
      '/x[/]y\\/z/gi',
      '/in/u',
      "c.match('implicit')",
      'c.search(`a`)',
      "new RegExp(c, 'u')",
      "RegExp('called')",
    ],
  );
  t.strictSame(patternOf('/x[/]y\\/z/gi'), /x[/]y\/z/gi);
});

/** The pattern of the source itself. */
function patternOfRow(row: Row): RegExp {
  const literal = found.get(nameOfRow(row))?.text;
  return row.made !== undefined || literal === undefined ? row.pattern : patternOf(literal);
}

const reached = ROWS.filter(({ hostile }) => hostile !== undefined);

t.test('patterns that peers reach take linear time for the subjects of their rows', async (t) => {
  t.ok(reached.length > 70, `${reached.length} patterns`);
  const slow = reached.flatMap((row) => {
    const judged = row.hostile && judge.judge(patternOfRow(row), row.hostile);
    return judged === undefined ? [] : [{ pattern: nameOfRow(row), ...judged }];
  });
  t.strictSame(slow, []);
});

t.test('and for subjects made of their own text', async (t) => {
  const patterns = new Map(reached.map((row) => [String(row.pattern), row]));
  const slow = [...patterns.values()].flatMap((row) => {
    const pattern = patternOfRow(row);
    const judged = judge.judgeAll(pattern, attacksOn(pattern));
    return judged === undefined ? [] : [{ pattern: nameOfRow(row), ...judged }];
  });
  t.strictSame(slow, []);
});

t.test('patterns that were slow do not pass', async (t) => {
  const blanks = (before: string, after: string) => (length: number) => before + ' '.repeat(length) + after;
  const bearer = /^bearer +(.+)$/i;
  t.ok(judge.judge(bearer, blanks('Bearer', '\u2028x')), 'the key of a request, its row');
  t.ok(judge.judgeAll(bearer, attacksOn(bearer)), 'the key of a request');
  const header =
    /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?)[ \t]*$/;
  t.ok(judge.judge(header, blanks('a:', '\x01')), 'a header of an answer, its row');
  t.ok(judge.judgeAll(header, attacksOn(header)), 'a header of an answer');
  for (const pattern of [
    /^https?:\/\/([^/?#]*)(.*)$/i,
    /^_+|_+$/g,
    /%.*$/,
    /\s*,/,
    /^(?:a|b|ab)+$/,
    /^(?:\w+\s?)*$/,
    /\d+(?=y)/,
    /"id":.*"x"/,
  ])
    t.ok(judge.judgeAll(pattern, attacksOn(pattern)), String(pattern));
});
