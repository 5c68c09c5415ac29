/** Parses the command line. Pure. */
import { isIP } from 'node:net';
import { quote } from '../config/checks/problems.ts';
import type { Overrides } from '../config/merge.ts';
import { ROWS } from '../config/rows/key-table.ts';
import { isHostName } from '../config/rows/predicates.ts';
import { findNearest } from '../nearest.ts';
import { describePairProblem, type PairWords } from './pair-words.ts';
import { describeTopProblem, type TopWords } from './target.ts';
import { describeWakeProblem, type WakeWords } from './wake.ts';
import {
  COMMANDS,
  type Command,
  KEYS_ACTIONS,
  OPTION_LIST,
  type OptionName,
  SERVICE_ACTIONS,
  type ServiceAction,
} from './words.ts';

export interface CertificateWords {
  /** As given. */
  readonly folder: string | undefined;
  readonly names: readonly string[];
}

export interface Arguments {
  readonly command: Command;
  /** The paths of `--config`, as given. */
  readonly configPaths: readonly string[];
  /** The configuration keys that options set. */
  readonly overrides: Overrides;
  /** Started by Windows' service control manager; with `run` only. */
  readonly isService: boolean;
  /** With `check`, `doctor`, `wake`, `top`, `pair` and `keys` only. */
  readonly isJson: boolean;
  /** With `service` only. */
  readonly serviceAction: ServiceAction | undefined;
  /** With `keygen --tls` only: the folder for the files (`--out`), and further names of this machine. */
  readonly certificate: CertificateWords | undefined;
  /** With `wake` only. */
  readonly wake: WakeWords | undefined;
  /** For `top`. */
  readonly top: TopWords;
  /** For `pair`. */
  readonly pair: PairWords;
  /** With `keys remove` only: the key that is taken back. */
  readonly removedKey: string | undefined;
  /** The command line is invalid: print this on standard error and exit with this code. */
  readonly problem?: { readonly text: string; readonly exitCode: 2 };
}

interface Setting {
  /** The configuration key that it sets. */
  readonly key: string;
  readonly read: (text: string) => unknown;
}

const asText = (text: string): unknown => text;
// Digits only: Number would also take "0x1F", " 80" and "".
const asInteger = (text: string): unknown => (/^\d{1,6}$/u.test(text) ? Number(text) : text);

const OUT_OPTION: OptionName = '--out';
const TLS_OPTION: OptionName = '--tls';
const BROADCAST_OPTION: OptionName = '--broadcast';
const SERVICE_OPTION: OptionName = '--service';
const JSON_OPTION: OptionName = '--json';
const ONCE_OPTION: OptionName = '--once';
const KEY_FILE_OPTION: OptionName = '--key-file';
const PIN_OPTION: OptionName = '--pin';
const PAIR_OPTIONS = ['--name', '--scopes', '--expires', '--url'] as const satisfies readonly OptionName[];

/** The options whose value is a setting. */
const SETTINGS: ReadonlyMap<string, Setting> = new Map<OptionName, Setting>([
  ['--host', { key: 'server.host', read: asText }],
  ['--port', { key: 'server.port', read: asInteger }],
  ['--log-level', { key: 'log.level', read: asText }],
]);

/** Options that stand for a command. */
const SWITCHES: ReadonlyMap<string, Command> = new Map<OptionName, Command>([
  ['--help', 'help'],
  ['-h', 'help'],
  ['--version', 'version'],
]);

/** Options that take a value. */
const VALUED: ReadonlySet<string> = new Set(
  OPTION_LIST.flatMap(({ names, value }) => (value === undefined ? [] : names)),
);

/** `words`: the arguments after the program's name. */
export function parseArguments(words: readonly string[]): Arguments {
  const overrides = new Map<string, { value: unknown; option: string }>();
  const configPaths: string[] = [];
  const folders: string[] = [];
  const broadcasts: string[] = [];
  const names: string[] = [];
  let machine: string | undefined;
  const keyFiles: string[] = [];
  const pins: string[] = [];
  const pairing = PAIR_OPTIONS.map((): string[] => []);
  let isRemoving = false;
  let removedKey: string | undefined;
  let url: string | undefined;
  let hosted: string | undefined;
  let isOnce = false;
  let isTls = false;
  let command: Command | undefined;
  let switched: Command | undefined;
  let isService = false;
  let isJson = false;
  let serviceAction: ServiceAction | undefined;
  const parsed = () => ({
    command: switched ?? command ?? 'run',
    configPaths,
    overrides,
    isService,
    isJson,
    serviceAction,
    certificate: isTls ? { folder: folders[0], names } : undefined,
    wake: machine === undefined ? undefined : { host: machine, broadcast: broadcasts[0] },
    top: { url, machine: hosted, keyFile: keyFiles[0], pin: pins[0], isOnce },
    pair: {
      name: pairing[0]?.[0],
      scopes: pairing[1]?.[0],
      expires: pairing[2]?.[0],
      url: pairing[3]?.[0],
    },
    removedKey,
  });
  const refuse = (text: string): Arguments => ({
    ...parsed(),
    command: command ?? 'run',
    problem: { text: `${text}. "hostwire --help" lists the commands and options.`, exitCode: 2 },
  });
  /** Returns why the arguments of keygen cannot be combined. */
  const describeKeygen = (): string | undefined => {
    if (!isTls && folders.length > 0) return `${OUT_OPTION} can be used with keygen ${TLS_OPTION} only`;
    if (!isTls && names.length > 0) return `unexpected argument ${quote(names[0] ?? '')}`;
    const bad = names.find((name) => isIP(name) === 0 && !isHostName(name));
    return bad === undefined ? undefined : `${quote(bad)} is neither a host name nor an address`;
  };
  /** Returns why an option cannot be used with the command, or as often. */
  const describeUse = (): string | undefined => {
    const counts = new Map<string, number>([
      ...[...listsOf].map(([name, { length }]) => [name, length] as const),
      [TLS_OPTION, Number(isTls)],
      [ONCE_OPTION, Number(isOnce)],
      [JSON_OPTION, Number(isJson)],
      [SERVICE_OPTION, Number(isService)],
    ]);
    for (const {
      names: [name],
      commands,
    } of OPTION_LIST) {
      const count = counts.get(name) ?? 0;
      if (count > 0 && commands?.includes(command ?? 'run') === false)
        return `${name} can be used with ${listOf(commands)} only`;
      if (count > 1) return `${name} was given twice`;
    }
    return undefined;
  };
  const listsOf: ReadonlyMap<string, string[]> = new Map([
    ...PAIR_OPTIONS.map((name, at): [string, string[]] => [name, pairing[at] ?? []]),
    [OUT_OPTION, folders],
    [BROADCAST_OPTION, broadcasts],
    [KEY_FILE_OPTION, keyFiles],
    [PIN_OPTION, pins],
  ]);

  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    const { name, inline } = split(word);
    const known = COMMANDS.find((candidate) => candidate === word);
    if (SWITCHES.has(word)) switched ??= SWITCHES.get(word);
    else if (word === SERVICE_OPTION) isService = true;
    else if (word === TLS_OPTION) isTls = true;
    else if (word === JSON_OPTION) isJson = true;
    else if (word === ONCE_OPTION) isOnce = true;
    else if (VALUED.has(name)) {
      const text = inline ?? words[++index];
      if (text === undefined || text === '' || (inline === undefined && VALUED.has(split(text).name))) {
        return refuse(`${name} needs a value`);
      }
      const texts = listsOf.get(name) ?? configPaths;
      const problem = takeOption(name, text, texts, overrides);
      if (problem !== undefined) return refuse(problem);
    } else if (word.startsWith('-')) return refuse(describeUnknown('option', name, listOptions()));
    else if (command === 'service' && serviceAction === undefined) {
      serviceAction = SERVICE_ACTIONS.find((action) => action === word);
      if (serviceAction === undefined)
        return refuse(describeUnknown('action of service', word, SERVICE_ACTIONS));
    } else if (command === 'keys' && !isRemoving) {
      if (word !== 'remove') return refuse(describeUnknown('action of keys', word, KEYS_ACTIONS));
      isRemoving = true;
    } else if (command === 'keys' && removedKey === undefined) removedKey = word;
    else if (command === 'keygen') names.push(word);
    else if (command === 'wake' && machine === undefined) machine = word;
    else if (command === 'top' && url === undefined) url = word;
    else if (command === 'top' && hosted === undefined) hosted = word;
    else if (command !== undefined) return refuse(`unexpected argument ${quote(word)}`);
    else if (known === undefined) return refuse(describeUnknown('command', word, COMMANDS));
    else command = known;
  }
  const misfit =
    switched === undefined
      ? (describeUse() ??
        describeKeygen() ??
        (command === 'wake' ? describeWakeProblem(machine, broadcasts[0]) : undefined) ??
        (command === 'top' ? describeTopProblem(parsed().top) : undefined) ??
        (command === 'pair' ? describePairProblem(parsed().pair) : undefined) ??
        (command === 'service' && serviceAction === undefined
          ? `service needs an action: ${SERVICE_ACTIONS.join(' or ')}`
          : undefined) ??
        (isRemoving && removedKey === undefined ? 'keys remove needs the name of a key' : undefined))
      : undefined;
  return misfit === undefined ? parsed() : refuse(misfit);
}

/** "a, b and c". */
const listOf = (words: Iterable<string>) => [...words].join(', ').replace(/, ([^,]+)$/, ' and $1');

/** Every option, for suggestions. */
export const listOptions = (): readonly string[] => OPTION_LIST.flatMap(({ names }) => names);

function split(word: string): { readonly name: string; readonly inline: string | undefined } {
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  return equals === -1
    ? { name: word, inline: undefined }
    : { name: word.slice(0, equals), inline: word.slice(equals + 1) };
}

function takeOption(
  name: string,
  text: string,
  texts: string[],
  overrides: Map<string, { value: unknown; option: string }>,
): string | undefined {
  const setting = SETTINGS.get(name);
  if (setting === undefined) {
    texts.push(text);
    return undefined;
  }
  const { key, read } = setting;
  if (overrides.has(key)) return `${name} was given twice`;
  const value = read(text);
  const row = ROWS.get(key);
  if (row !== undefined && !row.accepts(value))
    return `${name} expects ${row.expected}, found ${quote(text)}`;
  overrides.set(key, { value, option: name });
  return undefined;
}

function describeUnknown(kind: string, word: string, known: readonly string[]): string {
  const nearest = findNearest(word, known, () => Number.MAX_SAFE_INTEGER);
  return `unknown ${kind} ${quote(word)}; the nearest is ${nearest}`;
}
