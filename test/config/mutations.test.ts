/**
 * Thousands of mutated configurations in both spellings. Each must be applied or rejected within 200 ms, a rejection
 * must name file, line and key, and nothing may crash or leave a mix of old and new settings.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { load as loadYaml } from 'js-yaml';
import t from 'tap';
import { ConfigError, type Problem } from '#src/config/checks/problems.js';
import { type Config, DEFAULT_CONFIG } from '#src/config/config.js';
import { LiveConfig } from '#src/config/current.js';
import { type LoadOptions, loadConfig } from '#src/config/load.js';
import { Reloader } from '#src/config/reload.js';
import { checkTime } from '../helpers/limits.ts';
import { createRandom, repetitions, SHARE } from '../helpers/random.ts';
import { asWritten, makeFolder, optionsFor } from './loading.ts';
import { BASE, KINDS, type Mutant, mutate, renderBase, type Spelling, type Values } from './mutants.ts';

const SEED = Number(process.env['HOSTWIRE_SEED'] ?? 20_240_607);
const COUNT = 5000;
// It takes some 15 s of processor time; tap's 30 s would not be enough on a busy machine.
t.setTimeout(280_000);
const MAX_MS = 200;

/** The whole configuration that `values` must produce; groups that BASE lacks have their defaults. */
function expected(values: Values): unknown {
  return Object.fromEntries(
    Object.entries(asWritten(DEFAULT_CONFIG) as Values).map(([section, keys]) => [
      section,
      { ...keys, ...values[section] },
    ]),
  );
}

const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(asWritten(a), asWritten(b));

// Some file systems wait for the disk when a file is truncated and rewritten; a new file avoids that.
function writeAnew(file: string, content: string | Uint8Array): void {
  rmSync(file, { force: true });
  writeFileSync(file, content, { mode: 0o600 });
}

type Outcome =
  | { readonly config: Config; readonly notices: string }
  | { readonly problems: readonly Problem[] };

/** Any error that is not a ConfigError counts as a crash and is thrown. */
function attempt(options: LoadOptions): { readonly outcome: Outcome; readonly ms: number } {
  const started = performance.now();
  let outcome: Outcome;
  try {
    const { config, notices } = loadConfig(options);
    outcome = { config, notices: notices.map(({ text }) => text).join('\n') };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    outcome = { problems: error.problems };
  }
  return { outcome, ms: performance.now() - started };
}

/** Describes what is wrong with an outcome; undefined: nothing. */
function judge(mutant: Mutant, file: string, outcome: Outcome): string | undefined {
  if ('config' in outcome) {
    if (mutant.applied === undefined) return 'was applied and must be rejected';
    if (!isSame(outcome.config, expected(mutant.applied)))
      return 'was applied, but with other values than the file has';
    if (mutant.warns !== undefined && !outcome.notices.includes(mutant.warns))
      return `does not warn "${mutant.warns}"`;
    return undefined;
  }
  const { problems } = outcome;
  const text = JSON.stringify(problems);
  if (mutant.applied !== undefined) return `was rejected and must be applied: ${text}`;
  if (problems.length === 0 || problems.some((problem) => problem.file !== file))
    return `names another file: ${text}`;
  if (text.includes('kkkk')) return 'shows the key';
  const isNamed = problems.some(
    ({ line, key = '' }) =>
      (mutant.line === undefined || line === mutant.line) &&
      (mutant.key === undefined ||
        key === mutant.key ||
        key.startsWith(`${mutant.key}.`) ||
        key.startsWith(`${mutant.key}[`)),
  );
  return isNamed ? undefined : `does not name line ${mutant.line}, key ${mutant.key}: ${text}`;
}

t.test(
  '[8.mutations] 5,000 mutated configurations are applied or rejected as expected',
  { timeout: 240_000 },
  async (t) => {
    const repeated = repetitions(t, COUNT, SEED);
    const random = createRandom(SEED);
    const folder = makeFolder(t);
    const loadBase = (spelling: Spelling) => {
      const file = path.join(folder, `config.${spelling}`);
      writeFileSync(file, renderBase(spelling), { mode: 0o600 });
      return loadConfig(optionsFor(folder, { paths: [file] }));
    };
    const bases = { json: loadBase('json'), yaml: loadBase('yaml') };
    const failures: string[] = [];
    const counts = new Map<string, { applied: number; refused: number }>();
    let slowest = 0;
    for (let index = 0; index < repeated; index++) {
      const spelling: Spelling = index % 2 === 0 ? 'json' : 'yaml';
      const mutant = mutate(random, KINDS[(index >> 1) % KINDS.length] ?? '', spelling);
      const file = path.join(folder, `config.${spelling}`);
      const options = optionsFor(folder, { paths: [file] });
      const loaded = bases[spelling];
      const live = new LiveConfig(loaded.config);
      const reloader = new Reloader({
        load: options,
        loaded,
        config: live,
        report: () => {},
        defer: (slice) => slice(),
      });
      writeAnew(file, mutant.content);
      reloader.reload();
      // The running service must have the old configuration unchanged, or the whole new one.
      const wanted = mutant.applied === undefined ? expected(BASE) : expected(mutant.applied);
      if (!isSame(live.current, wanted))
        failures.push(`${index} ${mutant.kind} ${spelling}: the reload left a mixture`);
      const { outcome, ms } = attempt(options);
      slowest = Math.max(slowest, ms);
      const failure = judge(mutant, file, outcome);
      if (failure !== undefined)
        failures.push(`${index} ${mutant.kind} ${spelling}: ${failure}\n${mutant.content}`);
      const count = counts.get(mutant.kind) ?? { applied: 0, refused: 0 };
      count['config' in outcome ? 'applied' : 'refused']++;
      counts.set(mutant.kind, count);
    }
    t.same(failures.slice(0, 5), [], `${failures.length} of ${repeated} went wrong`);
    checkTime(t, slowest, MAX_MS, 'the slowest');
    for (const kind of KINDS) {
      const { applied = 0, refused = 0 } = counts.get(kind) ?? {};
      t.ok(applied + refused >= 150 * SHARE, `${kind}: ${applied} applied, ${refused} refused`);
    }
  },
);

/** Reads a text with an independent parser: group → key → value; undefined if it rejects the text. */
function readIndependently(text: string, spelling: Spelling): Values | undefined {
  try {
    const value: unknown = spelling === 'json' ? JSON.parse(text) : loadYaml(text);
    // The values are only compared, key by key.
    return typeof value === 'object' && value !== null ? (value as Values) : undefined;
  } catch {
    return undefined;
  }
}

t.test(
  '[8.mutations-bytes] bytes changed at random: no crash, and the applied values are those of the file',
  async (t) => {
    const repeated = repetitions(t, 2000, SEED);
    const random = createRandom(SEED + 1);
    const folder = makeFolder(t);
    const failures: string[] = [];
    let applied = 0;
    let slowest = 0;
    for (let index = 0; index < repeated; index++) {
      const spelling: Spelling = index % 2 === 0 ? 'json' : 'yaml';
      const bytes = Buffer.from(renderBase(spelling));
      for (let changes = 1 + random.below(2); changes > 0; changes--) {
        bytes[random.below(bytes.length)] = random.pick([
          random.below(256),
          32 + random.below(95),
          ...Buffer.from('{}[]":,\n #-0'),
        ]);
      }
      const file = path.join(folder, `config.${spelling}`);
      writeAnew(file, bytes);
      const { outcome, ms } = attempt(optionsFor(folder, { paths: [file] }));
      slowest = Math.max(slowest, ms);
      const read = readIndependently(readFileSync(file, 'utf8'), spelling);
      if (!('config' in outcome)) {
        if (outcome.problems.some((problem) => problem.file !== file))
          failures.push(`${index}: names no file`);
        continue;
      }
      applied++;
      const written = asWritten(outcome.config);
      for (const [section, keys] of Object.entries(BASE))
        for (const key of Object.keys(keys)) {
          const found = (written as Values)[section]?.[key];
          const follows = key === 'enable_hibernate' ? read?.['features']?.['enable_sleep'] : undefined;
          const fallback: unknown = follows ?? (asWritten(DEFAULT_CONFIG) as Values)[section]?.[key];
          let wanted = read?.[section]?.[key] ?? fallback;
          if (key === 'stream_interval_seconds') wanted = Math.max(1, Number(wanted));
          // A minus before a 0 changes nothing, but makes it another number for isDeepStrictEqual.
          if (found !== wanted && !isDeepStrictEqual(found, wanted))
            failures.push(
              `${index} ${section}.${key}: ${JSON.stringify(found)} and not ${JSON.stringify(wanted)}\n${bytes}`,
            );
        }
    }
    t.same(failures.slice(0, 3), [], `${failures.length} went wrong`);
    t.ok(applied > 60 * SHARE, `${applied} were applied`);
    checkTime(t, slowest, MAX_MS * 2, 'the slowest');
  },
);
