/** Plain English, as far as a pattern can hold it: sources, docs, scripts, packaging, and the names of tests. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const TREES = ['src', 'native', 'web', 'scripts', 'docs', 'packaging', 'bench', 'test'];
const PAGES = ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'CONTRIBUTING.md', 'config.example.yaml'];
const ENDINGS = /\.(?:ts|tsx|mjs|cc|h|c|md|css|service|rules|conf|yaml|json)$/;

/** Generated from measurements or inputs, and not prose. */
const NOT_PROSE = ['native/fuzz/corpus', 'test/fixtures', 'docs/images'];

/** Folders without the patterns of translated English. */
const PLAIN = ['bench', 'native', 'packaging', 'scripts', 'src', 'test', 'web'];

interface Pattern {
  readonly name: string;
  readonly better: string;
  readonly pattern: RegExp;
  /** Comments are left out. */
  readonly inCodeOnly?: true;
  /** Checked in the folders of PLAIN only. */
  readonly inPlainOnly?: true;
}

const PATTERNS: readonly Pattern[] = [
  {
    name: 'tell',
    better: 'report, send, return, notify or log',
    pattern: /\b(?:tell|tells|telling|told)\b/i,
  },
  { name: 'MOST_', better: 'MAX_, kMax', pattern: /\b(?:MOST_[A-Z]\w*|kMost[A-Z]\w*)/ },
  { name: 'can not', better: 'cannot', pattern: /\bcan not\b/i },
  { name: "can't", better: 'cannot', pattern: /\bcan't\b/i, inCodeOnly: true },
  {
    name: 'who without a noun',
    better: 'name the client, user or program',
    pattern: /\b(?:for|by|of|to|from|than) who\b|(?:^|[.;:] )Who(?:ever)? (?![^.?]*\?)/,
  },
  {
    name: 'what without a noun',
    better: 'name the thing',
    pattern: /\b[Ww]hat (?:is|was|are|were) (?:said|told|meant|answered|looked)\b|\bwhat becomes of\b/,
  },
  {
    name: 'a number a thing',
    better: 'per',
    pattern:
      /\b(?:one|a|an|\d[\d,.]*) `?\w+`? a (?:subscriber|socket|connection|process|sample|message|client|device|row|topic|section|property|interval|turn|frame)\b|\b(?:µs|ms|KiB|MiB|bytes|descriptors|events|messages|rows|entries) an? (?:subscriber|socket|connection|process|sample|message|tick|client|device|row|topic|section|turn|event|line|second)\b/,
  },
  {
    name: 'so long, so many',
    better: 'this long, or the unit in the name',
    pattern: /\b(?:for|after|within|in|every) so (?:long|many|much|often)\b(?! (?:that|as)\b)/i,
  },
  {
    name: 'a comment that begins with What, Of, Who, One that, Those that',
    better: 'a verb or the noun: Returns, Maximum, Coalesces',
    pattern:
      /^\s*(?:\/\/|\/?\*+|#|.*\S \/\/)\s*(?:What|Of|Who|One that|Those (?:of|that|which|who|whose|with))\b(?!.*\?)/,
    inPlainOnly: true,
  },
  {
    name: 'is no',
    better: 'is not a, without a',
    pattern: /(?<!\bthere )\bis no (?!longer\b|more\b|less\b|better\b)[a-z]/i,
    inPlainOnly: true,
  },
  {
    name: 'goes on, at once, meanwhile, by itself',
    better: 'continues; immediately, in one call, together; while; automatically, on its own',
    pattern: /\b(?:goes|go|going) on\b(?! the)|\bat once\b|\bmeanwhile\b|\bby (?:itself|themselves)\b/i,
    inPlainOnly: true,
  },
  {
    name: 'nobody, somebody, whoever, those who',
    better: 'no client, any client, the caller',
    pattern: /\b(?:nobody|somebody|whoever|those who)\b|\bhas no word\b|\btakes? its leave\b/i,
    inPlainOnly: true,
  },
  {
    name: 'lane, ledger, tally, census, wish, hasRoom, judgeAgain',
    better: 'worker, buffer quota, counts, limiter, interest, hasCapacity, revalidate',
    pattern:
      /\blanes?\b|(?:\b|(?<=[a-z_]))(?:ledger|tally|census|wish(?:es)?|judgeAgain)(?![a-z])|\bhasRoom/i,
    inPlainOnly: true,
  },
];

/** Lines that are right as they are. */
const EXCEPTIONS: readonly { readonly file: string; readonly text: string; readonly why: string }[] = [
  { file: 'test/words.test.ts', text: '', why: 'it quotes the patterns' },
  {
    file: 'packaging/systemd/system/hostwire.service',
    text: 'nobody. No Protect',
    why: 'the name of a user',
  },
  { file: 'docs/evidence/contract.md', text: '3.parts-told', why: 'an id, which never changes' },
  { file: 'test/stats/failures.test.ts', text: '3.parts-told', why: 'that id' },
  { file: 'test/http/buffer-quota.test.ts', text: '2.ledger', why: 'an id, too' },
];

const isBelow = (file: string, entries: readonly string[]) =>
  entries.some((entry) => file === entry || file.startsWith(`${entry}/`));

function filesToCheck(): readonly string[] {
  const inTrees = TREES.flatMap((tree) =>
    readdirSync(path.join(ROOT, tree), { recursive: true, encoding: 'utf8' }).map((file) =>
      path.posix.join(tree, file.replaceAll(path.sep, '/')),
    ),
  );
  return [...inTrees.filter((file) => ENDINGS.test(file)), ...PAGES].filter(
    (file) => !isBelow(file, NOT_PROSE),
  );
}

interface Line {
  readonly number: number;
  readonly text: string;
  readonly isComment: boolean;
}

const COMMENT = /^\s*(?:\/\/|\/\*|\*|#)/;
const TEST_NAME = /^\s*(?:t\.|test\.)?test(?:Many)?\(|^\s*(['"`])(?:\[?(?:[0-9]+|I)\.|[a-z]).*\1,$/;

/** All lines; of tests, those with the names of tests, and the comments. */
function linesOf(file: string): readonly Line[] {
  const isTest = file.startsWith('test/');
  const lines = readFileSync(path.join(ROOT, file), 'utf8').split('\n');
  return lines
    .map((text, index) => ({
      number: index + 1,
      text,
      isComment: !file.endsWith('.md') && COMMENT.test(text),
    }))
    .filter(({ text, isComment }) => !isTest || isComment || TEST_NAME.test(text));
}

t.test('no wording that a pattern of ours knows', async (t) => {
  const files = filesToCheck();
  t.ok(files.length > 150, `${files.length} files`);
  for (const { name, better, pattern, inCodeOnly, inPlainOnly } of PATTERNS) {
    const checked = inPlainOnly === true ? files.filter((file) => isBelow(file, PLAIN)) : files;
    const found = checked.flatMap((file) =>
      linesOf(file)
        .filter(({ text, isComment }) => pattern.test(text) && !(inCodeOnly === true && isComment))
        .filter(({ text }) => !EXCEPTIONS.some((entry) => entry.file === file && text.includes(entry.text)))
        .map(({ number, text }) => `${file}:${number}: ${text.trim().slice(0, 160)}`),
    );
    t.strictSame(found, [], `${name}: better ${better}`);
  }
});

t.test('every exception is still needed', async (t) => {
  for (const { file, text } of EXCEPTIONS)
    t.ok(readFileSync(path.join(ROOT, file), 'utf8').includes(text), `${file}: ${text}`);
});
