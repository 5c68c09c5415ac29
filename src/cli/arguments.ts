/** The words of the command line → what is asked for; pure. */
import type { Overrides } from '../config/merge.ts';
import { findNearest } from '../config/nearest.ts';
import { quote } from '../config/problems.ts';
import { accepts, ROWS } from '../config/schema.ts';

export const COMMANDS = ['run', 'check', 'doctor', 'service', 'keygen', 'help', 'version'] as const;
export type Command = (typeof COMMANDS)[number];

/** What `service` is told to do. */
export const SERVICE_ACTS = ['install', 'remove'] as const;
export type ServiceAct = (typeof SERVICE_ACTS)[number];

export interface Arguments {
  readonly command: Command;
  /** The paths of `--config`, as given. */
  readonly configPaths: readonly string[];
  /** What the options set. */
  readonly overrides: Overrides;
  /** Started by the system's manager of services; with `run` only. */
  readonly isService: boolean;
  /** With `service` only. */
  readonly serviceAct: ServiceAct | undefined;
  /** The words make no sense: say so on standard error and leave with this code. */
  readonly problem?: { readonly text: string; readonly exitCode: 2 };
}

interface Option {
  /** The configuration key that it sets; none: a file to load. */
  readonly key?: string;
  readonly read: (text: string) => unknown;
}

const asText = (text: string): unknown => text;
// Digits only: Number would also take "0x1F", " 80" and "".
const asInteger = (text: string): unknown => (/^\d{1,6}$/u.test(text) ? Number(text) : text);

const OPTIONS: ReadonlyMap<string, Option> = new Map([
  ['--config', { read: asText }],
  ['--host', { key: 'server.host', read: asText }],
  ['--port', { key: 'server.port', read: asInteger }],
  ['--log-level', { key: 'log.level', read: asText }],
]);

const SERVICE_OPTION = '--service';

/** Words that are a command on their own. */
const SWITCHES: ReadonlyMap<string, Command> = new Map([
  ['--help', 'help'],
  ['-h', 'help'],
  ['--version', 'version'],
]);

/** `words` are those behind the program's name. */
export function parseArguments(words: readonly string[]): Arguments {
  const overrides = new Map<string, { value: unknown; option: string }>();
  const configPaths: string[] = [];
  let command: Command | undefined;
  let asked: Command | undefined;
  let isService = false;
  let serviceAct: ServiceAct | undefined;
  const told = () => ({ command: asked ?? command ?? 'run', configPaths, overrides, isService, serviceAct });
  const refuse = (text: string): Arguments => ({
    ...told(),
    command: command ?? 'run',
    problem: { text: `${text}. "hostwire --help" lists what there is.`, exitCode: 2 },
  });

  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    const { name, inline } = split(word);
    const option = OPTIONS.get(name);
    const known = COMMANDS.find((candidate) => candidate === word);
    if (SWITCHES.has(word)) asked ??= SWITCHES.get(word);
    else if (word === SERVICE_OPTION) isService = true;
    else if (option !== undefined) {
      const text = inline ?? words[++index];
      if (text === undefined || text === '' || (inline === undefined && OPTIONS.has(split(text).name))) {
        return refuse(`${name} needs a value`);
      }
      const problem = takeOption(name, option, text, configPaths, overrides);
      if (problem !== undefined) return refuse(problem);
    } else if (word.startsWith('-')) return refuse(describeUnknown('option', name, listOptions()));
    else if (command === 'service' && serviceAct === undefined) {
      serviceAct = SERVICE_ACTS.find((act) => act === word);
      if (serviceAct === undefined) return refuse(describeUnknown('act of service', word, SERVICE_ACTS));
    } else if (command !== undefined) return refuse(`${quote(word)} is one word too many`);
    else if (known === undefined) return refuse(describeUnknown('command', word, COMMANDS));
    else command = known;
  }
  const misfit = asked === undefined ? describeMisfit(told()) : undefined;
  return misfit === undefined ? told() : refuse(misfit);
}

/** Why words that are known each do not go together. */
function describeMisfit({ command, isService, serviceAct }: Arguments): string | undefined {
  if (isService && command !== 'run') return `${SERVICE_OPTION} goes with run only`;
  if (command === 'service' && serviceAct === undefined)
    return `service needs one more word: ${SERVICE_ACTS.join(' or ')}`;
  return undefined;
}

/** Every option, for the help and the nearest one. */
export function listOptions(): readonly string[] {
  return [...OPTIONS.keys(), SERVICE_OPTION, ...SWITCHES.keys()];
}

function split(word: string): { readonly name: string; readonly inline: string | undefined } {
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  return equals === -1
    ? { name: word, inline: undefined }
    : { name: word.slice(0, equals), inline: word.slice(equals + 1) };
}

function takeOption(
  name: string,
  { key, read }: Option,
  text: string,
  configPaths: string[],
  overrides: Map<string, { value: unknown; option: string }>,
): string | undefined {
  if (key === undefined) {
    configPaths.push(text);
    return undefined;
  }
  if (overrides.has(key)) return `${name} is given twice`;
  const value = read(text);
  const row = ROWS.get(key);
  if (row !== undefined && !accepts(row, value))
    return `${name} expects ${row.expected}, found ${quote(text)}`;
  overrides.set(key, { value, option: name });
  return undefined;
}

function describeUnknown(kind: string, word: string, known: readonly string[]): string {
  const nearest = findNearest(word, known, () => Number.MAX_SAFE_INTEGER);
  return `unknown ${kind} ${quote(word)}; the nearest is ${nearest}`;
}
