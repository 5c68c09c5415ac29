/** config.example.yaml, made from the schema: every key with its meaning and its default, commented out. */

import { NO_ADDRESSES } from '#src/access/addresses.js';
import { isRow, KEY_GROUPS, type KeyGroup } from '#src/config/rows/key-table.js';
import type { Row } from '#src/config/rows/row.js';

const HEAD = `# Every key with its default: made from the schema, in the order of docs/configuration.md, by HOSTWIRE_WRITE_DOCS=1
# node build/ts/test/config/docs.test.js. Copy this file as config.yaml into ~/.config/hostwire, /etc/hostwire or the
# working folder, and remove the # before what you change; a section without keys is empty, and a key without a value
# is not set. "hostwire check" shows what is in effect, and what is wrong. A relative path starts at the folder of the
# file that names it. A file that holds a secret has at most 4 KiB, a trailing newline is cut, and only its owner and its
# group may be able to read it.
#
# config.example.json has no other keys, only the two sections that the interface puts into a JSON file: stats and auth.
# Both files are one configuration; a key may be in either of them, but not in both with different values. To require a
# key, run "hostwire keygen", set it as auth.api_key with auth.enabled, and make the file unreadable for others (chmod 600).
`;

/** An entry of each map by name: its name, and the values of keys that it must have. */
const ENTRIES: Readonly<Record<string, readonly [name: string, values: Readonly<Record<string, unknown>>]>> =
  {
    'auth.keys': ['phone', { digest: `sha256/${'A'.repeat(43)}=`, scopes: ['read', 'media'] }],
    'processes.launch': ['player', { command: '/usr/bin/mpv' }],
    'wake.hosts': ['nas', { mac: '02:00:5e:10:00:00' }],
    'hub.agents': ['nas', { url: 'http://nas.lan:9990' }],
    'hub.brokers': ['room', { url: 'mqtts://broker.lan' }],
    'hub.commands': ['living-room', { commands: ['media.*'] }],
    'watch.rules': ['hot', { series: 'cpu.temperature', above: 85 }],
    'notify.targets': ['hook', { type: 'webhook', url: 'https://hook.lan/alerts' }],
  };

/** The section that the interface puts into a YAML file: its keys are set. */
const SET_SECTION = 'features';

const WIDTH = 120;

/** Prose as comments of at most WIDTH characters. */
function comment(text: string, indent: string): readonly string[] {
  const lines: string[] = [];
  let line = `${indent}#`;
  for (const word of text.replaceAll('`', '').split(' ')) {
    if (line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = `${indent}#`;
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

/** The meaning, and a default that the value beside it does not show. */
function describe({ meaning, defaultInWords = '' }: Row<unknown>): string {
  if (defaultInWords === '' || defaultInWords === '`[]`') return meaning;
  if (defaultInWords.startsWith('required')) return `${meaning} R${defaultInWords.slice(1)}.`;
  return defaultInWords === 'none'
    ? `${meaning} Not set by default.`
    : `${meaning} Default: ${defaultInWords}.`;
}

/** `name: value`; without a value the key is not set. */
const assign = (name: string, value: unknown) =>
  value === undefined ? `${name}:` : `${name}: ${JSON.stringify(value)}`;

/** A key that is commented out starts with # and no space, so that removing the # is enough. */
function rowLines(key: string, name: string, row: Row<unknown>, indent: string): readonly string[] {
  const lines = comment(describe(row), indent);
  if (row.entries !== undefined) return [...lines, ...entryLines(key, name, row.entries.keys, indent)];
  const value = row.default === NO_ADDRESSES ? [] : row.default;
  const isSet = key.startsWith(`${SET_SECTION}.`) && row.defaultInWords === undefined;
  return [...lines, `${indent}${isSet ? '' : '#'}${assign(name, value)}`];
}

function entryLines(
  key: string,
  name: string,
  keys: Readonly<Record<string, Row<unknown>>>,
  indent: string,
): readonly string[] {
  const [entry, values] = ENTRIES[key] ?? ['name', {}];
  const inner = Object.entries(keys).flatMap(([each, row]) => {
    const value = values[each] ?? (row.defaultInWords === 'required' ? undefined : row.default);
    return [...comment(describe(row), '    '), `    ${assign(each, value)}`];
  });
  return [`${name}:`, `  ${entry}:`, ...inner].map((line) => `${indent}#${line}`);
}

function groupLines(group: KeyGroup, path: string, indent: string): readonly string[] {
  return Object.entries(group).flatMap(([name, entry]) => {
    const key = path === '' ? name : `${path}.${name}`;
    if (isRow(entry)) return rowLines(key, name, entry, indent);
    const lines = [`${indent}${name}:`, ...groupLines(entry, key, `${indent}  `)];
    return path === '' ? ['', ...lines] : lines;
  });
}

export function exampleYaml(): string {
  return `${HEAD}${groupLines(KEY_GROUPS, '', '').join('\n')}\n`;
}

/** The example with all that is commented out in effect. */
export const withoutComments = (example: string) => example.replaceAll(/^( *)#(?! \S)/gm, '$1');
