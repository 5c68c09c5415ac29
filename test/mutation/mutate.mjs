// Tests the tests: makes small mistakes in the source, one at a time, and reports those that no test notices.
//   node test/mutation/mutate.mjs --source src/access --test build/ts/test/access/decide.test.js [--test …]
//     [--sample N] [--seed N] [--jobs N] [--timeout SECONDS] [--least PERCENT]
// Build first (the addon, the source and the tests): each mutant is one compiled module, in a copy of the tree, where the
// program is these modules instead of the bundle.
// Name the quick tests first: a mutant is killed by the first test that fails or times out.
import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import ts from 'typescript';
import { applyMutant, findMutants } from './operators.mjs';

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

function readArguments() {
  const { values } = parseArgs({
    options: {
      source: { type: 'string', multiple: true, default: [] },
      test: { type: 'string', multiple: true, default: [] },
      sample: { type: 'string', default: '0' },
      seed: { type: 'string', default: '1' },
      jobs: { type: 'string', default: '2' },
      timeout: { type: 'string', default: '120' },
      least: { type: 'string', default: '0' },
    },
  });
  if (values.source.length === 0 || values.test.length === 0) {
    throw new Error(
      'name at least one --source (a folder or file under src) and one --test (a built test file)',
    );
  }
  const numberOf = (name) => {
    const value = Number(values[name]);
    if (!Number.isFinite(value) || value < 0) throw new Error(`--${name} takes a number`);
    return value;
  };
  return {
    sources: values.source,
    tests: values.test,
    sample: numberOf('sample'),
    seed: numberOf('seed'),
    jobs: numberOf('jobs'),
    timeout: numberOf('timeout'),
    least: numberOf('least'),
  };
}

function sourceFiles(entry) {
  const absolute = path.join(root, entry);
  const names = statSync(absolute).isFile()
    ? [absolute]
    : readdirSync(absolute, { recursive: true }).map((name) => path.join(absolute, name));
  return names
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => path.relative(root, name));
}

// Returns the same order for the same seed: mulberry32, and the Fisher-Yates shuffle.
function shuffle(values, seed) {
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const shuffled = [...values];
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [shuffled[last], shuffled[other]] = [shuffled[other], shuffled[last]];
  }
  return shuffled;
}

function compilerOptions() {
  const file = path.join(root, 'tsconfig.json');
  const { config, error } = ts.readConfigFile(file, ts.sys.readFile);
  if (error !== undefined) throw new Error(`cannot read ${file}`);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  // A single file does not show TypeScript that its package uses ES modules.
  const module = ts.ModuleKind.ESNext;
  return {
    ...options,
    module,
    composite: false,
    declaration: false,
    sourceMap: false,
    emitDeclarationOnly: false,
    tsBuildInfoFile: undefined,
  };
}

function emit(fileName, text, options) {
  return ts.transpileModule(text, { fileName, compilerOptions: options, reportDiagnostics: false })
    .outputText;
}

// Links the rest: tests read documents, sources and built programs.
function copyTree() {
  const copy = mkdtempSync(path.join(tmpdir(), 'hostwire-mutants-'));
  const copied = ['package.json', 'dist', 'build/ts', 'test'];
  for (const name of copied) cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  for (const folder of ['.', 'build'])
    for (const name of readdirSync(path.join(root, folder)))
      if (!copied.includes(path.join(folder, name)) && !['.git', '.tap', 'build'].includes(name))
        symlinkSync(path.join(root, folder, name), path.join(copy, folder, name));
  writeFileSync(path.join(copy, 'dist/main.js'), "import '../build/ts/src/main.js';\n");
  return copy;
}

// In a process group of its own, so that processes started by the test end with it.
function runTest(copy, test, timeoutS) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [test], {
      cwd: copy,
      env: { ...process.env, TAP_BAIL: '1' },
      stdio: 'ignore',
      detached: true,
    });
    let isLate = false;
    const endGroup = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The group has already ended.
      }
    };
    const timer = setTimeout(() => {
      isLate = true;
      endGroup();
    }, timeoutS * 1000);
    child.on('close', (code) => {
      clearTimeout(timer);
      endGroup();
      resolve(isLate ? 'timeout' : code === 0 ? 'passed' : 'failed');
    });
  });
}

async function judge(copy, mutant, tests, timeoutS) {
  const target = path.join(copy, targetOf(mutant.file));
  const original = readFileSync(target);
  writeFileSync(target, mutant.output);
  try {
    for (const test of tests) {
      const result = await runTest(copy, test, timeoutS);
      if (result !== 'passed') return { ...mutant, result, by: test };
    }
    return { ...mutant, result: 'survived' };
  } finally {
    writeFileSync(target, original);
  }
}

function targetOf(file) {
  return path.join('build/ts/src', path.relative('src', file).replace(/\.ts$/, '.js'));
}

function collectMutants({ sources, sample, seed }) {
  const options = compilerOptions();
  const unchanged = new Map();
  const mutants = sources.flatMap(sourceFiles).flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    const plain = emit(file, text, options);
    unchanged.set(targetOf(file), plain);
    return findMutants(file, text)
      .map((mutant) => ({ ...mutant, file, output: emit(file, applyMutant(text, mutant), options) }))
      .filter(({ output }) => output !== plain);
  });
  const chosen = shuffle(mutants, seed);
  return { total: mutants.length, chosen: sample === 0 ? chosen : chosen.slice(0, sample), plain: unchanged };
}

function shorten(text) {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 70 ? `${line.slice(0, 67)}...` : line;
}

function report(results, total, least) {
  const survivors = results.filter(({ result }) => result === 'survived');
  survivors.sort((left, right) => left.file.localeCompare(right.file) || left.line - right.line);
  for (const { file, line, operator, original, replacement } of survivors) {
    console.log(`survived  ${file}:${line}  ${operator}: ${shorten(original)}  →  ${shorten(replacement)}`);
  }
  for (const file of [...new Set(results.map((each) => each.file))].sort()) {
    const own = results.filter((each) => each.file === file);
    const killed = own.filter(({ result }) => result !== 'survived').length;
    console.log(`${file}: ${killed} of ${own.length} killed`);
  }
  const late = results.filter(({ result }) => result === 'timeout').length;
  const killed = results.length - survivors.length;
  const score = results.length === 0 ? 0 : (killed / results.length) * 100;
  console.log(
    `${killed} of ${results.length} killed (${late} by time-out), ${score.toFixed(1)} %; ${total} mutants in all`,
  );
  return results.length > 0 && score >= least;
}

async function main() {
  const given = readArguments();
  const { total, chosen, plain } = collectMutants(given);
  const copies = Array.from({ length: Math.max(1, given.jobs) }, copyTree);
  try {
    // First without a mutant, but emitted in the same way: otherwise a fault of the emit would pass for a kill of each.
    for (const [target, output] of plain) writeFileSync(path.join(copies[0], target), output);
    for (const test of given.tests) {
      const result = await runTest(copies[0], test, given.timeout);
      if (result !== 'passed') throw new Error(`${test} ${result} without any mutant`);
    }
    const queue = [...chosen];
    const results = [];
    const work = async (copy) => {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        results.push(await judge(copy, mutant, given.tests, given.timeout));
        if (results.length % 50 === 0) console.error(`${results.length} of ${chosen.length}`);
      }
    };
    await Promise.all(copies.map(work));
    return report(results, total, given.least);
  } finally {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  }
}

process.exitCode = (await main()) ? 0 : 1;
