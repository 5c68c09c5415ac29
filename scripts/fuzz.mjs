// Fuzzes every parser with libFuzzer under sanitizers, two at a time:  node scripts/fuzz.mjs [MILLIONS] [--keep] [--anew]
// MILLIONS of executions in all (default 50). `--keep` adds the inputs that reached new code to native/fuzz/corpus.
// A run may be interrupted: as long as no parser changes, the next one continues it; `--anew` starts over.
// An input that fails is left in build/fuzz/findings.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { CORPUS, FIXTURES, PARSERS, root, run } from './parsers.mjs';

/**
 * Parsers of one word or of plain bytes, whose few paths are soon exhausted, and the one that takes 1 ms per
 * input. They get a part of a share.
 */
const SIMPLE =
  /^(?:integer|loadavg|pressure|cpulist|millidegrees|device-number|mac|brand|machine|process-status|gpu-numbers|pci-id|runtime-status|sensor-names|sensor-value|sensor-file|label-link|process-name|cmdline|gpu-labels|link|sensor-labels|select-mounts|cgroup-memory|cgroup-cpu)$/;
const SIMPLE_SHARE = 0.4;
const JOBS = 2;
const MAX_BYTES = 4096;
/** Executions per slice; an interruption loses at most one slice. */
const SLICE = 300_000;
/** Limits of the corpus per target. */
const MAX_KEPT_BYTES = 6000;
const MAX_KEPT_FILES = 60;

const work = path.join(root, 'build/fuzz');
const findings = path.join(work, 'findings');
/** The slices executed so far, to watch a run. */
const log = path.join(work, 'log');
/** The executions of each target, with the hash of the sources that they are valid for. */
const progressFile = path.join(work, 'progress.json');
const binary = path.join(work, 'fuzz');
const running = new Set();

/** Sources that call the parsers. */
const TARGETS = [
  'native/fuzz/targets.cc',
  'native/fuzz/windows_targets.cc',
  'native/fuzz/drive_targets.cc',
  'native/fuzz/metrics_targets.cc',
  'native/fuzz/network_targets.cc',
  'native/fuzz/device_targets.cc',
];

const SANITIZERS = 'address,undefined,float-cast-overflow,float-divide-by-zero';

/** Compiles the parsers, their targets and `program` into `binary` with Clang, whose libFuzzer GCC lacks. */
function compileParsers({ flags, program, binary }) {
  const sources = [...program, ...TARGETS, ...PARSERS];
  run('clang++-14', [
    '-std=c++20',
    '-g',
    ...flags,
    '-Wall',
    '-Wextra',
    '-Werror',
    '-Inative',
    ...sources,
    '-o',
    binary,
  ]);
}

function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

/** Creates the folders of one target: its seeds, the inputs that runs have found, and the kept corpus. */
function prepare({ name, ending }, fixtures) {
  const seeds = path.join(work, 'seeds', name);
  const found = path.join(work, 'found', name);
  const kept = path.join(root, CORPUS, name);
  rmSync(seeds, { recursive: true, force: true });
  for (const folder of [seeds, found, kept]) mkdirSync(folder, { recursive: true });
  const files = ending === '' ? [] : fixtures.filter((file) => file.endsWith(ending));
  for (const file of files) {
    const bytes = readFileSync(file).subarray(0, MAX_BYTES);
    writeFileSync(path.join(seeds, createHash('sha1').update(bytes).digest('hex')), bytes);
  }
  return { name, seeds, found, kept };
}

/** Runs one libFuzzer of `target`; resolves with its exit status and text. */
function fuzzer(target, args) {
  const child = spawn('nice', ['-n', '19', binary, ...args], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOSTWIRE_FUZZ_TARGET: target.name, ASAN_OPTIONS: 'quarantine_size_mb=8' },
  });
  running.add(child);
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    text = (text + chunk).slice(-1 << 16);
  });
  return new Promise((resolve) =>
    child.once('close', (status) => {
      running.delete(child);
      resolve({ status, text });
    }),
  );
}

/** Returns a hash of the parsers and of the fuzz targets. */
function sourcesHash() {
  const hash = createHash('sha1');
  const headers = PARSERS.map((file) => file.replace(/cc$/, 'h'));
  const others = ['native/linux/kernel/scan.h', 'native/fuzz/targets.h', 'native/fuzz/fuzz.cc'];
  for (const file of [...PARSERS, ...headers, ...TARGETS, ...others])
    hash.update(readFileSync(path.join(root, file)));
  return hash.digest('hex');
}

/** Returns executions by target in earlier runs on the same sources. */
function readProgress(sources) {
  if (process.argv.includes('--anew') || !existsSync(progressFile)) return {};
  const known = JSON.parse(readFileSync(progressFile, 'utf8'));
  return known.sources === sources ? known.done : {};
}

function writeProgress(sources, done) {
  writeFileSync(`${progressFile}.new`, JSON.stringify({ sources, done }));
  renameSync(`${progressFile}.new`, progressFile);
}

/** Executes `target` until it reaches `executions`; reports each finished slice to `note`. */
async function explore(target, executions, before, note) {
  let done = before;
  while (done < executions) {
    const slice = await exploreSlice(target, Math.min(SLICE, executions - done));
    if (!slice.isGood) return { name: target.name, done, isGood: false };
    done += slice.done;
    note(target.name, done);
  }
  return { name: target.name, done, isGood: true };
}

async function exploreSlice(target, executions) {
  const started = Date.now();
  const { status, text } = await fuzzer(target, [
    `-runs=${executions}`,
    `-max_len=${MAX_BYTES}`,
    '-timeout=20',
    '-print_final_stats=1',
    `-artifact_prefix=${findings}/${target.name}-`,
    target.found,
    target.seeds,
    target.kept,
  ]);
  const done = Number(/number_of_executed_units: (\d+)/.exec(text)?.[1] ?? 0);
  const seconds = (Date.now() - started) / 1000;
  const verdict = status === 0 ? '' : ': FINDING';
  const line = `${target.name}: ${done} executions in ${seconds.toFixed(1)} s${verdict}`;
  console.log(line);
  appendFileSync(log, `${line}\n`);
  if (status !== 0) console.error(text.slice(-4000));
  return { done, isGood: status === 0 && done > 0 };
}

/** Adds the inputs that reach more code than the seeds to the corpus, the smallest first. */
async function keep(target) {
  const merged = path.join(work, 'merged', target.name);
  rmSync(merged, { recursive: true, force: true });
  mkdirSync(merged, { recursive: true });
  for (const folder of [target.seeds, target.kept])
    for (const file of readdirSync(folder)) copyFileSync(path.join(folder, file), path.join(merged, file));
  const known = new Set(readdirSync(merged));
  await fuzzer(target, ['-merge=1', `-max_len=${MAX_BYTES}`, merged, target.found]);
  const size = (file) => statSync(path.join(merged, file)).size;
  const added = readdirSync(merged).filter((file) => !known.has(file));
  added.sort((a, b) => size(a) - size(b));
  let bytes = readdirSync(target.kept).reduce((sum, file) => sum + size(file), 0);
  let count = readdirSync(target.kept).length;
  for (const file of added) {
    bytes += size(file);
    count++;
    if (bytes > MAX_KEPT_BYTES || count > MAX_KEPT_FILES) break;
    copyFileSync(path.join(merged, file), path.join(target.kept, file));
  }
}

/** Does `work` for each of `items`, JOBS at a time. */
async function forEach(items, work) {
  const waiting = [...items];
  const results = [];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift())
      results.push(await work(item));
  };
  await Promise.all(Array.from({ length: JOBS }, worker));
  return results;
}

const wanted = Number(process.argv.slice(2).find((arg) => !arg.startsWith('-')) ?? 50) * 1e6;
rmSync(findings, { recursive: true, force: true });
mkdirSync(findings, { recursive: true });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => {
    for (const child of running) child.kill();
    process.exit(130);
  });
const sources = sourcesHash();
const progress = readProgress(sources);
writeFileSync(log, Object.keys(progress).length === 0 ? '' : `continues after ${JSON.stringify(progress)}\n`);
const flags = ['-O1', `-fsanitize=fuzzer,${SANITIZERS}`, '-fno-sanitize-recover=all'];
compileParsers({ flags, program: ['native/fuzz/fuzz.cc'], binary });
const lister = path.join(work, 'list');
const lists = ['native/fuzz/replay.cc', 'native/fuzz/failing_new.cc'];
compileParsers({ flags: ['-O0'], program: lists, binary: lister });
const fixtures = filesUnder(FIXTURES);
const targets = run(lister, ['--list'], { isQuiet: true })
  .trimEnd()
  .split('\n')
  .map((line) => line.split('\t'))
  .map(([name, ending = '']) => prepare({ name, ending }, fixtures));
const shareOf = ({ name }) => (SIMPLE.test(name) ? SIMPLE_SHARE : 1);
const shares = targets.reduce((sum, target) => sum + shareOf(target), 0);
const before = Object.values(progress).reduce((sum, done) => sum + done, 0);
const results = await forEach(targets, (target) =>
  explore(
    target,
    Math.ceil((wanted * shareOf(target)) / shares),
    progress[target.name] ?? 0,
    (name, done) => {
      progress[name] = done;
      writeProgress(sources, progress);
    },
  ),
);
if (process.argv.includes('--keep')) await forEach(targets, keep);
const executions = results.reduce((sum, { done }) => sum + done, 0);
const failed = results.filter(({ isGood }) => !isGood);
for (const { name } of failed) console.error(`a finding in ${name}: see build/fuzz/findings`);
const each = results.map(({ done }) => done);
console.log(
  `${executions} executions through ${targets.length} parsers, ${Math.min(...each)} to ${Math.max(...each)} each, ${before} of them in earlier runs, ${failed.length} findings`,
);
process.exitCode = failed.length === 0 && executions >= wanted ? 0 : 1;
