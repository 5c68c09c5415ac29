// Compiles the TypeScript file by file with esbuild, without looking at types: build/ts/src for the program's generators,
// tests and benches, which import single modules. `npm test` checks the types, with tsc (`node scripts/build.mjs types`).
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const TARGET = path.join(root, 'build/ts');

/** A relative specifier of an import that names the source: at run time the module has the ending of JavaScript. */
const SOURCE_SPECIFIER = /((?:\bfrom|\bimport)\s*\(?\s*)(['"])(\.{1,2}\/[^'"\n]+\.)tsx?\2/g;

/** Files that tests write while they run are not sources. */
const sourcesIn = (folder) =>
  readdirSync(path.join(root, folder), { recursive: true })
    .map((name) => path.posix.join(folder, String(name).replaceAll('\\', '/')))
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'));

const outputOf = (file) => path.join(TARGET, file.replace(/\.tsx?$/, '.js'));

function isStale(file) {
  const output = outputOf(file);
  return !existsSync(output) || statSync(output).mtimeMs < statSync(path.join(root, file)).mtimeMs;
}

/** Removes modules whose source is gone: a file that still imports them would pass here and fail elsewhere. */
function removeLeftovers(folder, sources) {
  const target = path.join(TARGET, folder);
  if (!existsSync(target)) return;
  const wanted = new Set(sources.map((file) => outputOf(file)));
  for (const name of readdirSync(target, { recursive: true })) {
    const file = path.join(target, String(name));
    if (!file.endsWith('.js') || wanted.has(file)) continue;
    rmSync(file);
    rmSync(`${file}.map`, { force: true });
    rmSync(file.replace(/\.js$/, '.d.ts'), { force: true });
    // tsc would not write that declaration again if the source came back.
    rmSync(path.join(TARGET, 'src.tsbuildinfo'), { force: true });
  }
}

/** Compiles files newer than their module below each of `folders`, with source maps. */
export async function compile(...folders) {
  const started = Date.now();
  const sources = folders.flatMap((folder) => {
    const all = sourcesIn(folder);
    removeLeftovers(folder, all);
    return all.filter(isStale);
  });
  if (sources.length === 0) return;
  // Imported only here: an installed package builds its addon without devDependencies.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: sources,
    outbase: root,
    outdir: TARGET,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  });
  for (const { path: file, text } of outputFiles) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, file.endsWith('.js') ? text.replaceAll(SOURCE_SPECIFIER, '$1$2$3js$2') : text);
  }
  console.error(`compiled ${sources.length} modules in ${Date.now() - started} ms`);
}
