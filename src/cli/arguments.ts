/** Parses the command line. Pure. */
import { isIP } from 'node:net';
import { quote } from '../clean.ts';
import type { Overrides } from '../config/merge.ts';
import { isHostName } from '../config/rows/forms.ts';
import { ROWS } from '../config/rows/key-table.ts';
import { findNearest } from '../nearest.ts';
import { describeNotifyProblem } from './notify-words.ts';
import { describePairProblem, type PairWords } from './pair-words.ts';
import { describeTopProblem, type TopWords } from './target.ts';
import { describeWakeProblem, type WakeWords } from './wake.ts';
import {
  COMMANDS,
  type Command,
  KEYS_ACTIONS,
  NOTIFY_ACTIONS,
  OPTION_LIST,
  type OptionName,
  SERVICE_ACTIONS,
  type ServiceAction,
  WATCH_ACTIONS,
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
  /** With `notify` only: its action, and the words after it. */
  readonly notify: readonly string[];
  /** With `watch try` only: the rule. */
  readonly triedRule: string | undefined;
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

/** The option that may be repeated. */
const CONFIG_OPTION: OptionName = '--config';

const namesOf = (isValued: boolean): ReadonlySet<string> =>
  new Set(OPTION_LIST.flatMap(({ names, value }) => ((value !== undefined) === isValued ? names : [])));
/** Options that take a value, and others. */
const VALUED = namesOf(true);
const FLAGS = namesOf(false);

/** The words after a command: how many it takes, and what the first one must be. */
const OPERANDS: Readonly<
  Partial<Record<Command, { readonly most: number; readonly first?: readonly string[] }>>
> = {
  service: { most: 1, first: SERVICE_ACTIONS },
  keys: { most: 2, first: KEYS_ACTIONS },
  keygen: { most: Number.POSITIVE_INFINITY },
  wake: { most: 1 },
  notify: { most: Number.POSITIVE_INFINITY, first: NOTIFY_ACTIONS },
  watch: { most: 2, first: WATCH_ACTIONS },
  top: { most: 2 },
};

/** `words`: the arguments after the program's name. */
export function parseArguments(words: readonly string[]): Arguments {
  const overrides = new Map<string, { value: unknown; option: string }>();
  /** The values of each option that does not change a setting; a flag has an empty one. */
  const given = new Map<string, string[]>();
  const operands: string[] = [];
  let command: Command | undefined;
  let switched: Command | undefined;
  const take = (name: string, text: string) => void given.set(name, [...(given.get(name) ?? []), text]);
  const textOf = (name: OptionName) => given.get(name)?.[0];
  const has = (name: OptionName) => given.has(name);
  const operandsOf = (wanted: Command) => (command === wanted ? operands : []);
  const parsed = () => {
    const [host] = operandsOf('wake');
    const [url, machine] = operandsOf('top');
    const [action] = operandsOf('service');
    return {
      command: switched ?? command ?? 'run',
      configPaths: given.get(CONFIG_OPTION) ?? [],
      overrides,
      isService: has('--service'),
      isJson: has('--json'),
      serviceAction: SERVICE_ACTIONS.find((known) => known === action),
      certificate: has('--tls') ? { folder: textOf('--out'), names: operandsOf('keygen') } : undefined,
      wake: host === undefined ? undefined : { host, broadcast: textOf('--broadcast') },
      top: { url, machine, keyFile: textOf('--key-file'), pin: textOf('--pin'), isOnce: has('--once') },
      pair: {
        name: textOf('--name'),
        scopes: textOf('--scopes'),
        expires: textOf('--expires'),
        url: textOf('--url'),
      },
      removedKey: operandsOf('keys')[1],
      notify: operandsOf('notify'),
      triedRule: operandsOf('watch')[1],
    };
  };
  const refuse = (text: string): Arguments => ({
    ...parsed(),
    command: command ?? 'run',
    problem: { text: `${text}. "hostwire --help" lists the commands and options.`, exitCode: 2 },
  });

  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    const { name, inline } = split(word);
    if (SWITCHES.has(word)) switched ??= SWITCHES.get(word);
    else if (FLAGS.has(word)) take(word, '');
    else if (VALUED.has(name)) {
      const text = inline ?? words[++index];
      if (text === undefined || text === '' || (inline === undefined && VALUED.has(split(text).name))) {
        return refuse(`${name} needs a value`);
      }
      const setting = SETTINGS.get(name);
      const problem = setting && takeSetting(name, text, setting, overrides);
      if (problem !== undefined) return refuse(problem);
      if (setting === undefined) take(name, text);
    } else if (word.startsWith('-')) return refuse(describeUnknown('option', name, listOptions()));
    else if (command === undefined) {
      command = COMMANDS.find((known) => known === word);
      if (command === undefined) return refuse(describeUnknown('command', word, COMMANDS));
    } else {
      const { most = 0, first } = OPERANDS[command] ?? {};
      if (operands.length >= most) return refuse(`unexpected argument ${quote(word)}`);
      if (operands.length === 0 && first?.includes(word) === false)
        return refuse(describeUnknown(`action of ${command}`, word, first));
      operands.push(word);
    }
  }
  const misfit =
    switched === undefined
      ? (describeUse(command ?? 'run', given) ?? describeOperands(command, parsed(), operands))
      : undefined;
  return misfit === undefined ? parsed() : refuse(misfit);
}

/** Returns why an option cannot be used with the command, or as often. */
function describeUse(command: Command, given: ReadonlyMap<string, readonly string[]>): string | undefined {
  for (const {
    names: [name],
    commands,
  } of OPTION_LIST) {
    const count = given.get(name)?.length ?? 0;
    if (count > 0 && commands?.includes(command) === false)
      return `${name} can only be used with ${listOf(commands)}`;
    if (count > 1 && name !== CONFIG_OPTION) return `${name} was given twice`;
  }
  if (command === 'keygen' && given.has('--out') && !given.has('--tls'))
    return '--out can only be used with keygen --tls';
  return undefined;
}

/** Returns what is wrong with the operands of the command. */
function describeOperands(
  command: Command | undefined,
  { certificate, wake, top, pair }: Arguments,
  operands: readonly string[],
): string | undefined {
  const [first] = operands;
  if (command === 'keygen' && first !== undefined) {
    if (certificate === undefined) return `unexpected argument ${quote(first)}`;
    const bad = operands.find((name) => isIP(name) === 0 && !isHostName(name));
    return bad === undefined ? undefined : `${quote(bad)} is neither a host name nor an address`;
  }
  if (command === 'wake') return describeWakeProblem(first, wake?.broadcast);
  if (command === 'top') return describeTopProblem(top);
  if (command === 'pair') return describePairProblem(pair);
  if (command === 'service' && first === undefined)
    return `service needs an action: ${SERVICE_ACTIONS.join(' or ')}`;
  if (command === 'watch' && operands.length < 2) return 'watch needs an action: try RULE';
  if (command === 'notify') return describeNotifyProblem(operands);
  return command === 'keys' && operands.length === 1 ? 'keys remove needs the name of a key' : undefined;
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

/** Returns what is wrong with the value of a setting; otherwise takes it. */
function takeSetting(
  name: string,
  text: string,
  { key, read }: Setting,
  overrides: Map<string, { value: unknown; option: string }>,
): string | undefined {
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
  return `unknown ${kind} ${quote(word)} (did you mean ${nearest}?)`;
}
