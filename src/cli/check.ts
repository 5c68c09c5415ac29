/** `hostwire check`: the configuration with defaults and origins, or all that is wrong with it. */

import type { LaunchEntry } from '../config/launch-rows.ts';
import { type Loaded, type LoadOptions, loadConfig } from '../config/load.ts';
import { isSecretFile } from '../config/mqtt-rows.ts';
import { ConfigError, formatProblem, type Notice } from '../config/problems.ts';
import { ROWS, readKey } from '../config/schema.ts';
import { isMap } from '../config/values.ts';
import { isPemFile } from '../tls/pair.ts';
import type { Output } from './output.ts';

/** Exit code 1 where it prints an error; unknown keys are errors here. The text contains no secret. */
export function checkConfiguration(options: LoadOptions, isJson = false): Output {
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
    text: isJson ? renderJson(reportOf(loaded)) : render(loaded),
    exitCode: hasErrors(loaded) ? 1 : 0,
  };
}

/** What `--json` prints. */
interface CheckReport {
  readonly isValid: boolean;
  readonly files: readonly string[];
  /** Dotted key → value and origin; a secret is only said to be set. */
  readonly settings: Readonly<Record<string, { readonly value: unknown; readonly origin: string }>>;
  readonly notices: readonly Notice[];
}

const asError = (text: string): Notice => ({ level: 'error', text });

const renderJson = ({ isValid, ...report }: CheckReport) =>
  `${JSON.stringify({ valid: isValid, ...report }, undefined, 2)}\n`;

function reportOf(loaded: Loaded): CheckReport {
  const settings = [...ROWS].map(([key, row]) => {
    const value = writtenValue(loaded, key);
    const shown = row.isSecret === true && value !== undefined ? SECRET : value;
    return [key, { value: shown ?? null, origin: loaded.origins.get(key) ?? '' }] as const;
  });
  return {
    isValid: !hasErrors(loaded),
    files: loaded.sources.files,
    settings: { ...Object.fromEntries(settings), ...appsOf(loaded) },
    notices: noticesOf(loaded),
  };
}

/** Each app under its own key, as in the text. */
function appsOf({ config, origins }: Loaded) {
  const apps = Object.entries(config.processes.launch).map(([name, app]) => {
    const key = `processes.launch.${name}`;
    return [key, { value: maskedApp(app), origin: origins.get(key) ?? '' }] as const;
  });
  return apps.length === 0 ? {} : { 'processes.launch': undefined, ...Object.fromEntries(apps) };
}

/** Unknown keys, which only warn elsewhere, are errors here. */
function noticesOf(loaded: Loaded): readonly Notice[] {
  const unknown = loaded.unknownKeys.map(formatProblem);
  return [...loaded.notices.filter(({ text }) => !unknown.includes(text)), ...unknown.map(asError)];
}

const hasErrors = ({ unknownKeys, notices }: Loaded) =>
  unknownKeys.length > 0 || notices.some(({ level }) => level === 'error');

function render(loaded: Loaded): string {
  const { files } = loaded.sources;
  const lines = [
    files.length === 0 ? 'No configuration file: only defaults.' : `Files: ${files.join(', ')}`,
    '',
    ...align([...ROWS.keys()].flatMap((key) => listRows(loaded, key))),
    '',
    ...noticesOf(loaded).map(({ level, text }) => `${level}: ${text}`),
    hasErrors(loaded) ? 'The configuration has errors.' : 'The configuration is valid.',
  ];
  return `${lines.join('\n')}\n`;
}

function listRows({ config, origins }: Loaded, key: string): (readonly [string, string])[] {
  const origin = origins.get(key) ?? '';
  const apps = Object.entries(config.processes.launch);
  if (key === 'processes.launch' && apps.length > 0) {
    return apps.map(([name, app]) => [
      `${key}.${name} = ${JSON.stringify(maskedApp(app))}`,
      origins.get(`${key}.${name}`) ?? '',
    ]);
  }
  const value = writtenValue({ config }, key);
  return [[`${key} = ${renderValue(value, ROWS.get(key)?.isSecret === true)}`, origin]];
}

/** A checked value as a file has it: the entries of an address list, the path of a file. */
function writtenValue({ config }: Pick<Loaded, 'config'>, key: string): unknown {
  const value = readKey(config, key);
  if (ROWS.get(key)?.items !== undefined && isMap(value)) return value['entries'];
  return isPemFile(value) || isSecretFile(value) ? value.path : value;
}

const SECRET = '(set, not shown)';

function renderValue(value: unknown, isSecret: boolean): string {
  if (value === undefined) return '(none)';
  return isSecret ? SECRET : JSON.stringify(value);
}

// The values of environment variables are often tokens.
function maskedApp({ env, ...app }: LaunchEntry) {
  return { ...app, env: Object.fromEntries(Object.keys(env).map((name) => [name, '(not shown)'])) };
}

function align(rows: readonly (readonly [string, string])[]): readonly string[] {
  // Longer settings stick out: one long list must not push every origin off the screen.
  const width = Math.min(48, Math.max(...rows.map(([setting]) => setting.length)));
  return rows.map(([setting, origin]) => `${setting.padEnd(width)}  (${origin})`);
}
