/** `hostwire check`: the configuration with defaults and origins, or all errors in it. */

import path from 'node:path';
import { whyNoFolder } from '../config/checks/effects.ts';
import { ConfigError, formatProblem, type Notice } from '../config/checks/problems.ts';
import { readKey } from '../config/config.ts';
import { type Loaded, type LoadOptions, loadConfig } from '../config/load.ts';
import { ROWS } from '../config/rows/key-table.ts';
import { isSecretFile, type NamedEntries } from '../config/rows/row.ts';
import { isObject } from '../json.ts';
import { isPemFile } from '../tls/pair.ts';
import { inLine, jsonText, type Output } from './output.ts';
import { describeRules, type RuleValues } from './rule-values.ts';

/** Exit code 1 if it prints an error; unknown keys are errors here. The text contains no secret. */
export function checkConfiguration(options: LoadOptions, isJson = false, rules?: RuleValues): Output {
  let loaded: Loaded;
  try {
    loaded = loadConfig(options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const errors = error.problems.map(formatProblem);
    const text = isJson
      ? renderJson({ isValid: false, files: [], settings: {}, notices: errors.map(asError) })
      : errors.map((each) => `error: ${each}\n`).join('');
    return { text, exitCode: 1 };
  }
  return {
    text: isJson ? renderJson({ ...reportOf(loaded), ...rules }) : render(loaded, rules),
    exitCode: hasErrors(loaded) ? 1 : 0,
  };
}

/** Output of `--json`. */
interface CheckReport {
  readonly isValid: boolean;
  readonly files: readonly string[];
  /** Dotted key → value and origin; for a secret only whether it is set. */
  readonly settings: Readonly<Record<string, { readonly value: unknown; readonly origin: string }>>;
  readonly notices: readonly Notice[];
  /** The rules with the present value of each series. */
  readonly rules?: RuleValues['rules'];
}

const asError = (text: string): Notice => ({ level: 'error', text });

const renderJson = ({ isValid, ...report }: CheckReport) => jsonText({ valid: isValid, ...report });

function reportOf(loaded: Loaded): CheckReport {
  const settings = listSettings(loaded).map(
    ({ key, value = null, origin }) => [key, { value, origin }] as const,
  );
  return {
    isValid: !hasErrors(loaded),
    files: loaded.sources.files,
    settings: Object.fromEntries(settings),
    notices: noticesOf(loaded),
  };
}

interface Setting {
  readonly key: string;
  /** As a file contains it, without secrets; undefined: not set. */
  readonly value: unknown;
  readonly origin: string;
}

/** Returns all settings; the entries of a named map, unless it is empty, each under its own key. */
function listSettings({ config, origins }: Loaded): readonly Setting[] {
  const settingOf = (key: string, value: unknown) => ({ key, value, origin: origins.get(key) ?? '' });
  return [...ROWS].flatMap(([key, row]) => {
    const value = readKey(config, key);
    const entries = row.entries === undefined || !isObject(value) ? [] : Object.entries(value);
    if (entries.length > 0)
      return entries.map(([name, entry]) =>
        settingOf(`${key}.${name}`, masked(entry, row.entries?.keys ?? {})),
      );
    const written = row.items !== undefined && isObject(value) ? value['entries'] : pathIn(value);
    return [settingOf(key, row.isSecret === true && value !== undefined ? SECRET : written)];
  });
}

/** Returns unknown keys, which only warn elsewhere, as errors. */
function noticesOf(loaded: Loaded): readonly Notice[] {
  const unknown = loaded.unknownKeys.map(formatProblem);
  const known = loaded.notices.filter(({ text }) => !unknown.includes(text));
  return [...known, ...judgeFolders(loaded), ...unknown.map(asError)];
}

/** Warns of what no file can keep. Only here: a disk may hang, which a service must not wait for. */
function judgeFolders({ config, origins }: Loaded): readonly Notice[] {
  const files = { 'history.path': config.history.path, 'hub.state_path': config.hub.state_path };
  return Object.entries(files).flatMap(([key, file]): readonly Notice[] => {
    const folder = file === undefined ? undefined : path.dirname(file);
    const reason = folder === undefined ? undefined : whyNoFolder(folder);
    const text = `${origins.get(key)}: ${key}: its folder ${folder}: ${reason}`;
    return reason === undefined ? [] : [{ level: 'warn', text }];
  });
}

/** Returns the lines that make it fail, although the service would start. */
export const errorsOf = (loaded: Loaded): readonly string[] =>
  noticesOf(loaded).flatMap(({ level, text }) => (level === 'error' ? [text] : []));

const hasErrors = (loaded: Loaded) => errorsOf(loaded).length > 0;

function render(loaded: Loaded, rules: RuleValues | undefined): string {
  const { files } = loaded.sources;
  const lines = [
    files.length === 0 ? 'No configuration file (defaults only).' : `Files: ${files.join(', ')}`,
    '',
    ...align(listSettings(loaded)),
    '',
    ...(rules === undefined ? [] : [...describeRules(rules), '']),
    ...noticesOf(loaded).map(({ level, text }) => `${level}: ${text}`),
    hasErrors(loaded) ? 'The configuration has errors.' : 'The configuration is valid.',
  ];
  return `${lines.map(inLine).join('\n')}\n`;
}

/** Returns the path of a file that was read, and any other value as it is. */
const pathIn = (value: unknown) => (isPemFile(value) || isSecretFile(value) ? value.path : value);

const SECRET = '(set, not shown)';

/** Returns an entry with the paths of its files, and without its secrets; of variables the names are shown. */
function masked(entry: unknown, keys: NamedEntries['keys']): unknown {
  if (!isObject(entry)) return entry;
  const shown = Object.entries(entry).map(([name, value]) => {
    if (keys[name]?.isSecret !== true) return [name, pathIn(value)];
    return [
      name,
      isObject(value) ? Object.fromEntries(Object.keys(value).map((each) => [each, '(not shown)'])) : SECRET,
    ];
  });
  return Object.fromEntries(shown);
}

function align(settings: readonly Setting[]): readonly string[] {
  const rows = settings.map(({ key, value, origin }) => {
    const shown = value === undefined ? '(none)' : value === SECRET ? SECRET : JSON.stringify(value);
    return [`${key} = ${shown}`, origin] as const;
  });
  // Longer settings stick out: one long list must not push every origin off the screen.
  const width = Math.min(48, Math.max(...rows.map(([setting]) => setting.length)));
  return rows.map(([setting, origin]) => `${setting.padEnd(width)}  (${origin})`);
}
