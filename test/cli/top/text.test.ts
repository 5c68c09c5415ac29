/** Texts on a terminal: what is removed, how wide the rest is, and how it is painted. */
import t from 'tap';
import { cell, clean, fit, measure, paint, span } from '#src/cli/top/text.js';

t.test('[9.top-untrusted] nothing that a terminal obeys is left of a text', async (t) => {
  // Not the text as the name: it would be printed.
  for (const [text, cleaned] of [
    ['plain', 'plain'],
    ['\x1b[2J\x1b[31mred\x1b[m', 'red'],
    ['\x1b]0;title\x07name', 'name'],
    ['\x9b31mred', 'red'],
    ['a\rb\nc\td', 'a b c d'],
    ['a\x1bb\x00c\x7fd', 'a?b?c?d'],
    ['\u202Elive\u2066', 'live'],
    ['line\u2028break', 'line break'],
    ['\uD800', '?'],
    ['👩‍👩‍👧', '👩👩👧'],
    ['👍🏽', '👍'],
    ['❤\uFE0F', '❤'],
    ['🇩🇪', 'DE'],
    ['e\u0301\u0301\u0301\u0301', 'é\u0301'],
  ] as const)
    t.equal(clean(text), cleaned, cleaned);
  const all = Array.from({ length: 0x300 }, (_, code) => String.fromCodePoint(code)).join('x');
  t.notMatch(clean(all), /[\p{C}\p{Zl}\p{Zp}]/u);
  t.equal(clean('x'.repeat(100_000)).length, 512);
});

t.test('[9.top-columns] wide characters count two columns, combining ones none', async (t) => {
  for (const [text, columns] of [
    ['abc', 3],
    ['日本語', 6],
    ['ｶﾞ', 2],
    ['Ａ', 2],
    ['한글', 4],
    ['👩', 2],
    ['é', 1],
    ['x\u0327', 1],
    ['⣿█…°', 4],
    ['', 0],
  ] as const)
    t.equal(measure(text), columns, text);
});

t.test('[9.top-columns] a cell has exactly its columns, and says where it was cut', async (t) => {
  t.equal(cell('ab', 4), 'ab  ');
  t.equal(cell('ab', 4, 'right'), '  ab');
  t.equal(cell('abcdef', 4), 'abc…');
  t.equal(cell('日本語', 6), '日本語');
  t.equal(cell('日本語', 5), '日本…');
  t.equal(cell('日本語', 4), '日… ', 'half a character has no place');
  t.equal(cell('日', 1), '…');
  t.equal(cell('x', 0), '');
  t.equal(measure(cell('\x1b[31m日\x1b[m', 7)), 7);
});

t.test('a line is cut and filled', async (t) => {
  const line = [span('ab', 'bold'), span('日本')];
  t.equal(
    fit(line, 8)
      .map(({ text }) => text)
      .join('|'),
    'ab|日本|  ',
  );
  t.equal(
    fit(line, 5)
      .map(({ text }) => text)
      .join('|'),
    'ab|日| ',
  );
  t.equal(
    fit(line, 1)
      .map(({ text }) => text)
      .join('|'),
    'a',
  );
});

t.test('[9.top-colours] 16 colours, attributes only, or text only', async (t) => {
  const line = [span('good', 'good'), span(' '), span('row', 'selected'), span(' plain ')];
  t.equal(paint(line, 'colours', false), '\x1b[32mgood\x1b[m \x1b[7mrow\x1b[m plain');
  t.equal(paint(line, 'attributes', false), 'good \x1b[7mrow\x1b[m plain');
  t.equal(paint(line, 'none', false), 'good row plain');
});

t.test('[9.top-columns] after a text beyond ASCII the cursor is put in its place', async (t) => {
  const line = [span('ab'), span('日本'), span('cd'), span('é'), span('f')];
  t.equal(paint(line, 'none', true), 'ab日本\x1b[7Gcdé\x1b[10Gf');
});
