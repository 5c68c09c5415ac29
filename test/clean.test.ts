/** Texts for terminals and logs: the function that cleans them, and a list of the ways out. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { clean, cleanLines, escapeJson } from '#src/clean.js';
import { printable } from '#src/cli/output.js';
import { formatOf } from '#src/log/format.js';
import { HOSTILE, OBEYED } from './helpers/hostile-texts.ts';

t.test('[9.untrusted-texts] nothing that a terminal obeys is left, and everything else stays', async (t) => {
  for (let code = 0; code <= 0xffff; code++) {
    const character = String.fromCharCode(code);
    const cleaned = clean(`a${character}b`, 10);
    if (OBEYED.test(character) || character === '\n') t.match(cleaned, /^a[ ?]b$/, code.toString(16));
    else if (cleaned !== `a${character}b`) t.fail(`${code.toString(16)} was replaced`);
  }
  t.equal(clean('Ärger 温度 👩‍👩‍👧 می‌خواهم', 100), 'Ärger 温度 👩‍👩‍👧 می‌خواهم');
  t.equal(clean('a\tb\r\nc\x1b[m', 100), 'a b  c?[m');
  t.equal(cleanLines('a\nb\x9b\n'), 'a\nb?\n');
});

t.test('a text is cut, and never inside a character', async (t) => {
  t.equal(clean('abcdef', 6), 'abcdef');
  t.equal(clean('abcdefg', 6), 'abcde…');
  t.equal(clean('abcd👩x', 6), 'abcd?…');
});

t.test('[9.untrusted-texts] JSON keeps its values, and shows none of these characters', async (t) => {
  const value = { [HOSTILE]: [HOSTILE] };
  const json = escapeJson(JSON.stringify(value, undefined, 2));
  t.notMatch(json, OBEYED);
  t.strictSame(JSON.parse(json), value);
});

t.test(
  '[9.untrusted-texts] a line of the log is one clean line in every form, whatever is in its text and fields',
  async (t) => {
    const entry = {
      level: 'warn',
      text: HOSTILE,
      fields: { address: HOSTILE, path: HOSTILE.repeat(1000) },
    } as const;
    for (const format of ['text', 'json'] as const)
      for (const isJournal of [true, false]) {
        const line = formatOf(format, { isJournal, hasTime: false })({
          ...entry,
          text: HOSTILE.repeat(10_000),
        });
        t.notMatch(line.slice(0, -1), OBEYED, format);
        t.equal(line.indexOf('\n'), line.length - 1);
        t.ok(line.length < 20_000, `${line.length} characters`);
      }
  },
);

t.test('[9.untrusted-texts] a command prints clean lines', async (t) => {
  const text = printable({ text: `one ${HOSTILE}\ntwo\n` });
  t.notMatch(text, OBEYED);
  t.match(text, /\ntwo\n$/);
  t.equal(
    printable({ text: '\x1b[1mx\x1b[m\n', isPainted: true }),
    '\x1b[1mx\x1b[m\n',
    'hostwire top has its own',
  );
});

/**
 * Every file that writes to a standard stream or to a file of the log, and what cleans the text. A new one belongs here,
 * with its reason.
 */
const WAYS_OUT: ReadonlyMap<string, string> = new Map([
  ['src/main.ts', 'print: cli/output.ts, printable'],
  ['src/cli/top/screen.ts', 'cli/top/text.ts: only `span` makes texts of lines'],
  ['src/log/file.ts', 'lines of log/format.ts; of a crash and of a failed start: printable'],
  ['src/log/service-log.ts', 'lines of log/format.ts'],
  ['src/host/native.ts', 'declares writeAtOnce, which service-log.ts calls'],
  ['src/cli/certificate.ts', 'a key and a certificate, to files of their own'],
  [
    'src/cli/keys/replace-file.ts',
    'the digest of a key; the bytes of a configuration file, and two lines of the program',
  ],
  ['src/cli/share/generate.ts', 'of the build'],
  ['src/api/generate.ts', 'of the build'],
]);
const WRITES =
  /\bprocess\.std(?:out|err)\b|\bconsole\.\w+\(|\b(?:writeSync|appendFileSync|writeFileSync|writeAtOnce|createWriteStream|emitWarning)\b/;

t.test('[9.untrusted-texts] every way to a terminal or a log is known', async (t) => {
  const root = path.resolve(import.meta.dirname, '../../..');
  const found = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((file) => path.posix.join('src', file.split(path.sep).join('/')))
    .filter((file) => file.endsWith('.ts') && WRITES.test(readFileSync(path.join(root, file), 'utf8')));
  t.strictSame(found.sort(), [...WAYS_OUT.keys()].sort());
});
