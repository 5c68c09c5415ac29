// Bundles the program that users run: src/main.ts and what it imports, minified by esbuild, into dist/main.js and parts
// beside it, with source maps; and hostwire/client, for programs, into dist/client/.
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const target = path.join(root, 'dist');
/** The same sources, module by module: the declarations beside them are tsc's. */
const modules = path.join(root, 'build/ts/src');

/** Packages that stay in node_modules: the engines. */
export const EXTERNAL = ['uWebSockets.js', 'ws'];

/** Returns the licenses of packages, for bundles that include them. Throws if a package has none. */
export function licensesOf(packages) {
  const texts = packages.map((name) => {
    const folder = path.join(root, 'node_modules', name);
    const file = readdirSync(folder).find((each) => /^licen[cs]e(?:\.md|\.txt)?$/i.test(each));
    if (file === undefined) throw new Error(`${folder} has no license`);
    return `${name}\n\n${readFileSync(path.join(folder, file), 'utf8')}`;
  });
  return Buffer.from(texts.join('\n\n'));
}

// Replaced, never overwritten: a service that starts during the build reads the old file or the new one.
function write(file, bytes) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, bytes);
  renameSync(`${file}.new`, file);
}

/**
 * Libraries in CommonJS, which require Node's modules: each is one file without a map, with what it depends on, loaded with
 * the first part of the program that imports it.
 */
const LIBRARIES = {
  // keygen --tls: 0.4 MB of 9 MB.
  selfsigned: "export { generate } from 'selfsigned';",
  mqtt: "export { default } from 'mqtt';",
};

const REQUIRE = {
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
};

/**
 * Each file costs about 1 ms and 0.1 MiB at the start. Modules that the service shares with other parts, and that would be a
 * file of less than this many bytes, are in one file that all parts load.
 */
const MIN_SHARED_BYTES = 12_000;
/** The parts that `hostwire run` loads in any case, with one of its engines. */
const STARTED = ['src/main.ts', 'src/service.ts', 'src/http/uws/server.ts', 'src/http/node/server.ts'];

/** The names that esbuild gives to parts. */
const PART = /-[A-Z0-9]{8}\.js(?:\.map)?$/;

/** The package of a file, below node_modules, which may be a link. */
const LIBRARY = /(?:^|\/)node_modules\/((?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//;
/** Where the list of packages in the program is kept, for scripts/release/sbom.mjs. */
const PACKAGES = path.join(root, 'build/libraries.json');

/** The packages that the program was bundled from, by their folders below node_modules. */
export const bundledLibraries = () => JSON.parse(readFileSync(PACKAGES, 'utf8'));

/**
 * `import process from 'node:process'` is the global object. As a module it has every property as an export,
 * so that the import opens the standard streams: 2.5 ms of the start.
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
  // Coverage is mapped by lines: with one long line for all, c8 counts lines as covered that never ran.
  lineLimit: 10,
  metafile: true,
  platform: 'node',
  target: 'node20.9',
  external: EXTERNAL,
};

const nameOfScript = ({ outputFiles }) =>
  outputFiles.map((file) => path.basename(file.path)).find((name) => name.endsWith('.js'));

/** Returns the packages that parts of a bundle came from. */
const librariesIn = (...bundles) =>
  bundles.flatMap(({ metafile }) =>
    Object.keys(metafile.inputs).flatMap((file) => LIBRARY.exec(file)?.[1] ?? []),
  );

/** Leads imports of the libraries to their files. `names`: library → file. */
const apart = (names) => ({
  name: 'libraries in files of their own',
  setup(build) {
    for (const [library, file] of names)
      build.onResolve({ filter: new RegExp(`^${library}$`) }, () => ({ path: `./${file}`, external: true }));
  },
});

/** The line that an entry gets; withoutTogether takes it out of maps. */
const TOGETHER = "\nimport 'small-shared';";

/** Has each of `entries` import `modules`, so that they are in one file. */
const together = ({ entries, modules }) => ({
  name: 'small shared modules in one file',
  setup(build) {
    const contents = modules.map((module) => `import ${JSON.stringify(`./${module}`)};`).join('');
    build.onResolve({ filter: /^small-shared$/ }, ({ path }) => ({ path, namespace: 'together' }));
    build.onLoad({ filter: /.*/, namespace: 'together' }, () => ({ contents, resolveDir: root }));
    build.onLoad({ filter: /\.ts$/ }, ({ path: file }) =>
      entries.includes(path.relative(root, file))
        ? { contents: `${readFileSync(file, 'utf8')}${TOGETHER}`, loader: 'ts' }
        : undefined,
    );
  },
});

/** A map with the sources as they are in the repository. */
function withoutTogether(text) {
  const map = JSON.parse(text);
  const sourcesContent = map.sourcesContent.map((content) =>
    content.endsWith(TOGETHER) ? content.slice(0, -TOGETHER.length) : content,
  );
  return JSON.stringify({ ...map, sourcesContent });
}

/** Returns the names of the output files that `outputs` of STARTED load, themselves included. */
function startedFiles(outputs) {
  const names = new Set(
    Object.keys(outputs).filter((name) => STARTED.includes(outputs[name].entryPoint ?? '')),
  );
  // A set that grows is iterated to its end.
  for (const name of names)
    for (const { path: imported, kind } of outputs[name].imports)
      if (kind === 'import-statement' && imported in outputs) names.add(imported);
  return names;
}

/** The entries of a build, and the modules of the small shared files that the service loads. */
function smallShared({ metafile }) {
  const { outputs } = metafile;
  const modules = [...startedFiles(outputs)]
    .map((name) => outputs[name])
    .filter(({ entryPoint, bytes }) => entryPoint === undefined && bytes < MIN_SHARED_BYTES)
    .flatMap(({ inputs }) => Object.keys(inputs))
    .filter((file) => file.startsWith('src/'));
  return { entries: Object.values(outputs).flatMap(({ entryPoint }) => entryPoint ?? []), modules };
}

/** Builds src/main.ts; what it imports late is in files of their own, and so is what these share. */
const bundleSplit = (...plugins) =>
  bundle({
    ...PROGRAM,
    entryPoints: ['src/main.ts'],
    splitting: true,
    chunkNames: '[name]-[hash]',
    plugins: [globalProcess, ...plugins],
  });

async function bundleProgram() {
  const libraries = await Promise.all(
    Object.entries(LIBRARIES).map(([name, contents]) =>
      bundle({
        ...PROGRAM,
        ...REQUIRE,
        stdin: { contents, resolveDir: root, sourcefile: name },
        entryNames: `${name}-[hash]`,
        sourcemap: false,
      }),
    ),
  );
  const names = Object.keys(LIBRARIES).map((name, at) => [name, nameOfScript(libraries[at])]);
  const shared = smallShared(await bundleSplit(apart(names)));
  const program = await bundleSplit(apart(names), together(shared));
  const outputFiles = [...libraries, program].flatMap((built) => built.outputFiles ?? []);
  const files = new Map(
    outputFiles.map((file) => [
      path.basename(file.path),
      file.path.endsWith('.map') ? withoutTogether(file.text) : file.contents,
    ]),
  );
  // main.js last: until then the old one runs, with its own parts.
  const isPart = (name) => PART.test(name);
  for (const [name, bytes] of files) if (isPart(name)) write(path.join(target, name), bytes);
  for (const [name, bytes] of files) if (!isPart(name)) write(path.join(target, name), bytes);
  for (const name of readdirSync(target))
    if (isPart(name) && !files.has(name)) rmSync(path.join(target, name));
  const packages = [...new Set(librariesIn(...libraries, program))].sort();
  write(path.join(target, 'licenses.txt'), licensesOf(packages));
  // For `hostwire service install`.
  copyFileSync(path.join(root, 'packaging/config.yaml'), path.join(target, 'config.yaml'));
  write(PACKAGES, JSON.stringify(packages));
}

/** Copies the declarations of `file` and its imports; `seen` collects those of the wire, which are not copied. */
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
    // pinned.ts is loaded on Node only, when a pin is used.
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
