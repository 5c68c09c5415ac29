/** The recipes of docs/recipes.md, run by the programs that they are for. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { load } from 'js-yaml';
import t, { type Test } from 'tap';
import { listen } from '../helpers/clients/listen.ts';
import { Installed } from '../helpers/docs/installed.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { type StartedService, serveProgram } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

t.setTimeout(900_000);

const PAGE = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/recipes.md'), 'utf8');
const KEY = 'a key of thirty-two characters..'.replaceAll(' ', '-');
const LIMIT_MS = 60_000;

/** The blocks by the heading that they stand under. */
const RECIPES: ReadonlyMap<string, string> = new Map(
  [...PAGE.matchAll(/^## (.*)\n[\s\S]*?^```\w+\n([\s\S]*?)^```$/gm)].map(([, heading = '', text = '']) => [
    heading,
    text,
  ]),
);
const RUN = [
  ...['Home Assistant', 'Telegraf', 'collectd', 'Node-RED', 'Python: httpx'],
  ...['A web page with a key: fetch-event-source', 'A web page without a key: EventSource'],
];
/** Not the program itself: what it sends, and what it makes of the answer. */
const MODELLED = ['Home Assistant', 'Telegraf'];

function recipe(heading: string, { baseUrl }: StartedService): string {
  const text = RECIPES.get(heading);
  if (text === undefined) throw new Error(`no recipe ${heading}`);
  return text.replaceAll('http://pc:9990', baseUrl).replaceAll('<API_KEY>', KEY);
}

const start = async (t: Test, allowed: readonly string[] = []) =>
  await serveProgram(t, {
    config: {
      stats: { stream_interval_seconds: 1 },
      auth: { enabled: true, api_key: KEY, allowed_ips: [...allowed] },
    },
  });

/** Returns a function that yields the output of `child` so far. */
function outputOf(t: Test, child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  t.teardown(() => child.kill('SIGKILL'));
  return () => text;
}

/** Lines that are numbers, which the programs print. */
const numbersIn = (text: string) => text.match(/^\d+(?:\.\d+)?$/gm) ?? [];

const isInstalled = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const hasPython = (module: string) => spawnSync('/usr/bin/python3', ['-c', `import ${module}`]).status === 0;

t.test('each recipe of the page is run, or says how far', async (t) => {
  t.strictSame([...RECIPES.keys()].sort(), [...RUN].sort());
  for (const heading of MODELLED)
    t.match(PAGE, new RegExp(`^## ${heading}\n\n.*${heading} itself was not run`, 'm'));
});

interface Rest {
  readonly resource: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sensor: readonly { readonly name: string; readonly value_template: string }[];
}

interface RestCommand {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly content_type?: string;
  readonly payload?: string;
}

const render = (template: string, variables: object) =>
  spawnSync('/usr/bin/python3', [
    '-c',
    'import jinja2, json, sys; print(jinja2.Template(sys.argv[1], undefined=jinja2.StrictUndefined).render(json.loads(sys.argv[2])))',
    ...[template, JSON.stringify(variables)],
  ]);

t.test('Home Assistant', { skip: !hasPython('jinja2') && 'python3-jinja2 is missing' }, async (t) => {
  const service = await start(t);
  // The shape that the page shows.
  const { rest, rest_command: commands } = load(recipe('Home Assistant', service)) as {
    readonly rest: readonly Rest[];
    readonly rest_command: Readonly<Record<string, RestCommand>>;
  };
  for (const { resource, headers, sensor } of rest) {
    const value_json = await (await fetch(resource, { headers })).json();
    for (const { name, value_template } of sensor) {
      const { status, stdout, stderr } = render(value_template, { value_json });
      t.equal(status, 0, `${name}: ${stderr}`);
      // A virtual machine has no temperature, and a first poll may have no rate.
      t.match(String(stdout).trim(), /^(?:[\d.]+|None)$/, `${name}: ${String(stdout)}`);
    }
  }
  for (const [name, { url, headers, content_type, payload }] of Object.entries(commands)) {
    const type = content_type === undefined ? {} : { 'Content-Type': content_type };
    const body = payload === undefined ? null : String(render(payload, { action: 'pause' }).stdout);
    const answer = await fetch(url, { method: 'POST', headers: { ...headers, ...type }, body });
    t.equal(answer.status, 200, `${name}: ${await answer.text()}`);
  }
});

/** As Telegraf's parser of JSON: the numbers of all levels, with `_` between the names. */
function numbersOf(value: unknown, name = ''): readonly string[] {
  if (typeof value === 'number') return [name];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    numbersOf(inner, name === '' ? key : `${name}_${key}`),
  );
}

t.test('Telegraf', { skip: !hasPython('tomllib') && 'Python 3.11 is missing' }, async (t) => {
  const service = await start(t);
  const { status, stdout } = spawnSync(
    '/usr/bin/python3',
    ['-c', 'import json, sys, tomllib; print(json.dumps(tomllib.load(sys.stdin.buffer)))'],
    { input: recipe('Telegraf', service) },
  );
  t.equal(status, 0, 'it is TOML');
  const [input] = JSON.parse(String(stdout)).inputs.http;
  t.match(input, { data_format: 'json', name_override: 'pc', interval: '30s' });
  const answer = await fetch(input.urls[0], { headers: input.headers });
  t.equal(answer.status, 200);
  const fields = numbersOf(await answer.json());
  for (const [, field = ''] of /^## Telegraf\n\n(.*)$/m.exec(PAGE)?.[1]?.matchAll(/`(\w+_\w+)`/g) ?? [])
    t.ok(fields.includes(field), field);
  t.ok(fields.length >= 8, fields.join(', '));
});

t.test('collectd', { skip: !isInstalled('collectd') && 'collectd-core is missing' }, async (t) => {
  const service = await start(t);
  const folder = emptyFolder(t, 'recipe');
  const config = path.join(folder, 'collectd.conf');
  writeFileSync(
    config,
    `Hostname "here"\nFQDNLookup false\nInterval 1\nBaseDir "${folder}"\nPIDFile "${folder}/pid"
TypesDB "/usr/share/collectd/types.db"\nLoadPlugin csv\n<Plugin csv>\n  DataDir "${folder}"\n</Plugin>
${recipe('collectd', service)}`,
  );
  const said = outputOf(t, spawn('collectd', ['-f', '-C', config]));
  const values = () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /curl_json-pc/.test(file),
    );
    return files.flatMap((file) => {
      try {
        return /\n\d+\.\d+,[\d.]/.test(readFileSync(path.join(folder, file), 'utf8'))
          ? [path.basename(file).replace(/-\d{4}-.*$/, '')]
          : [];
      } catch {
        return [];
      }
    });
  };
  await until(() => values().length >= 4, said, LIMIT_MS);
  t.strictSame(values().sort(), [
    'derive-network-bytesRecv',
    'memory-memory-used',
    'percent-cpu-current_load',
    'temperature-cpu-current_temp',
  ]);
});

t.test('Node-RED', async (t) => {
  const service = await start(t);
  const tools = new Installed(t, ['node-red@4']);
  writeFileSync(path.join(tools.folder, 'flows.json'), recipe('Node-RED', service));
  const settings = 'module.exports = { httpAdminRoot: false, uiHost: "127.0.0.1", uiPort: 0 };';
  writeFileSync(path.join(tools.folder, 'settings.js'), settings);
  const red = path.join(tools.folder, 'node_modules/node-red/red.js');
  const args = [red, '--userDir', tools.folder, '--settings', `${tools.folder}/settings.js`, 'flows.json'];
  const said = outputOf(t, spawn(process.execPath, args, { cwd: tools.folder }));
  await until(() => /\[debug:show\] *\d/.test(said()), said, LIMIT_MS);
  t.match(said(), /\[debug:show\] *\d/);
});

t.test('fetch-event-source', async (t) => {
  const service = await start(t);
  // Ends each stream after its first event, as a service does that is restarted.
  let streams = 0;
  const front = createServer(({ url = '' }, answer) => {
    streams++;
    const request = get(`${service.baseUrl}${url}`, { headers: { Authorization: `Bearer ${KEY}` } });
    request.once('response', (from) => {
      answer.writeHead(from.statusCode ?? 500, { 'Content-Type': from.headers['content-type'] });
      let text = '';
      from.on('data', (part: Buffer) => {
        text += part;
        if (!text.includes('\n\n')) return;
        answer.end(text);
        request.destroy();
      });
    });
  }).listen(0, '127.0.0.1');
  const port = await listen(t, front);
  const tools = new Installed(t, ['@microsoft/fetch-event-source@2']);
  const program = path.join(tools.folder, 'recipe.mjs');
  const browser = `globalThis.window = globalThis;
globalThis.document = { hidden: false, addEventListener() {}, removeEventListener() {} };\n`;
  writeFileSync(path.join(tools.folder, 'browser.mjs'), browser);
  const text = (baseUrl: string) =>
    `import './browser.mjs';\n${recipe('A web page with a key: fetch-event-source', { ...service, baseUrl })}`;
  writeFileSync(program, text(service.baseUrl));
  const direct = outputOf(t, spawn(process.execPath, [program]));
  await until(() => numbersIn(direct()).length >= 2, direct, LIMIT_MS);
  writeFileSync(program, text(`http://127.0.0.1:${port}`));
  const ended = outputOf(t, spawn(process.execPath, [program]));
  await until(() => numbersIn(ended()).length >= 2, ended, LIMIT_MS);
  t.ok(streams >= 2, 'it connects again after the stream has ended');
});

t.test('EventSource', async (t) => {
  const service = await start(t, ['127.0.0.1']);
  const program = path.join(emptyFolder(t, 'recipe'), 'recipe.mjs');
  writeFileSync(program, recipe('A web page without a key: EventSource', service));
  const said = outputOf(t, spawn(process.execPath, ['--experimental-eventsource', program]));
  await until(() => numbersIn(said()).length >= 2, said, LIMIT_MS);
  t.ok(numbersIn(said()).length >= 2);
});

t.test('httpx', { skip: !hasPython('httpx') && 'python3-httpx is missing' }, async (t) => {
  const service = await start(t);
  const program = path.join(emptyFolder(t, 'recipe'), 'recipe.py');
  writeFileSync(program, recipe('Python: httpx', service));
  const said = outputOf(t, spawn('/usr/bin/python3', [program]));
  await until(() => numbersIn(said()).length >= 2, said, LIMIT_MS);
  t.ok(numbersIn(said()).length >= 2);
});
