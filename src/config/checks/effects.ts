/** Warns of settings that are valid and have no effect: of another role, on this Node, or without what they need. */

import { accessSync, constants, statSync } from 'node:fs';
import { DEFAULT_KEY } from '../../access/key.ts';
import { codeOf } from '../../errors.ts';
import { isObject } from '../../json.ts';
import { didYouMean, findMeantAmong } from '../../nearest.ts';
import { ROWS } from '../rows/key-table.ts';
import { describe } from '../sources/read-text.ts';
import type { Surroundings } from '../sources/search.ts';
import type { Setting, Settings } from './findings.ts';
import { formatProblem, type Notice, show } from './problems.ts';

/** The part of the program that runs with a configuration. */
export type Role = 'service' | 'hub';

/** `role`: of the process that loads the settings; undefined: a check of files that may be for either. */
export function listEffects(
  settings: Settings,
  { hasSqlite }: Pick<Surroundings, 'hasSqlite'>,
  role: Role | undefined,
): readonly Notice[] {
  const firstKey = [...settings.keys()].find(isNamedKey);
  // One key stands for all, of which there may be thousands.
  const all = [...settings.values()].filter(({ key }) => key === firstKey || !isNamedKey(key));
  // A hub has no history and launches no apps.
  const ofService = role === 'hub' ? [] : all;
  return [
    ...judgeRole(all, role),
    ...judgeNeeds(all, settings, role),
    ...ofService.flatMap((setting) => judgeService(setting, settings, hasSqlite)),
    ...judgeKey(settings, firstKey !== undefined),
    ...all.flatMap((setting) => judgeRule(setting, settings)),
  ];
}

const isNamedKey = (key: string) => key.startsWith(NAMED_KEYS);
const NAMED_KEYS = 'auth.keys.';

const noticeAt = (level: Notice['level'], setting: Setting, message: string): Notice => ({
  level,
  text: formatProblem({ ...setting, message }),
});

const isBelow = (key: string, prefixes: readonly string[]) =>
  prefixes.some((prefix) => key === prefix || key.startsWith(`${prefix}.`));

const OF_HUB = ['hub.agents', 'hub.state_path', 'hub.commands', 'hub.brokers'];
const OF_DIALING = ['hub.url', 'hub.key_file', 'hub.pin', 'hub.scopes', 'hub.plain_networks'];
/** A hub reads nothing of its own machine, and carries nothing out on it. */
const OF_SERVICE = [
  ...OF_DIALING,
  ...['history', 'mqtt', 'watch', 'wake', 'processes', 'power', 'discovery', 'host.labels', 'host.id'],
  ...['sleep', 'hibernate', 'restart', 'shutdown', 'media', 'processes', 'process_control', 'wake'].map(
    (feature) => `features.enable_${feature}`,
  ),
];

function judgeRole(settings: readonly Setting[], role: Role | undefined): readonly Notice[] {
  const listSet = (prefixes: readonly string[]) =>
    prefixes.filter((prefix) => settings.some(({ key }) => isBelow(key, [prefix]))).join(', ');
  const [ofHub, ofDialing, ofService] = [OF_HUB, OF_DIALING, OF_SERVICE].map(listSet);
  const notice = (level: Notice['level'], text: string) => [{ level, text }];
  if (role === 'hub')
    return ofService === ''
      ? []
      : notice('info', `${ofService}: used by "hostwire run" only; a hub ignores it`);
  if (ofHub === '') return [];
  if (role === 'service')
    return notice(
      'warn',
      `${ofHub}: used by "hostwire hub" only, and this is "hostwire run", which shows this machine alone; start a hub with "hostwire hub --config FILE"`,
    );
  return ofDialing === ''
    ? notice('info', `${ofHub}: used by "hostwire hub" only; "hostwire run" ignores it`)
    : notice(
        'warn',
        `${ofDialing}: used by "hostwire run" only, ${ofHub} by "hostwire hub" only; give each a file of its own`,
      );
}

/** Keys that do little or nothing while another one is off or not set, and the consequence. */
const NEEDS: readonly (readonly [keys: string[], needed: string, level: Notice['level'], text: string])[] = [
  [
    ['auth.api_key', 'auth.api_key_file', 'auth.allowed_ips'],
    'auth.enabled',
    'warn',
    'every client may connect without the key',
  ],
  [['auth.keys'], 'auth.enabled', 'warn', 'every client may connect without a key'],
  [['wake.hosts'], 'features.enable_wake', 'info', 'no client may wake them'],
  [['processes.launch'], 'features.enable_process_control', 'info', 'no client may start them'],
  [['mqtt'], 'mqtt.url', 'warn', 'MQTT is off'],
  [['notify.heartbeat'], 'notify.heartbeat.url', 'warn', 'nothing is requested'],
  [['history.max_megabytes'], 'history.path', 'warn', 'nothing is written to a file'],
];

/** Warns of settings that another one switches off. */
function judgeNeeds(all: readonly Setting[], settings: Settings, role: Role | undefined): readonly Notice[] {
  // judgeRole has named all keys of the other role.
  const ofOther = role === 'hub' ? OF_SERVICE : role === 'service' ? OF_HUB : [];
  return NEEDS.flatMap(([keys, needed, level, text]): Notice[] => {
    const value = settings.get(needed)?.value ?? false;
    const found = all.find(
      (setting) => isBelow(setting.key, keys) && setting.key !== needed && !isEmpty(setting.value),
    );
    if (value !== false || found === undefined || isBelow(found.key, ofOther)) return [];
    // Keys then allow more than no key.
    if (isBelow(found.key, ['auth.keys']) && settings.has('auth.guests')) return [];
    const state = settings.has(needed) ? 'false' : 'not set';
    const remedy = `set ${needed}${ROWS.get(needed)?.type === 'boolean' ? ' to true' : ''}`;
    return [noticeAt(level, found, `${needed} is ${state}, so ${text}; ${remedy}`)];
  });
}

/** A list of addresses that keeps no client out: an empty one, or one with "*". */
const isEmpty = (value: unknown) =>
  isObject(value) &&
  Array.isArray(value['entries']) &&
  (value['entries'].length === 0 || value['entries'].includes('*'));

const PERCENTAGES = /^(?:cpu\.(?:load|core)|\w+\.\w+_percent|disk\.busy|gpu\.load|battery\.charge)(?:\/|$)/u;

/** Warns of a history that cannot be kept in a file, a rule that never begins, an app that cannot be started now. */
function judgeService(setting: Setting, settings: Settings, hasSqlite: boolean | undefined) {
  const { key, value } = setting;
  const warn = (message: string | undefined) =>
    message === undefined ? [] : [noticeAt('warn', setting, message)];
  if (key === 'history.path' && hasSqlite === false)
    return warn(
      'the history stays in memory, because this Node has no node:sqlite; Node 22.13 and later have it',
    );
  if (isBelow(key, ['watch.rules'])) {
    const { series, above = 0, below = 100 } = value as { series: string; above?: number; below?: number }; // Its row accepted it.
    if (settings.get('history.minutes')?.value === 0)
      return warn('history.minutes is 0, so the rule is never judged; set it to 1 or more');
    if (PERCENTAGES.test(series) && (above >= 100 || below <= 0))
      return warn(`${series} is a percentage, so the rule never begins; write a limit within 0 and 100`);
  }
  if (isBelow(key, ['processes.launch']) && isObject(value)) {
    const { command, cwd } = value;
    const [noCommand, noCwd] = [whyNotStarted(String(command)), cwd && whyNoFolder(String(cwd))];
    return [
      ...warn(noCommand && `its command ${command}: ${noCommand}`),
      ...warn(noCwd ? `its cwd ${cwd}: ${noCwd}` : undefined),
    ];
  }
  return [];
}

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

/** The disk may hang: not for a service, whose history reports what its disk does. */
export function whyNoFolder(folder: string): string | undefined {
  try {
    return statSync(folder).isDirectory() ? undefined : 'it is not a folder; name one';
  } catch (error) {
    return `${describe(error)}; create it, or correct the path`;
  }
}

/** A shorter key gets a warning: the contract calls 32 characters sufficient for a home network. */
const MIN_CHARACTERS = 32;

/** Warns of a key that is weak or missing. */
function judgeKey(settings: Settings, hasNamed: boolean): readonly Notice[] {
  const key = settings.get('auth.api_key')?.value;
  if (typeof key === 'string') {
    if (key.length >= MIN_CHARACTERS) return [];
    const text = `auth.api_key has fewer than ${MIN_CHARACTERS} characters; "hostwire keygen" makes a strong one`;
    return [{ level: 'warn', text }];
  }
  if (settings.get('auth.enabled')?.value !== true) return [];
  if (hasNamed) return [];
  const allowed = settings.get('auth.allowed_ips')?.value;
  const entries: unknown = isObject(allowed) ? allowed['entries'] : undefined;
  const hasAddresses = Array.isArray(entries) && entries.some((entry) => entry !== '*');
  const admitted = hasAddresses ? 'only the addresses in auth.allowed_ips' : 'no client';
  const text = `auth.enabled is true and no key is configured, so ${admitted} can connect; "hostwire keygen" makes a key`;
  return [{ level: 'error', text }];
}

/** Warns of a rule of `hub.commands` for names that no key has: it applies to no client. */
function judgeRule(setting: Setting, settings: Settings): readonly Notice[] {
  if (!isBelow(setting.key, ['hub.commands'])) return [];
  const { keys = [] } = setting.value as { readonly keys?: readonly string[] }; // Its row accepted it.
  const names = [...settings.keys()].filter(isNamedKey).map((key) => key.slice(NAMED_KEYS.length));
  if (settings.has('auth.api_key')) names.push(DEFAULT_KEY);
  const unknown = keys.filter((name) => !names.includes(name));
  return unknown.map((name) => {
    const what = name === DEFAULT_KEY ? 'auth.api_key is not set' : `auth.keys has no key ${show(name)}`;
    const meant = findMeantAmong(name, names);
    const remedy = didYouMean(meant, '"hostwire pair" or "hostwire keygen" makes one');
    const text = `${what}, so this rule allows no client with it${remedy}`;
    return noticeAt('warn', { ...setting, key: `${setting.key}.keys` }, text);
  });
}
