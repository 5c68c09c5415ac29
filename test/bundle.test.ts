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
/** The library that is loaded late, which has no map. */
const LIBRARY = SCRIPTS.filter((file) => file.startsWith('selfsigned-'));
const FILES = SCRIPTS.filter((file) => !LIBRARY.includes(file));

/** What is loaded at once with `file`: by its static imports. */
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
const partsWith = (name: string) => FILES.filter((file) => packagesIn(file).has(name));
const partWith = (source: string) => FILES.find((file) => sourcesOf(file).includes(source)) ?? '';
const modulesOf = (files: ReadonlySet<string>) =>
  [...files].filter((file) => file.endsWith('.js') && existsSync(path.join(DIST, file))).flatMap(sourcesOf);

/** Modules that the terminal view has copies of. */
const COPIED = ['src/tls/certificate.ts', 'src/clean.ts', 'src/cli/output.ts'];

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
  for (const entry of [
    'src/exporters/prometheus/metrics.ts',
    'src/exporters/mqtt/exporter.ts',
    'src/history/store/store.ts',
  ]) {
    const late = partWith(entry);
    for (const file of ['main.js', service, uws, node])
      t.notOk(loadedWith(file).has(late), `${file} loads ${entry} only when it is used`);
    t.strictSame(
      [...loadedWith(late)].filter((file) => file.endsWith('.js')),
      [late],
      'and it is in one file',
    );
    t.match(read(service), `import("./${late}")`);
  }
  const hub = partWith('src/hub/service.ts');
  t.match(read('main.js'), `import("./${hub}")`);
  for (const file of ['main.js', service, uws, node])
    t.notOk(loadedWith(file).has(hub), `${file} loads the hub only for its command`);
  const store = partWith('src/history/store/store.ts');
  t.equal(store, partWith('src/history/store/worker.ts'), 'the store is its own worker');
  const top = partWith('src/cli/top/top.ts');
  t.match(read('main.js'), `import("./${top}")`);
  for (const file of ['main.js', service, uws, node])
    t.notOk(loadedWith(file).has(top), `${file} loads the terminal view only for its command`);
  t.strictSame(
    [...loadedWith(top)].filter((file) => file.endsWith('.js')),
    [top],
    'and it is in one file',
  );
  const mqtt = partWith('src/exporters/mqtt/exporter.ts');
  t.strictSame(partsWith('mqtt'), [mqtt], 'the library is in the part that uses it');
  t.strictSame(
    [...loadedWith(mqtt)].filter((name) => name !== mqtt && !isBuiltin(name)),
    [],
    'with all that it imports',
  );
  const mdns = partWith('src/exporters/mdns/mdns.ts');
  for (const file of ['main.js', service, uws, node])
    t.notOk(loadedWith(file).has(mdns), `${file} loads mDNS only where it is wanted`);
  t.match(read(service), `import("./${mdns}")`);
  t.ok(loadedWith(uws).has(ENGINE), 'uWebSockets.js is not in the bundle');
  t.notOk(loadedWith(uws).has(node) || loadedWith(uws).has('node:http'), 'one engine is loaded');
  t.notOk(loadedWith(node).has(uws) || loadedWith(node).has(ENGINE), 'one engine is loaded');
  t.ok(FILES.length <= 18, `few files: ${FILES.join(', ')}`);
  // The client compares pins and cleans texts with them, and is in no other part: 1 KB twice, instead of one more file at
  // each start. The hub has its own copies, so that the service's modules stay in one file; the dial-in has those of the
  // MQTT exporter that it needs, without the library. Both exporters count as the service does, with copies of their own.
  // Of errors.ts several parts have the function for texts, 70 bytes.
  const dial = partWith('src/exporters/dial/exporter.ts');
  const modules = FILES.filter((file) => file !== hub && file !== dial).flatMap((file) =>
    sourcesOf(file)
      .filter((source) => source !== 'src/errors.ts' && (file !== top || !COPIED.includes(source)))
      .filter((source) => file !== mqtt || !source.startsWith('src/fairness/')),
  );
  t.notOk(
    modules.some((source) => source.startsWith('src/hub/')),
    'no other part has a module of the hub',
  );
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
  const withoutMqtt = packagesIn(...FILES.filter((file) => !packagesIn(file).has('mqtt')));
  t.strictSame([...withoutMqtt].sort(), ['ipaddr.js', 'js-yaml', 'valibot']);
  for (const name of [...packagesIn(...FILES), 'selfsigned', '@peculiar/x509', 'tslib', 'tsyringe'])
    t.match(read('licenses.txt'), new RegExp(`^${name}\\n\\n[^]*?Copyright`, 'mi'), name);
});

t.test('what only keygen --tls needs is one file that nothing loads at once', async (t) => {
  t.equal(LIBRARY.length, 1);
  const [library = ''] = LIBRARY;
  t.match(read(partWith('src/tls/self-signed.ts')), `import("./${library}")`);
  for (const file of FILES) t.notOk(loadedWith(file).has(library), `${file} loads it only when it is used`);
  t.strictSame(
    [...read(library).matchAll(/\brequire\("([^"]+)"\)/g)]
      .map(([, name]) => name)
      .filter((name) => !isBuiltin(name ?? '')),
    [],
    'and it is complete',
  );
});
