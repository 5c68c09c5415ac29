/** docs/configuration.md lists every key as the schema does, and the shipped examples are valid together. */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { loadConfig } from '#src/config/load.js';
import { ROWS } from '#src/config/rows/key-table.js';
import type { Row } from '#src/config/rows/row.js';
import { parse } from '#src/config/sources/parse.js';
import { isObject } from '#src/json.js';
import { exampleYaml, withoutComments } from './example.ts';
import { asWritten, load, makeFolder, optionsFor, writeFiles } from './loading.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const page = path.join(root, 'docs/configuration.md');

function table(rows: Iterable<readonly [string, Row<unknown>]>, hasRestart: boolean): string {
  const head = hasRestart
    ? '| Key | Type | Default | Restart | Meaning |\n|---|---|---|---|---|'
    : '| Key | Type | Default | Meaning |\n|---|---|---|---|';
  const lines = [...rows].map(([key, row]) => {
    const fallback = row.defaultInWords ?? `\`${JSON.stringify(row.default)}\``;
    const restart = hasRestart ? [row.needsRestart ? 'yes' : ''] : [];
    return `| ${[`\`${key}\``, row.type, fallback, ...restart, row.meaning].join(' | ')} |`.replace(
      '|  |',
      '| |',
    );
  });
  return [head, ...lines].join('\n');
}

const entriesOf = (key: string) => Object.entries(ROWS.get(key)?.entries?.keys ?? {});

const sections: readonly (readonly [RegExp, string])[] = [
  [/(<!-- keys: .*-->\n)[\s\S]*(<!-- \/keys -->)/, table(ROWS, true)],
  [/(<!-- wake -->\n)[\s\S]*(<!-- \/wake -->)/, table(entriesOf('wake.hosts'), false)],
  [/(<!-- agents -->\n)[\s\S]*(<!-- \/agents -->)/, table(entriesOf('hub.agents'), false)],
  [/(<!-- brokers -->\n)[\s\S]*(<!-- \/brokers -->)/, table(entriesOf('hub.brokers'), false)],
  [/(<!-- commands -->\n)[\s\S]*(<!-- \/commands -->)/, table(entriesOf('hub.commands'), false)],
  [/(<!-- watch -->\n)[\s\S]*(<!-- \/watch -->)/, table(entriesOf('watch.rules'), false)],
  [/(<!-- targets -->\n)[\s\S]*(<!-- \/targets -->)/, table(entriesOf('notify.targets'), false)],
  [/(<!-- launch -->\n)[\s\S]*(<!-- \/launch -->)/, table(entriesOf('processes.launch'), false)],
];

t.test('[8.docs] docs/configuration.md has the tables of the schema', async (t) => {
  const text = readFileSync(page, 'utf8');
  let wanted = text;
  for (const [pattern, content] of sections) {
    t.match(text, pattern, 'the place of the table');
    wanted = wanted.replace(pattern, (_, before, after) => `${before}${content}\n${after}`);
  }
  if (process.env['HOSTWIRE_WRITE_DOCS'] === '1') writeFileSync(page, wanted);
  t.equal(readFileSync(page, 'utf8'), wanted, 'HOSTWIRE_WRITE_DOCS=1 writes it');
  for (const key of ROWS.keys()) t.match(wanted, `| \`${key}\` |`);
});

t.test(
  '[8.examples] config.example.json (stats, auth) and config.example.yaml (features), interval 2, are one valid configuration',
  async (t) => {
    const folder = makeFolder(t);
    const [json, yaml] = ['config.example.json', 'config.example.yaml'].map((name) =>
      readFileSync(path.join(root, name), 'utf8'),
    );
    writeFiles(folder, { 'config.json': json ?? '', 'config.yaml': yaml ?? '' });
    const { config, notices, unknownKeys, origins } = loadConfig(optionsFor(folder));
    t.same(notices, []);
    t.same(unknownKeys, []);
    t.equal(config.stats.stream_interval_seconds, 2);
    t.strictSame(config, DEFAULT_CONFIG, 'the examples change nothing until they are edited');
    t.same(Object.keys(JSON.parse(json ?? '')), ['stats', 'auth']);
    const inYaml = [...origins].filter(([, origin]) => origin.includes('config.yaml')).map(([key]) => key);
    t.ok(inYaml.length > 5 && inYaml.every((key) => key.startsWith('features.')));
    t.match(origins.get('stats.stream_interval_seconds'), /config\.json:\d+$/);
  },
);

t.test('[8.examples] config.example.yaml has every key with its default, from the schema', async (t) => {
  const file = path.join(root, 'config.example.yaml');
  if (process.env['HOSTWIRE_WRITE_DOCS'] === '1') writeFileSync(file, exampleYaml());
  const text = readFileSync(file, 'utf8');
  t.equal(text, exampleYaml(), 'HOSTWIRE_WRITE_DOCS=1 writes it');
  const whole = withoutComments(text);
  const { value, problems } = parse(whole, 'YAML');
  t.same(problems, []);
  const written = keysOf(value, '');
  for (const key of ROWS.keys()) t.ok(written.has(key), key);
  for (const { entries } of ROWS.values())
    for (const key of Object.keys(entries?.keys ?? {}))
      t.ok(
        [...written].some((each) => each.endsWith(`.${key}`)),
        key,
      );
  // Without its entries of maps it is the defaults, and each entry is valid.
  const { config, unknownKeys } = load(t, { 'config.yaml': whole });
  t.same(unknownKeys, []);
  const { processes, wake, hub, watch, notify, auth, ...rest } = config;
  const {
    processes: _p,
    wake: _w,
    hub: ofHub,
    watch: _r,
    notify: ofNotify,
    auth: ofAuth,
    ...defaults
  } = DEFAULT_CONFIG;
  t.strictSame(asWritten(rest), asWritten(defaults));
  t.strictSame(asWritten({ ...auth, keys: {} }), asWritten({ ...ofAuth, keys: {} }));
  t.strictSame({ ...notify, targets: {} }, { ...ofNotify, targets: {} });
  const entries = { agents: {}, brokers: {}, commands: {} };
  t.strictSame({ ...hub, ...entries }, { ...ofHub, ...entries });
  const maps = [
    auth.keys,
    processes.launch,
    wake.hosts,
    hub.agents,
    hub.brokers,
    hub.commands,
    watch.rules,
    notify.targets,
  ];
  t.same(
    maps.map((map) => Object.keys(map).length),
    [1, 1, 1, 1, 1, 1, 1, 1],
  );
});

/** The dotted keys of all values. */
function keysOf(value: unknown, prefix: string): ReadonlySet<string> {
  if (!isObject(value)) return new Set();
  return new Set(
    Object.entries(value).flatMap(([key, inner]) => [
      `${prefix}${key}`,
      ...keysOf(inner, `${prefix}${key}.`),
    ]),
  );
}
