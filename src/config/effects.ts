/** Warns of settings that are valid and have no effect: of another role, on this Node, or without the files that they name. */
import { accessSync, constants, statSync } from 'node:fs';
import type { Setting } from './findings.ts';
import type { LaunchEntry } from './launch-rows.ts';
import { formatPlace, type Notice } from './problems.ts';
import { codeOf, describe } from './read.ts';
import type { Surroundings } from './search.ts';
import { isMap } from './values.ts';

/** The part of the program that runs with a configuration. */
export type Role = 'service' | 'hub';

const isBelow = (key: string, prefixes: readonly string[]) =>
  prefixes.some((prefix) => key === prefix || key.startsWith(`${prefix}.`));

const OF_HUB = ['hub.agents', 'hub.commands', 'hub.mqtt'];
const OF_DIALING = ['hub.url', 'hub.key_file', 'hub.pin'];
/** A hub reads nothing of its own machine, and carries nothing out on it. */
const OF_SERVICE = [
  ...OF_DIALING,
  ...['history', 'mqtt', 'watch', 'wake', 'processes', 'power', 'discovery', 'host.labels', 'host.id'],
  ...['sleep', 'hibernate', 'restart', 'shutdown', 'media', 'processes', 'process_control', 'wake'].map(
    (feature) => `features.enable_${feature}`,
  ),
];

/** The groups of `prefixes` that are set, as words; undefined where none is. */
function listSet(settings: readonly Setting[], prefixes: readonly string[]): string | undefined {
  const found = prefixes.filter((prefix) => settings.some(({ key }) => isBelow(key, [prefix])));
  return found.length === 0 ? undefined : found.join(', ');
}

/** `role`: of the process that loads the settings; undefined: a check of files that may be for either. */
export function judgeRole(settings: readonly Setting[], role: Role | undefined): readonly Notice[] {
  const ofHub = listSet(settings, OF_HUB);
  const ofDialing = listSet(settings, OF_DIALING);
  if (role === 'hub') {
    const unused = listSet(settings, OF_SERVICE);
    if (unused === undefined) return [];
    return [{ level: 'info', text: `${unused}: used by "hostwire run" only; a hub ignores it` }];
  }
  if (ofHub === undefined) return [];
  if (role === 'service') {
    const text = `${ofHub}: used by "hostwire hub" only, and this is "hostwire run", which shows this machine alone; start a hub with "hostwire hub --config FILE"`;
    return [{ level: 'warn', text }];
  }
  if (ofDialing === undefined)
    return [{ level: 'info', text: `${ofHub}: used by "hostwire hub" only; "hostwire run" ignores it` }];
  const text = `${ofDialing}: used by "hostwire run" only, ${ofHub} by "hostwire hub" only; give each a file of its own`;
  return [{ level: 'warn', text }];
}

/** Keys that do little or nothing while another one is off or not set, and what follows. */
const NEEDS: readonly {
  readonly keys: readonly string[];
  readonly needed: string;
  readonly level: Notice['level'];
  readonly text: string;
}[] = [
  {
    keys: ['auth.api_key', 'auth.api_key_file', 'auth.allowed_ips'],
    needed: 'auth.enabled',
    level: 'warn',
    text: 'every client may connect without the key; set auth.enabled to true',
  },
  {
    keys: ['wake.hosts'],
    needed: 'features.enable_wake',
    level: 'info',
    text: 'no client may wake them; set features.enable_wake to true',
  },
  {
    keys: ['processes.launch'],
    needed: 'features.enable_process_control',
    level: 'info',
    text: 'no client may start them; set features.enable_process_control to true',
  },
  { keys: ['mqtt'], needed: 'mqtt.url', level: 'warn', text: 'there is no MQTT; set mqtt.url' },
  { keys: ['hub.mqtt'], needed: 'hub.mqtt.url', level: 'warn', text: 'no broker is asked; set hub.mqtt.url' },
  {
    keys: ['history.max_megabytes'],
    needed: 'history.path',
    level: 'warn',
    text: 'nothing is written to a file; set history.path',
  },
];

/** Warns of settings that another one switches off. */
export function judgeNeeds(
  settings: ReadonlyMap<string, Setting>,
  role: Role | undefined,
): readonly Notice[] {
  return NEEDS.flatMap(({ keys, needed, level, text }): Notice[] => {
    const value = settings.get(needed)?.value ?? false;
    const found = [...settings.values()].find(
      (setting) => isBelow(setting.key, keys) && setting.key !== needed && !isEmpty(setting.value),
    );
    // judgeRole has named all keys of the other role.
    const ofOther = role === 'hub' ? OF_SERVICE : role === 'service' ? OF_HUB : [];
    if (value !== false || found === undefined || isBelow(found.key, ofOther)) return [];
    const state = settings.has(needed) ? 'false' : 'not set';
    const message = `${found.key}: ${needed} is ${state}, so ${text}`;
    return [{ level, text: `${formatPlace(found.file, found.line)}: ${message}` }];
  });
}

/** A list of addresses without entries. */
const isEmpty = (value: unknown) =>
  isMap(value) && Array.isArray(value['entries']) && value['entries'].length === 0;

/** Whether Node can keep a history in a file. */
export function judgeHistory(
  settings: ReadonlyMap<string, Setting>,
  { hasSqlite }: Pick<Surroundings, 'hasSqlite'>,
): readonly Notice[] {
  const setting = settings.get('history.path');
  if (setting === undefined || hasSqlite !== false) return [];
  const text = `${formatPlace(setting.file, setting.line)}: history.path: the history stays in memory, because this Node has no node:sqlite; Node 22.13 and later have it`;
  return [{ level: 'warn', text }];
}

/** Apps that cannot be started now; they may be installed later. */
export function judgeLaunch(settings: readonly Setting[]): readonly Notice[] {
  return settings.flatMap(({ key, value, file, line }): Notice[] => {
    if (!isBelow(key, ['processes.launch'])) return [];
    // judgeEntries has checked it.
    const { command, cwd } = value as LaunchEntry;
    const reasons = [
      withSubject('its command', command, whyNotStarted(command)),
      withSubject('its cwd', cwd, cwd === undefined ? undefined : whyNoFolder(cwd)),
    ];
    return reasons
      .filter((reason) => reason !== undefined)
      .map((reason) => ({
        level: 'warn',
        text: `${formatPlace(file, line)}: ${key}: ${reason}`,
      }));
  });
}

const withSubject = (subject: string, path: string | undefined, reason: string | undefined) =>
  reason === undefined ? undefined : `${subject} ${path}: ${reason}`;

function whyNotStarted(command: string): string | undefined {
  try {
    if (!statSync(command).isFile()) return 'it is not a file; name the program itself';
    accessSync(command, constants.X_OK);
    return undefined;
  } catch (error) {
    return codeOf(error) === 'EACCES'
      ? 'it may not be executed; run chmod +x on it'
      : `${describe(error)}; install it, or correct the path`;
  }
}

function whyNoFolder(folder: string): string | undefined {
  try {
    return statSync(folder).isDirectory() ? undefined : 'it is not a folder; name one';
  } catch (error) {
    return `${describe(error)}; create it, or correct the path`;
  }
}
