// Bundles the program that users run: src/main.ts and what it imports, minified by esbuild, into dist/main.js and parts
// beside it, with source maps; and hostwire/client, for programs, into dist/client/.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const target = path.join(root, 'dist');
/** The same sources, module by module: the declarations beside them are tsc's. */
const modules = path.join(root, 'build/ts/src');

/** Stay in node_modules: the engines. */
export const EXTERNAL = ['uWebSockets.js', 'ws'];

/** The licenses of packages, for those who ship a bundle of them. Throws where a package has none. */
export function licensesOf(packages) {
  const texts = packages.map((name) => {
    const folder = path.join(root, 'node_modules', name);
    const file = readdirSync(folder).find((each) => /^licen[cs]e(?:\.md|\.txt)?$/i.test(each));
    if (file === undefined) throw new Error(`${folder} has no license`);
    return `${name}\n\n${readFileSync(path.join(folder, file), 'utf8')}`;
  });
  return Buffer.from(texts.join('\n\n'));
}

// Replaced, never overwritten: a service that starts meanwhile reads the old file or the new one.
function write(file, bytes) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, bytes);
  renameSync(`${file}.new`, file);
}

/**
 * Each is loaded when it is first used, and shares no module with the rest: as further entries of the program esbuild would
 * move its own helpers into one more file, which every start reads.
 */
const LATE = [
  'src/exporters/prometheus/metrics.ts',
  'src/exporters/mqtt/exporter.ts',
  'src/exporters/dial/exporter.ts',
  'src/history/store/store.ts',
  'src/cli/top/top.ts',
];

/** A role of its own: with its own copy of the HTTP modules, so that those of the service stay in one file. */
const HUB = 'src/hub/service.ts';

/** Libraries in CommonJS require Node's modules. */
const REQUIRE = {
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
};

/**
 * A library that only `keygen --tls` loads, and what it depends on, in one file without a map: 0.4 MB of 9 MB.
 */
const LATE_LIBRARY = {
  stdin: { contents: "export { generate } from 'selfsigned';", resolveDir: root, sourcefile: 'selfsigned' },
  ...REQUIRE,
  entryNames: 'selfsigned-[hash]',
  sourcemap: false,
};

/** The names that esbuild gives to parts. */
const PART = /-[A-Z0-9]{8}\.js(?:\.map)?$/;

/** The package that a file belongs to, below node_modules, which may be a link to elsewhere. */
const LIBRARY = /(?:^|\/)node_modules\/((?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//;
/** Where the list of packages in the program is kept, for scripts/release/sbom.mjs. */
const LIBRARIES = path.join(root, 'build/libraries.json');

/** The packages that the program was bundled from, by their folders below node_modules. */
export const bundledLibraries = () => JSON.parse(readFileSync(LIBRARIES, 'utf8'));

/**
 * `import process from 'node:process'` is the global object. As a module it has every property as an export, so that the
 * import opens the standard streams: 2.5 ms of the start.
 */
const globalProcess = {
  name: 'global process',
  setup(build) {
    build.onResolve({ filter: /^node:process$/ }, ({ path }) => ({ path, namespace: 'global' }));
    build.onLoad({ filter: /.*/, namespace: 'global' }, () => ({
      contents: 'export default globalThis.process',
    }));
  },
};

async function bundle(options) {
  // Imported only here: an installed package builds its addon without devDependencies.
  const { build } = await import('esbuild');
  return await build({
    absWorkingDir: root,
    outdir: target,
    bundle: true,
    write: false,
    format: 'esm',
    sourcemap: true,
    legalComments: 'none',
    logLevel: 'warning',
    ...options,
  });
}

const PROGRAM = {
  define: { IS_BUNDLE: 'true' },
  minify: true,
  // Coverage is mapped by lines: with one long line for all, c8 takes lines that nothing ran for covered.
  lineLimit: 10,
  metafile: true,
  platform: 'node',
  target: 'node20.9',
  external: EXTERNAL,
};

/** Imports of the entries of LATE lead to their own bundles (`names`: entry → file), those of the library to `library`. */
const lateParts = (names, library) => ({
  name: 'late parts',
  setup(build) {
    const bySuffix = [...names].map(([entry, name]) => [
      `/${path.basename(path.dirname(entry))}/${path.basename(entry)}`,
      `./${name}`,
    ]);
    build.onResolve({ filter: /^\.\.?\// }, ({ path: wanted, kind }) => {
      if (kind !== 'dynamic-import') return undefined;
      const late = bySuffix.find(([suffix]) => wanted.endsWith(suffix));
      return late && { path: late[1], external: true };
    });
    build.onResolve({ filter: /^selfsigned$/ }, () => ({ path: `./${library}`, external: true }));
  },
});

const nameOfScript = ({ outputFiles }) =>
  outputFiles.map((file) => path.basename(file.path)).find((name) => name.endsWith('.js'));

/** The packages that parts of a bundle came from. */
const librariesIn = (...bundles) =>
  bundles.flatMap(({ metafile }) =>
    Object.keys(metafile.inputs).flatMap((file) => LIBRARY.exec(file)?.[1] ?? []),
  );

/** Named after its folder: two bundles may have modules of one name. */
const bundleLate = (entry, plugins = []) =>
  bundle({
    ...PROGRAM,
    ...REQUIRE,
    plugins,
    entryPoints: { [path.basename(path.dirname(entry))]: entry },
    entryNames: '[name]-[hash]',
  });

async function bundleProgram() {
  const late = await Promise.all(LATE.map((entry) => bundleLate(entry)));
  const names = new Map(late.map((built, index) => [LATE[index], nameOfScript(built)]));
  const library = await bundle({ ...PROGRAM, ...LATE_LIBRARY });
  // It loads some of the others.
  const hub = await bundleLate(HUB, [lateParts(names, nameOfScript(library))]);
  late.push(hub);
  names.set(HUB, nameOfScript(hub));
  const program = await bundle({
    ...PROGRAM,
    entryPoints: ['src/main.ts'],
    // What main.ts imports late stays in a file of its own. Few files: each costs about 1 ms and 0.1 MiB at the start.
    splitting: true,
    chunkNames: '[name]-[hash]',
    plugins: [globalProcess, lateParts(names, nameOfScript(library))],
  });
  const outputFiles = [...late, library, program].flatMap((built) => built.outputFiles ?? []);
  const files = new Map(outputFiles.map((file) => [path.basename(file.path), file.contents]));
  // main.js last: until then the old one runs, with its own parts.
  const isPart = (name) => PART.test(name);
  for (const [name, bytes] of files) if (isPart(name)) write(path.join(target, name), bytes);
  for (const [name, bytes] of files) if (!isPart(name)) write(path.join(target, name), bytes);
  for (const name of readdirSync(target))
    if (isPart(name) && !files.has(name)) rmSync(path.join(target, name));
  const libraries = [...new Set(librariesIn(...late, library, program))].sort();
  write(path.join(target, 'licenses.txt'), licensesOf(libraries));
  write(LIBRARIES, JSON.stringify(libraries));
}

/** Copies the declarations of `file`, and those that they import; `seen` gets those of the wire, which are not copied. */
function copyTypes(file, seen) {
  if (seen.has(file)) return;
  seen.add(file);
  if (file.startsWith('wire/')) return;
  const text = readFileSync(path.join(modules, file), 'utf8');
  write(path.join(target, file), text);
  for (const [, name] of text.matchAll(/(?:\bfrom |\bimport\()['"](\.[^'"]+)\.[jt]s['"]/g))
    copyTypes(path.posix.join(path.posix.dirname(file), `${name}.d.ts`), seen);
}

async function bundleClient() {
  const { outputFiles } = await bundle({
    // pinned.ts is loaded on Node alone, when a pin is used.
    entryPoints: ['src/client/client.ts', 'src/client/pinned.ts'],
    outbase: 'src',
    platform: 'neutral',
    external: ['node:*', 'ws'],
    target: 'es2022',
  });
  for (const file of outputFiles ?? []) write(file.path, file.contents);
}

/** Writes the declarations of hostwire/client into dist/, from those that tsc wrote beside the modules. */
export async function writeClientTypes() {
  const types = new Set();
  copyTypes('client/client.d.ts', types);
  const { flattenTypes } = await import('./client-types.mjs');
  const wire = [...types].filter((file) => file.startsWith('wire/')).map((file) => path.join(modules, file));
  rmSync(path.join(target, 'wire'), { recursive: true, force: true });
  rmSync(path.join(target, 'errors.d.ts'), { force: true });
  for (const [file, text] of flattenTypes(wire)) write(path.join(target, path.relative(modules, file)), text);
}

export async function buildBundle() {
  const started = Date.now();
  await bundleClient();
  await bundleProgram();
  console.error(`bundled the program in ${Date.now() - started} ms`);
}
