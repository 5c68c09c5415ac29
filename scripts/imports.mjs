// The import graph of the tests: which tests use a source, and which of them can share a process.
import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*(['"])([^'"\n]+)\1/g;

/** Node's modules that leave nothing behind in the process and start nothing. */
const HARMLESS = new Set([
  ...['assert', 'assert/strict', 'buffer', 'crypto', 'events', 'module', 'net', 'os', 'path', 'process'],
  ...[
    'querystring',
    'string_decoder',
    'timers',
    'timers/promises',
    'url',
    'util',
    'zlib',
    'fs',
    'fs/promises',
  ],
]);

/** Packages that only compute. */
const HARMLESS_PACKAGES = new Set(['tap', 'ipaddr.js', 'js-yaml', 'valibot', 'ajv']);

/** Text of a test file or of a helper that prevents it from sharing a process. */
const UNSHARED =
  /process\.(?:env|exit|on|once|kill|chdir|umask|title|stdout|stderr)|globalThis|\bt\.(?:before|beforeEach|afterEach|after|setTimeout|jobs|plan|end)\b|^t\.teardown|createServer|createConnection|\bconnect\(|global\.gc|setFlagsFromString|await import\(|memoryUsage/m;

const texts = new Map();
function textOf(file) {
  let text = texts.get(file);
  if (text === undefined) {
    text = readFileSync(path.join(root, file), 'utf8');
    texts.set(file, text);
  }
  return text;
}

/** Returns the file below the root that `specifier` in `file` names; undefined for a package or a module of Node's. */
function resolve(file, specifier) {
  const wanted = specifier.startsWith('#src/')
    ? path.posix.join('src', specifier.slice('#src/'.length))
    : /^\.\.?\//.test(specifier)
      ? path.posix.join(path.posix.dirname(file), specifier)
      : undefined;
  if (wanted === undefined) return undefined;
  const candidates = [wanted, wanted.replace(/\.js$/, '.ts'), wanted.replace(/\.js$/, '.tsx')];
  return candidates.find((each) => /\.(?:tsx?|mjs)$/.test(each) && existsSync(path.join(root, each)));
}

const direct = new Map();
/** Returns `{ files, packages }`: the direct imports of `file`. */
function importsOf(file) {
  let found = direct.get(file);
  if (found === undefined) {
    const specifiers = [...textOf(file).matchAll(SPECIFIER)].map((match) => match[2]);
    const files = specifiers.flatMap((specifier) => resolve(file, specifier) ?? []);
    const packages = specifiers.filter((specifier) => !/^(?:\.\.?\/|#src\/)/.test(specifier));
    found = { files, packages };
    direct.set(file, found);
  }
  return found;
}

/** Returns `file` and everything below the root that it imports, directly or not. */
export function graphOf(file, seen = new Set()) {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const each of importsOf(file).files) graphOf(each, seen);
  return seen;
}

const isHarmless = (name) => {
  const plain = name.replace(/^node:/, '');
  return builtinModules.includes(plain) ? HARMLESS.has(plain) : HARMLESS_PACKAGES.has(name);
};

/** Returns whether a test only computes, so that it can share a process with others of its kind. */
export function isPure(test) {
  return [...graphOf(test)].every(
    (file) =>
      importsOf(file).packages.every(isHarmless) && (file.startsWith('src/') || !UNSHARED.test(textOf(file))),
  );
}

/** Modules of test/ by the folder of sources that they cover, if that has another name. */
const COVERED_BY = { native: ['native', 'host'], web: ['web', 'browser'], packaging: ['packaging'] };

/**
 * Returns the tests among `tests` that import one of `changed` (paths below the root), or whose module is that of a
 * changed file: a test that starts the program as a process imports nothing of it.
 */
export function testsOf(changed, tests) {
  const modules = new Set(
    changed.flatMap((file) => {
      const [top, second = ''] = file.split('/');
      if (top === 'src') return file.split('/').length > 2 ? [second] : [];
      return COVERED_BY[top] ?? [];
    }),
  );
  const files = new Set(changed);
  return tests.filter(
    (test) => modules.has(test.split('/')[1]) || [...graphOf(test)].some((file) => files.has(file)),
  );
}
