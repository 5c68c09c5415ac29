/** The program in dist/: what of it is loaded late, its source maps, its licenses, and the files of the package. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin, SourceMap, type SourceMapPayload } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const DIST = path.join(ROOT, 'dist');
const ENGINE = 'uWebSockets.js';
const read = (file: string) => readFileSync(path.join(DIST, file), 'utf8');
const mapOf = (file: string) => JSON.parse(read(`${file}.map`)) as SourceMapPayload; // As esbuild writes it.

/** The file of the repository that a source in the map of `file` is. */
const sourceOf = (file: string, source: string) =>
  path.relative(ROOT, path.resolve(DIST, path.dirname(file), source));
const sourcesOf = (file: string) => mapOf(file).sources.map((source) => sourceOf(file, source));

const SCRIPTS = readdirSync(DIST).filter((file) => file.endsWith('.js'));
/** Libraries that are loaded late, each in a file without a map. */
const LIBRARIES = ['mqtt', 'selfsigned'];
const fileOf = (library: string) => SCRIPTS.find((file) => file.startsWith(`${library}-`)) ?? '';
const FILES = SCRIPTS.filter((file) => !LIBRARIES.some((library) => fileOf(library) === file));

/** Returns the files that are loaded with `file`: by its static imports. */
function loadedWith(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, name = ''] of read(file).matchAll(/(?:\bfrom|\bimport)\s*"([^"]+)"/g))
    if (name.startsWith('.')) loadedWith(path.posix.join(path.posix.dirname(file), name), seen);
    else seen.add(name);
  return seen;
}

/** The package that a source came from, with its scope. */
const packageOf = (source: string) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1];
const packagesIn = (...files: readonly string[]) =>
  new Set(files.flatMap(sourcesOf).flatMap((source) => packageOf(source) ?? []));
const partWith = (source: string) => FILES.find((file) => sourcesOf(file).includes(source)) ?? '';
const modulesOf = (files: ReadonlySet<string>) =>
  [...files].filter((file) => file.endsWith('.js') && existsSync(path.join(DIST, file))).flatMap(sourcesOf);

/** Parts that are loaded when they are first used. */
const LATE = [
  'src/cli/top/top.ts',
  'src/exporters/hub-dials.ts',
  'src/exporters/mdns.ts',
  'src/exporters/mqtt/exporter.ts',
  'src/exporters/prometheus/metrics.ts',
  'src/history/store/store.ts',
];
const SERVICE = 'src/service.ts';
const HUB = 'src/hub/service.ts';
const UWS = 'src/http/uws/server.ts';
const NODE = 'src/http/node/server.ts';

t.test('unused modules are not loaded', async (t) => {
  const [service, hub, uws, node] = [SERVICE, HUB, UWS, NODE].map(partWith) as [
    string,
    string,
    string,
    string,
  ];
  const program = modulesOf(loadedWith('main.js'));
  t.ok(program.includes('src/config/load.ts'), 'the modules of the other commands are loaded immediately');
  const parts = [...LATE.map(partWith), service, hub, uws, node, ...LIBRARIES.map(fileOf)];
  t.equal(new Set(parts).size, parts.length, 'each is a file');
  for (const part of parts) t.ok(SCRIPTS.includes(part), part);
  for (const entry of ['main.js', service, hub, uws, node])
    for (const other of [...parts, ENGINE, 'node:http'])
      if (
        other !== entry &&
        !(entry === uws && other === ENGINE) &&
        !(entry === node && other === 'node:http')
      )
        t.notOk(loadedWith(entry).has(other), `${entry} does not load ${other} with itself`);
  for (const entry of ['main.js', service, uws])
    t.notOk(
      loadedWith(entry).has('ws'),
      `${entry}: ws is for hubs, for agents that dial, and for Node's engine`,
    );
  t.ok(loadedWith(hub).has('ws'));
  t.ok(loadedWith(uws).has(ENGINE), 'uWebSockets.js is not in the bundle');
  t.ok(loadedWith(partWith('src/exporters/mqtt/exporter.ts')).has(fileOf('mqtt')));
  t.equal(
    partWith('src/history/store/store.ts'),
    partWith('src/history/store/worker.ts'),
    'it is its own worker',
  );
});

t.test('few files, and no module twice', async (t) => {
  const started = new Set(
    ['main.js', ...[SERVICE, UWS].map(partWith)].flatMap((file) => [...loadedWith(file)]),
  );
  const scripts = [...started].filter((file) => file.endsWith('.js') && SCRIPTS.includes(file));
  t.ok(scripts.length <= 8, `the start of the service loads ${scripts.join(', ')}`);
  const isOfHub = (source: string) => source.startsWith('src/hub/');
  t.strictSame(modulesOf(new Set(scripts)).filter(isOfHub), [], 'and nothing of the hub');
  const modules = FILES.flatMap(sourcesOf);
  t.equal(new Set(modules).size, modules.length, 'no module twice');
  t.strictSame(
    modules.filter((module) => /^src\/(?:api|cli\/share)\//.test(module)),
    [],
    'what only the build runs is not in it',
  );
});

t.test('the maps name lines of src/, and contain them', async (t) => {
  for (const file of FILES) {
    const { sources, sourcesContent } = mapOf(file);
    t.match(read(file), `//# sourceMappingURL=${path.basename(file)}.map\n`, file);
    for (const [at, source] of sources.map((each) => sourceOf(file, each)).entries())
      if (source.startsWith('src/'))
        t.equal(sourcesContent[at], readFileSync(path.join(ROOT, source), 'utf8'), source);
  }
  const name = 'setFlagsFromString';
  const lines = read('main.js').split('\n');
  const line = lines.findIndex((text) => text.includes(name));
  const found = new SourceMap(mapOf('main.js')).findEntry(line, lines[line]?.indexOf(name) ?? 0);
  const original = readFileSync(path.join(ROOT, 'src/main.ts'), 'utf8').split('\n');
  t.match('originalLine' in found ? original[found.originalLine] : '', `v8.${name}(`);
});

t.test('Node maps a stack trace when it is asked to', async (t) => {
  const stackOf = (...options: readonly string[]) => {
    const program = `import { request } from 'hostwire/client';
      await request('/', { get url() { throw new Error('here'); } }).catch(({ stack }) => console.log(stack));`;
    const args = [...options, '--input-type=module', '-e', program];
    return execFileSync(process.execPath, args, { encoding: 'utf8', cwd: ROOT });
  };
  t.match(stackOf('--enable-source-maps'), /src\/client\/rest\.ts:\d+:\d+/);
  t.match(stackOf(), /dist\/client\/client\.js:\d+:\d+/);
});

t.test('each package in the bundle has its license beside it', async (t) => {
  const packages = [...packagesIn(...FILES)].sort();
  t.strictSame(packages, ['ipaddr.js', 'js-yaml', 'qr', 'valibot']);
  const late = ['mqtt', 'mqtt-packet', 'selfsigned', '@peculiar/x509', 'tslib', 'tsyringe'];
  for (const name of [...packages, ...late])
    t.match(read('licenses.txt'), new RegExp(`^${name}\\n\\n[^]*?Copyright`, 'mi'), name);
});

t.test('a library in a file of its own is complete', async (t) => {
  t.match(read(partWith('src/tls/self-signed.ts')), `import("./${fileOf('selfsigned')}")`);
  for (const library of LIBRARIES)
    t.strictSame(
      [...read(fileOf(library)).matchAll(/\brequire\("([^"]+)"\)/g)]
        .map(([, name]) => name)
        .filter((name) => !isBuiltin(name ?? '')),
      [],
      library,
    );
});
