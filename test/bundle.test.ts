/** The program in dist/: what of it is loaded late, its source maps, its licenses, and the files of the package. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
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

const FILES = readdirSync(DIST).filter((file) => file.endsWith('.js'));

/** What is loaded at once with `file`: by its static imports. */
function loadedWith(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, name = ''] of read(file).matchAll(/(?:\bfrom|\bimport)\s*"([^"]+)"/g))
    if (name.startsWith('.')) loadedWith(path.posix.join(path.posix.dirname(file), name), seen);
    else seen.add(name);
  return seen;
}

const partWith = (source: string) => FILES.find((file) => sourcesOf(file).includes(source)) ?? '';
const modulesOf = (files: ReadonlySet<string>) =>
  [...files].filter((file) => file.endsWith('.js') && existsSync(path.join(DIST, file))).flatMap(sourcesOf);

t.test('the service and each engine are parts of their own', async (t) => {
  const atOnce = loadedWith('main.js');
  const service = partWith('src/service.ts');
  const uws = partWith('src/http/uws/server.ts');
  const node = partWith('src/http/node/server.ts');
  t.ok(
    modulesOf(atOnce).includes('src/config/load.ts'),
    'the modules of the other commands are loaded at once',
  );
  t.notOk(atOnce.has(service), 'they run without the service');
  for (const file of ['main.js', service])
    for (const engine of [uws, node, ENGINE, 'node:http'])
      t.notOk(loadedWith(file).has(engine), `${file} loads ${engine} only when it was chosen`);
  const metrics = partWith('src/exporters/prometheus/metrics.ts');
  for (const file of ['main.js', service, uws, node])
    t.notOk(loadedWith(file).has(metrics), `${file} loads the metrics only for a scrape`);
  t.strictSame(
    [...loadedWith(metrics)].filter((file) => file.endsWith('.js')),
    [metrics],
    'and they are in one file',
  );
  t.match(read(service), `import("./${metrics}")`);
  t.ok(loadedWith(uws).has(ENGINE), 'uWebSockets.js is not in the bundle');
  t.notOk(loadedWith(uws).has(node) || loadedWith(uws).has('node:http'), 'one engine is loaded');
  t.notOk(loadedWith(node).has(uws) || loadedWith(node).has(ENGINE), 'one engine is loaded');
  t.ok(FILES.length <= 10, `few files: ${FILES.join(', ')}`);
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
  const packages = new Set(
    FILES.flatMap(sourcesOf).flatMap((source) => /(?:^|\/)node_modules\/([^/]+)\//.exec(source)?.[1] ?? []),
  );
  t.strictSame([...packages].sort(), ['ipaddr.js', 'js-yaml', 'valibot']);
  for (const name of packages)
    t.match(read('licenses.txt'), new RegExp(`^${name}\\n\\n[^]*?Copyright`, 'm'), name);
});
