/**
 * outcomes.txt: texts of one configuration file (or environment variables), and what is printed of each.
 * `HOSTWIRE_WRITE_DOCS=1` writes what is printed; texts that follow each other and have one outcome share it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { load as loadYaml } from 'js-yaml';
import t, { type Test } from 'tap';
import { ConfigError } from '#src/config/checks/problems.js';
import { loadConfig } from '#src/config/load.js';
import { parse } from '#src/config/sources/parse.js';
import { asWritten, makeFolder, optionsFor, shorten, writeFiles } from './loading.ts';

const PAGE = path.resolve(import.meta.dirname, '../../../../test/config/outcomes.txt');
/** All texts use these as secrets. */
const SECRET = /hunter2|0123456789abcdef/;

/** `\n`, `\\`, `\u0000`, and `\{x*65}` for 65 times x. */
const decode = (text: string) =>
  text.replaceAll(/\\(?:u([0-9a-f]{4})|\{(.)\*(\d+)\}|(.))/g, (_, hex, repeated, count, char) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (repeated !== undefined) return repeated.repeat(Number(count));
    return { n: '\n', r: '\r', t: '\t' }[String(char)] ?? char;
  });

interface Outcome {
  /** The configuration as a file has it; undefined: refused. */
  readonly config: unknown;
  readonly lines: readonly string[];
}

function outcomeOf(t: Test, spelling: string, text: string): Outcome {
  const folder = makeFolder(t);
  const name = `config.${spelling}`;
  const { surroundings, ...options } = optionsFor(folder);
  const variables: Record<string, string | undefined> = { ...surroundings.variables };
  if (spelling === 'vars')
    for (const line of text.split('\n')) {
      const at = line.indexOf('=');
      variables[line.slice(0, at)] = line.slice(at + 1);
    }
  else writeFiles(folder, { [name]: text });
  try {
    const { config, notices, origins, unknownKeys } = loadConfig({
      ...options,
      surroundings: { ...surroundings, variables },
    });
    t.notMatch(JSON.stringify([notices, [...origins], unknownKeys]), SECRET);
    const lines = notices.map(
      (notice) => `${notice.level}: ${notice.text.replace(`${folder}/${name}:`, '')}`,
    );
    return { config: asWritten(config), lines: lines.length > 0 ? lines : ['ok'] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    t.notMatch(`${error} ${JSON.stringify(error)} ${JSON.stringify(error.problems)}`, SECRET);
    return {
      config: undefined,
      lines: error.problems.map((problem) => shorten(problem).replace(`${name}:`, '')),
    };
  }
}

interface Case {
  readonly spelling: string;
  readonly text: string;
  readonly written: string;
  readonly lines: readonly string[];
}

/** The cases of a section, which `== id` opens. */
function readCases(section: string): readonly Case[] {
  return section.split(/\n(?=json |yaml |vars )(?<=\n {2}.*\n)/).flatMap((block) => {
    const lines = block.split('\n').filter((line) => line !== '');
    const outcome = lines.filter((line) => line.startsWith('  ')).map((line) => line.slice(2));
    return lines
      .filter((line) => !line.startsWith('  '))
      .map((written) => ({
        spelling: written.slice(0, 4),
        text: decode(written.slice(5)),
        written,
        lines: outcome,
      }));
  });
}

const sections = new Map(
  readFileSync(PAGE, 'utf8')
    .split(/^== /m)
    .slice(1)
    .map((section) => {
      const [id = '', ...rest] = section.split('\n');
      return [id, readCases(rest.join('\n'))] as const;
    }),
);
const judged = new Map<string, string>();
/** Sections of which what is accepted is in the configuration as it is written. */
const HELD = [
  '8.limits',
  '8.listen-host',
  '8.key-value',
  '8.cors-origins',
  '8.allowed-hosts',
  '3.mqtt-keys',
  '8.history',
  '8.spellings',
];

/** Compares the section of the test's id with what is printed. */
async function judge(t: Test): Promise<void> {
  const [, id = ''] = /^\[([^\]]+)\]/.exec(t.name) ?? [];
  const cases = sections.get(id) ?? [];
  const isHeld = HELD.includes(id);
  t.ok(cases.length > 0, 'the section has cases');
  const found = cases.map((each) => ({ ...each, ...outcomeOf(t, each.spelling, each.text) }));
  for (const [index, { text, written, lines, spelling, config }] of found.entries()) {
    // TAP cannot escape some of these texts.
    const name = `${index}: ${written.replaceAll(/[^ -~]|\\/g, '.')}`;
    if (process.env['HOSTWIRE_WRITE_DOCS'] !== '1') t.strictSame(lines, cases[index]?.lines, name);
    if (spelling === 'vars') continue;
    const { value, problems } = parse(text, spelling === 'json' ? 'JSON' : 'YAML');
    if (isHeld && config !== undefined) t.hasStrict(config, structuredClone(value) as object, name);
    if (spelling === 'yaml' && value !== undefined && problems.length === 0)
      t.strictSame(structuredClone(value), loadYaml(text), name);
    const read = () => JSON.parse(text.replace(/^\ufeff/, ''));
    if (spelling !== 'json' || (value === undefined) === (problems.length === 0)) continue;
    if (problems.some(({ message }) => message.startsWith('not JSON'))) t.throws(read, SyntaxError, name);
    else if (problems.length === 0) t.strictSame(structuredClone(value), read(), name);
  }
  const texts = found.map(({ written, lines }, index) => {
    const isLast = found[index + 1]?.lines.join('\n') !== lines.join('\n');
    return [written, ...(isLast ? lines.map((line) => `  ${line}`) : [])].join('\n');
  });
  judged.set(id, `== ${id}\n${texts.join('\n')}\n`);
}

t.test('[8.json-lines] a JSON error names its line and the key it is at, and quotes nothing', judge);
t.test('[3.mqtt-keys] the values that are taken', judge);
t.test('[8.yaml-refused] no aliases, anchors, merge keys, foreign tags or further documents', judge);
t.test('[8.yaml-lines] a YAML error names its line and the nearest known key, and quotes nothing', judge);
t.test('[8.duplicate-key] a key that is set twice in one file stops the start', judge);
t.test('[3.mqtt-credentials] a password in the URL is refused, and not shown', judge);
t.test('[8.proto] __proto__ stops the start at any level, in both spellings', judge);
t.test('[8.not-a-map] the top level is a map of sections', judge);
t.test('[8.empty-file] an empty file has no keys', judge);
t.test(
  '[8.wrong-type] a wrong type or a bad value stops the start with file, line, key and what was expected',
  judge,
);
t.test('[8.limits] the extreme values that are accepted', judge);
t.test('[8.listen-host] an address or a name to listen on', judge);
t.test(
  '[8.addresses] address lists are checked entry by entry; the wildcard is accepted in the allow list only',
  judge,
);
t.test('[8.cors-origins] an origin is scheme, host and port, written as browsers send it', judge);
t.test('[8.allowed-hosts] host names without scheme, port or path', judge);
t.test('[8.unknown-in-auth] an unknown key under auth stops the start and names the nearest', judge);
t.test('[8.unknown-near] an unknown key within two letters of a known one stops the start', judge);
t.test('[8.unknown-warns] any other unknown key is a warning', judge);
t.test('[8.launch-refused] a wrong app stops the start, with its line', judge);
t.test('[8.launch-unknown] an unknown key that resembles no known one is a warning', judge);
t.test('[8.launch-name] names have 1 to 64 letters, digits, _ . -', judge);
t.test('[8.wake-refused] a wrong machine stops the start, with its line', judge);
t.test('[8.watch-rules-refused] a wrong rule stops the start, with its line', judge);
t.test('[8.watch-effects] a rule that never begins is a warning', judge);
t.test('[8.hub-commands] a wrong rule stops the start, with its line', judge);
t.test('[8.hub-refused] a wrong agent stops the start, with its line', judge);
t.test('[8.hub-dial] an entry is for one direction, and says what it lacks', judge);
t.test('[8.keys-refused] a wrong key stops the start', judge);
t.test('[10.keys-notices] keys that let no client in, or allow less than their scopes', judge);
t.test('[8.key-value] the values that are accepted as a key', judge);
t.test('[8.key-notices] auth on without a key is one error line; a short key is a warning', judge);
t.test('[8.json-strict] the parser accepts exactly what JSON.parse accepts', judge);
t.test('[8.secrets] nothing secret is in an error, a notice or an origin', judge);

t.test('[8.history] the values that each key accepts', judge);
t.test('[8.interval-below-one] below 1 counts as 1, with one warning', judge);
t.test('[1.addresses-bad-entry] a bad entry stops the start with file, line, key and value', judge);
t.test('[1.addresses-host-bits] [1.addresses-zero-prefix] are reported once, with file and line', judge);
t.test('[8.variables] a bad value names its variable and no line; another program has variables too', judge);
t.test('[8.placeholder] a value that looks like a variable is refused with a hint', judge);
t.test('[8.empty-section] a section without a value is empty', judge);
t.test('[8.yaml-core] a scalar is read as js-yaml reads it by the core schema', judge);
t.test('[8.spellings] JSON and YAML have the same keys', judge);

t.test('every section is judged', async (t) => {
  t.strictSame([...judged.keys()], [...sections.keys()]);
  t.notOk('enabled' in {}, 'no text has changed all objects');
  if (process.env['HOSTWIRE_WRITE_DOCS'] === '1') writeFileSync(PAGE, [...judged.values()].join('\n'));
});
