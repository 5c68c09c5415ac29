/** mistakes.md: the mistakes of mistakes.yaml, what is printed of each, and that none of them is silent. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { load as loadYaml } from 'js-yaml';
import t, { type Test } from 'tap';
import { ConfigError, formatProblem } from '#src/config/checks/problems.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { type Loaded, loadConfig } from '#src/config/load.js';
import { makePair } from '../helpers/certificates.ts';
import { load, makeFolder, optionsFor, writeFiles } from './loading.ts';

const [PAGE = '', LIST = ''] = ['md', 'yaml'].map((ending) =>
  path.resolve(import.meta.dirname, `../../../../test/config/mistakes.${ending}`),
);

/** A line that is printed of a mistake. */
interface Line {
  readonly level: 'stops' | 'error' | 'warn' | 'info';
  /** `config.yaml:2`, or the variable or option. */
  readonly place: string;
  readonly key: string;
  readonly message: string;
  /** The part of the message that says what to do. */
  readonly remedy: string;
}

/** Splits what is printed: `place: key: message; remedy`, where the remedy may also be what was expected. */
function splitLine(level: Line['level'], text: string): Line {
  const [, place = '', rest = text] =
    /^((?:variable|option) \S+|\S+\.(?:json|yaml|conf)(?::\d+)?): (.*)$/su.exec(text) ?? [];
  const [, key = '', message = rest] =
    /^([A-Za-z][\w-]*(?:\.[\w-]+|\[\d+\])*(?:, [a-z]+\.\w+)*): (.*)$/su.exec(rest) ?? [];
  const at = message.indexOf('; ');
  if (at >= 0) return { level, place, key, message: message.slice(0, at), remedy: message.slice(at + 2) };
  const [, before = '', expected = '', found = ''] =
    /^(.*?)(?::? ?)(expected .*?)(?:, (found .*))?$/su.exec(message) ?? [];
  return expected === ''
    ? { level, place, key, message, remedy: '' }
    : { level, place, key, message: before || found, remedy: expected };
}

/** A mistake of mistakes.yaml, which says what its parts are. */
interface Mistake {
  /** A sentence part, in Markdown. */
  readonly name: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly latin1?: true;
  readonly modes?: Readonly<Record<string, string>>;
  readonly folder?: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly paths?: readonly string[];
  readonly role?: 'service' | 'hub';
  readonly hasSqlite?: boolean;
  readonly overrides?: Readonly<Record<string, { readonly value: unknown; readonly option: string }>>;
  /** The files are in the working folder instead of the user's. */
  readonly isInWorkingFolder?: true;
  readonly hasUser?: true;
}

const [pair, other] = await Promise.all([makePair(), makePair()]);
const TEXTS: Readonly<Record<string, string>> = {
  secret: 'k'.repeat(40),
  cert: pair.cert,
  key: pair.key,
  'other key': other.key,
};
const filled = (text: string) => text.replaceAll(/\$\{([a-z ]+)\}/g, (_, name) => TEXTS[name] ?? '');
// Its shape is that of Mistake.
const sections = Object.entries(
  loadYaml(readFileSync(LIST, 'utf8')) as Readonly<Record<string, readonly Mistake[]>>,
).map(([title, mistakes]) => ({ title, mistakes }));

const filesOf = ({ files = {}, latin1 }: Mistake) =>
  Object.fromEntries(
    Object.entries(files).map(([name, text]) => [
      name,
      Buffer.from(filled(text), latin1 ? 'latin1' : 'utf8'),
    ]),
  );

function linesOf(t: Test, mistake: Mistake): readonly Line[] {
  const { paths = [], variables = {}, role, hasSqlite, overrides, modes = {} } = mistake;
  const folder = makeFolder(t);
  writeFiles(folder, filesOf(mistake));
  for (const [name, mode] of Object.entries(modes))
    chmodSync(path.join(folder, name), Number.parseInt(mode, 8));
  if (mistake.folder !== undefined) mkdirSync(path.join(folder, mistake.folder));
  const base = mistake.isInWorkingFolder ? {} : { XDG_CONFIG_HOME: path.dirname(folder) };
  const surroundings = {
    platform: 'linux',
    cwd: folder,
    variables: { ...base, ...variables },
    ...(hasSqlite === undefined ? {} : { hasSqlite }),
    ...(mistake.hasUser ? { uid: process.getuid?.() } : {}),
  };
  const options = optionsFor(folder, {
    paths,
    surroundings,
    ...(role && { role }),
    ...(overrides && { overrides: new Map(Object.entries(overrides)) }),
  });
  const shorten = (text: string) => text.replaceAll(`${folder}/`, '');
  try {
    return loadConfig(options).notices.map(({ level, text }) => splitLine(level, shorten(text)));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) => splitLine('stops', shorten(formatProblem(problem))));
  }
}

const cell = (text: string) => text.replaceAll('|', '\\|');
const code = (text: string) => (text === '' ? '' : `\`${text}\``);

function row({ name }: Mistake, { level, place, key, message, remedy }: Line, isFirst: boolean): string {
  const cells = [isFirst ? name : '', level, code(place), code(key), message, remedy];
  return `| ${cells.map(cell).join(' | ')} |`.replaceAll(/ {2,}/g, ' ');
}

t.test(
  '[8.mistakes] each mistake is printed as in mistakes.md, with a remedy and without a secret',
  async (t) => {
    const found = sections.map(({ title, mistakes }) => ({
      title,
      rows: mistakes.map((mistake) => ({ mistake, lines: linesOf(t, mistake) })),
    }));
    const all = found.flatMap(({ rows }) => rows);
    t.ok(all.length > 65, `${all.length} mistakes`);
    for (const { mistake, lines } of all) {
      t.not(lines.length, 0, `${mistake.name}: silent`);
      for (const { remedy, message } of lines) t.not(remedy, '', `${mistake.name}: no remedy: ${message}`);
      t.notMatch(JSON.stringify(lines), /kkkk|BEGIN/, `${mistake.name}: shows no secret`);
    }
    const tables = found.map(({ title, rows }) =>
      [
        `## ${title}\n`,
        '| mistake | level | place | key | message | remedy |\n|---|---|---|---|---|---|',
        ...rows.flatMap(({ mistake, lines }) => lines.map((line, index) => row(mistake, line, index === 0))),
      ].join('\n'),
    );
    const text = readFileSync(PAGE, 'utf8');
    const [head = ''] = text.split(/^## /m);
    const wanted = `${head}${tables.join('\n\n')}\n`;
    if (process.env['HOSTWIRE_WRITE_DOCS'] === '1') writeFileSync(PAGE, wanted);
    t.equal(readFileSync(PAGE, 'utf8'), wanted, 'HOSTWIRE_WRITE_DOCS=1 writes it');
  },
);

t.test('[8.mistakes] a misspelt section that decides about access stops the start', async (t) => {
  const access = sections.find(({ title }) => title === 'Access')?.mistakes ?? [];
  const misspelt = access.filter(({ name }) =>
    /auht|one word|enabeld|unknown key|wrong section|capitals|authentication/.test(name),
  );
  t.ok(misspelt.length > 5);
  for (const mistake of misspelt) t.match(linesOf(t, mistake), [{ level: 'stops' }], mistake.name);
});

/** The keys that are printed as warnings, in the order of the file. */
const keysOf = ({ unknownKeys }: Loaded) => unknownKeys.map(({ key }) => key);

t.test(
  '[8.origin] the sample of the program whose interface this is starts, with a line per key',
  async (t) => {
    const [sample] = sections.at(-1)?.mistakes ?? [];
    const loaded = load(t, sample?.files ?? {});
    t.equal(loaded.config.server.host, '0.0.0.0');
    t.equal(loaded.config.auth.api_key, undefined);
    t.strictSame({ ...loaded.config, server: DEFAULT_CONFIG.server }, DEFAULT_CONFIG);
    t.strictSame(keysOf(loaded), [
      'display.hostname',
      ...['system', 'usage', 'stats', 'stream', 'autostart'].map((name) => `features.enable_${name}`),
      ...['stats.gpu_enabled', 'stats.disk_cache_seconds'],
      ...['stats', 'media', 'processes'].flatMap((topic) =>
        ['enabled', 'interval_ms'].map((name) => `websocket.${topic}.${name}`),
      ),
    ]);
    t.equal(loaded.notices.length, loaded.unknownKeys.length, 'and nothing else');
  },
);
