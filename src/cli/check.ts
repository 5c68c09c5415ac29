/** `hostwire check`: the configuration with defaults and origins, or all that is wrong with it. */
import { type Loaded, type LoadOptions, loadConfig } from '../config/load.ts';
import { ConfigError, formatProblem } from '../config/problems.ts';
import type { Row } from '../config/rows.ts';
import { type LaunchEntry, ROWS, readKey } from '../config/schema.ts';
import { isMap } from '../config/values.ts';
import { isPemFile } from '../tls/pair.ts';
import type { Output } from './output.ts';

/** Exit code 1 on errors and on unknown keys. The text contains no secret. */
export function checkConfiguration(options: LoadOptions): Output {
  let loaded: Loaded;
  try {
    loaded = loadConfig(options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return {
      text: error.problems.map((problem) => `error: ${formatProblem(problem)}\n`).join(''),
      exitCode: 1,
    };
  }
  return { text: render(loaded), exitCode: loaded.unknownKeys.length > 0 ? 1 : 0 };
}

function render(loaded: Loaded): string {
  const unknown = loaded.unknownKeys.map(formatProblem);
  const notices = loaded.notices.filter(({ text }) => !unknown.includes(text));
  const { files } = loaded.sources;
  const lines = [
    files.length === 0 ? 'No configuration file: only defaults.' : `Files: ${files.join(', ')}`,
    '',
    ...align([...ROWS.keys()].flatMap((key) => listRows(loaded, key))),
    '',
    ...notices.map(({ level, text }) => `${level}: ${text}`),
    ...unknown.map((text) => `error: ${text}`),
    unknown.length > 0 ? 'The configuration has unknown keys.' : 'The configuration is valid.',
  ];
  return `${lines.join('\n')}\n`;
}

function listRows({ config, origins }: Loaded, key: string): (readonly [string, string])[] {
  const origin = origins.get(key) ?? '';
  const apps = Object.entries(config.processes.launch);
  if (key === 'processes.launch' && apps.length > 0) {
    return apps.map(([name, app]) => [
      `${key}.${name} = ${renderApp(app)}`,
      origins.get(`${key}.${name}`) ?? '',
    ]);
  }
  const row = ROWS.get(key);
  const value = readKey(config, key);
  return [[`${key} = ${renderValue(asWritten(value, row), row?.isSecret === true)}`, origin]];
}

/** A checked value as a file has it: the entries of an address list, the path of a PEM file. */
function asWritten(value: unknown, row: Row<unknown> | undefined): unknown {
  if (row?.items !== undefined && isMap(value)) return value['entries'];
  return isPemFile(value) ? value.path : value;
}

function renderValue(value: unknown, isSecret: boolean): string {
  if (value === undefined) return '(none)';
  return isSecret ? '(set, not shown)' : JSON.stringify(value);
}

// The values of environment variables are often tokens.
function renderApp({ env, ...app }: LaunchEntry): string {
  const masked = Object.fromEntries(Object.keys(env).map((name) => [name, '(not shown)']));
  return JSON.stringify({ ...app, env: masked });
}

function align(rows: readonly (readonly [string, string])[]): readonly string[] {
  // Longer settings stick out: one long list must not push every origin off the screen.
  const width = Math.min(48, Math.max(...rows.map(([setting]) => setting.length)));
  return rows.map(([setting, origin]) => `${setting.padEnd(width)}  (${origin})`);
}
