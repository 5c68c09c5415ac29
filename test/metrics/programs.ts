/** Starts the programs of Prometheus on free ports of loopback, for as long as a test runs. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { emptyFolder, type Scope } from '../helpers/scope.ts';
import { findFreePort } from '../helpers/service/free-port.ts';
import { until } from '../helpers/until.ts';

// In plain JavaScript, because the scripts use it too.
const { findCommand } = (await import(
  path.resolve(import.meta.dirname, '../../../../scripts/needs.mjs')
)) as {
  readonly findCommand: (...names: readonly string[]) => string | undefined;
};

/** Why a program cannot be used here; false if it can. */
export const whyNo = (program: string): string | false =>
  findCommand(program) === undefined ? `${program} is not installed (scripts/needs.mjs)` : false;

const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

async function start(t: Scope, program: string, args: readonly string[], readyUrl: string): Promise<void> {
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
  await until(
    async () => {
      if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${stderr}`);
      const answer = await fetch(readyUrl).catch(() => undefined);
      await answer?.arrayBuffer();
      return answer?.ok;
    },
    () => `${program} does not answer: ${stderr}`,
  );
}

/** node_exporter; returns the address of its metrics. */
export async function startNodeExporter(t: Scope, args: readonly string[] = []): Promise<string> {
  const address = `127.0.0.1:${await findFreePort()}`;
  const options = [`--web.listen-address=${address}`, '--web.disable-exporter-metrics', '--log.level=error'];
  await start(t, 'prometheus-node-exporter', [...options, ...args], `http://${address}/`);
  return `http://${address}/metrics`;
}

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** Asks a Prometheus by its HTTP API. */
export interface Prometheus {
  readonly ask: (target: string) => Promise<unknown>;
  /** undefined: the query was refused. */
  readonly query: (text: string) => Promise<readonly Series[] | undefined>;
  readonly targets: () => Promise<readonly { readonly health: string; readonly lastError: string }[]>;
}

/** A Prometheus that scrapes every second what `config` has. */
export async function startPrometheus(t: Scope, config: object): Promise<Prometheus> {
  const folder = emptyFolder(t, 'prometheus');
  const file = path.join(folder, 'prometheus.yml');
  // JSON is YAML, too.
  writeFileSync(file, JSON.stringify({ global: { scrape_interval: '1s', scrape_timeout: '1s' }, ...config }));
  const address = `127.0.0.1:${await findFreePort()}`;
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=${address}`,
  ];
  await start(t, 'prometheus', [...args, '--log.level=error'], `http://${address}/-/ready`);
  const ask = async (target: string): Promise<unknown> => {
    const answer = await fetch(`http://${address}/api/v1/${target}`);
    // As its HTTP API answers.
    return ((await answer.json()) as { readonly data: unknown }).data;
  };
  return {
    ask,
    async query(text) {
      const data = await ask(`query?query=${encodeURIComponent(text)}`);
      return (data as { readonly result: readonly Series[] } | undefined)?.result;
    },
    targets: async () =>
      ((await ask('targets')) as { activeTargets: Awaited<ReturnType<Prometheus['targets']>> }).activeTargets,
  };
}

/** The configuration of a job that scrapes these addresses. */
export const jobOf = (targets: readonly string[], more: object = {}) => ({
  scrape_configs: [{ job_name: 'hostwire', static_configs: [{ targets }], ...more }],
});

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

/** An Alertmanager with this configuration; returns its address. */
export async function startAlertmanager(t: Scope, yaml: string): Promise<string> {
  const folder = emptyFolder(t);
  const file = path.join(folder, 'alertmanager.yml');
  writeFileSync(file, yaml);
  const address = `127.0.0.1:${await findFreePort()}`;
  const args = [
    `--config.file=${file}`,
    `--storage.path=${folder}/data`,
    `--web.listen-address=${address}`,
    '--cluster.listen-address=',
  ];
  await start(t, 'prometheus-alertmanager', [...args, '--log.level=error'], `http://${address}/-/ready`);
  return `http://${address}`;
}

/** Debian's webhook with these hooks; returns its address. */
export async function startWebhook(t: Scope, hooks: object): Promise<string> {
  const file = path.join(emptyFolder(t, 'webhook'), 'hooks.json');
  writeFileSync(file, JSON.stringify(hooks));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  await start(t, 'webhook', ['-hooks', file, '-ip', '127.0.0.1', '-port', String(port)], url);
  return url;
}
