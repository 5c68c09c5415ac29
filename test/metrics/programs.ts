/** Starts Prometheus' own programs on free ports of loopback, for as long as a test runs. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_MS } from '../helpers/limits.ts';
import { findFreePort } from '../helpers/service/free-port.ts';

// In plain JavaScript, because the scripts use it too.
const { findCommand } = (await import(
  path.resolve(import.meta.dirname, '../../../../scripts/needs.mjs')
)) as {
  readonly findCommand: (...names: readonly string[]) => string | undefined;
};

interface Test {
  teardown(done: () => void): unknown;
}

/** Why a program cannot be used here; false if it can. */
export const whyNo = (program: string): string | false =>
  findCommand(program) === undefined ? `${program} is not installed (scripts/needs.mjs)` : false;

const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

async function start(t: Test, program: string, args: readonly string[], readyUrl: string): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  running.add(child);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  t.teardown(async () => {
    const isOver = child.exitCode !== null || new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await isOver;
    running.delete(child);
  });
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${stderr}`);
    const answer = await fetch(readyUrl).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    await sleep(50);
  }
  throw new Error(`${program} does not answer: ${stderr}`);
}

/** node_exporter; returns the address of its metrics. */
export async function startNodeExporter(t: Test, args: readonly string[] = []): Promise<string> {
  const address = `127.0.0.1:${await findFreePort()}`;
  const options = [`--web.listen-address=${address}`, '--web.disable-exporter-metrics', '--log.level=error'];
  await start(t, 'prometheus-node-exporter', [...options, ...args], `http://${address}/`);
  return `http://${address}/metrics`;
}

/** A Prometheus that scrapes with this configuration; returns the function that asks it. */
export async function startPrometheus(t: Test, config: object) {
  const folder = mkdtempSync(path.join(tmpdir(), 'hostwire-prometheus-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'prometheus.yml');
  // JSON is YAML, too.
  writeFileSync(file, JSON.stringify(config));
  const address = `127.0.0.1:${await findFreePort()}`;
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=${address}`,
  ];
  await start(t, 'prometheus', [...args, '--log.level=error'], `http://${address}/-/ready`);
  return async (target: string): Promise<unknown> => {
    const answer = await fetch(`http://${address}/api/v1/${target}`);
    // As its HTTP API answers.
    return ((await answer.json()) as { readonly data: unknown }).data;
  };
}

/** Runs promtool with `input` as its standard input; resolves with its exit code and all that it prints. */
function promtool(args: readonly string[], input = ''): Promise<{ code: number; lines: readonly string[] }> {
  return new Promise((resolve) => {
    const child = execFile('promtool', args, (error, stdout, stderr) => {
      const lines = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
      resolve({ code: Number(error?.code ?? 0), lines });
    });
    child.stdin?.end(input);
  });
}

/** Returns the objections of `promtool check metrics`, by the name of the metric. */
export async function checkMetrics(text: string): Promise<ReadonlyMap<string, string>> {
  const { code, lines } = await promtool(['check', 'metrics'], text);
  // 3: it has remarks. 1: it cannot read the text.
  if (code !== 0 && code !== 3) throw new Error(`promtool: ${lines.join('; ')}`);
  return new Map(lines.map((line) => [line.split(' ')[0] ?? '', line]));
}

/** Rejects unless promtool can read the file: `what` is "config" or "rules". */
export async function checkFile(what: 'config' | 'rules', file: string): Promise<void> {
  const { code, lines } = await promtool(['check', what, file]);
  if (code !== 0) throw new Error(`promtool: ${lines.join('; ')}`);
}
