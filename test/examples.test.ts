/** The examples of README.md and docs/ do what they say: they run, against a service of this test. */
import './helpers/service/dead-buses.ts';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { rowOf } from '#src/host/process-columns.js';
import type { ProcessFacts, ProcessHost } from '#src/host/processes.js';
import { CURL_LINES, OTHER_BLOCKS, PROGRAMS } from './helpers/docs/examples.ts';
import { fixtureHost } from './helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from './helpers/fakes/media.ts';
import { FakeProcessHost } from './helpers/fakes/processes.ts';
import { startHere } from './helpers/service/service.ts';
import { isUp, startHub } from './hub/setup.ts';

// Inside the package, so that programs find hostwire/client as its users do.
const BUILD = path.resolve(import.meta.dirname, '../..');
const LIMIT_MS = 20_000;
const EVERYTHING_ON = {
  enable_shutdown: true,
  enable_restart: true,
  enable_hibernate: true,
  enable_process_control: true,
  enable_wake: true,
};

function makeFolder(t: Test): string {
  mkdirSync(BUILD, { recursive: true });
  const folder = mkdtempSync(path.join(BUILD, 'examples-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Its processes can be looked at one by one too. */
function processHost(): ProcessHost {
  const host = new FakeProcessHost();
  const readDetails = async (pid: number): Promise<ProcessFacts | null> => {
    const columns = await host.read();
    const row = rowOf(columns, pid);
    if (row === undefined) return null;
    return {
      pid,
      startTicks: columns.startTicks[row] ?? 0,
      path: null,
      folder: null,
      openFiles: 3,
      command: [],
    };
  };
  return Object.assign(host, { readDetails });
}

/** A machine with a player, a cover and processes, none of them real; power is recorded. */
async function startService(t: Test, folder: string) {
  const cover = path.join(folder, 'cover.gif');
  writeFileSync(cover, Buffer.from('R0lGODlhAQABAAAAACw=', 'base64'));
  const media = new FakeMediaHost();
  const artUrl = pathToFileURL(cover).href;
  media.snapshot = snapshotOf(playerOf('player', { title: 'Song', playback: 'playing', artUrl }));
  const host = { ...fixtureHost(), media, processes: processHost() };
  const service = await startHere(host, {
    features: EVERYTHING_ON,
    processes: { launch: { editor: { command: '/bin/true', args: [], env: {}, allow_args: false } } },
    wake: { hosts: { nas: { mac: '02:00:5e:10:00:00', port: 9 } } },
    stats: { stream_interval_seconds: 1 },
    history: { minutes: 60 },
  });
  t.teardown(() => service.stop());
  // Both machines of docs/client.md are this one.
  const agent = { url: service.baseUrl, labels: { site: 'berlin' } };
  const rules = { all: { commands: ['*'], labels: {} } };
  const hub = await startHub(t, { desk: agent, nas: agent }, { hub: { commands: rules } });
  for (const id of ['desk', 'nas']) await hub.host(id, isUp);
  return { media, service, hubUrl: `http://127.0.0.1:${hub.port}` };
}

/** The text with the addresses that the examples use as those of `baseUrl`. */
const addressed = (text: string, baseUrl: string) =>
  text.replaceAll(/(?:http:\/\/)?\b(?:localhost|pc):9990/g, baseUrl);

interface Ending {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Waits for the end of `child`; ends it once `isEnough` is satisfied with its output, or when it takes too long. */
async function endOf(
  child: ChildProcess,
  isEnough: (stdout: string) => boolean = () => false,
): Promise<Ending> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (isEnough(stdout)) child.kill();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return { code, stdout, stderr };
}

// Imports the example, and ends when it has printed something or its work is done. What it leaves unhandled ends it
// with 1. A Node without a WebSocket of its own is given that of ws, as docs/client.md advises.
const RUNNER = `
import { WebSocket } from 'ws';
globalThis.WebSocket ??= WebSocket;
const { log } = console;
const printed = new Promise((resolve) => {
  console.log = (...values) => {
    log(...values);
    resolve();
  };
});
await import(process.argv[2]);
await (process.argv[3] === 'prints' ? printed : undefined);
process.exit(0);
`;

/** Runs a program to its end, or until it has printed something. */
function run(folder: string, example: string, baseUrl: string, hubUrl = ''): Promise<Ending> {
  const text = example.replaceAll('http://hub:9980', hubUrl);
  const program = path.join(folder, 'example.mjs');
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  writeFileSync(program, ts.transpileModule(addressed(text, baseUrl), { compilerOptions }).outputText);
  const runner = path.join(folder, 'runner.mjs');
  writeFileSync(runner, RUNNER);
  const args = ['--experimental-eventsource', runner, pathToFileURL(program).href];
  return endOf(spawn(process.execPath, text.includes('console.log') ? [...args, 'prints'] : args));
}

t.test('programs', async (t) => {
  const folder = makeFolder(t);
  const { media, service, hubUrl } = await startService(t, folder);
  t.ok(PROGRAMS.length >= 6, `${PROGRAMS.length} programs`);
  for (const { name, text } of PROGRAMS) {
    const { code, stdout, stderr } = await run(folder, text, service.baseUrl, hubUrl);
    t.equal(code, 0, `${name} runs: ${stderr}`);
    if (text.includes('console.log')) t.match(stdout, /\S/, `${name} prints`);
    t.notMatch(stdout, /undefined|NaN/, `${name}: ${stdout}`);
  }
  const verbs = media.controls.map(({ verb }) => verb);
  t.ok(
    verbs.filter((verb) => verb === 'pause').length >= 2,
    'those of README.md and docs/client.md paused the player',
  );
  t.ok(verbs.includes('next'), 'and skipped a track');
});

t.test('a program that fails is noticed', async (t) => {
  const folder = makeFolder(t);
  const { service } = await startService(t, folder);
  // What README.md once showed: it does not compile, and is refused when it is sent all the same.
  const text = `
    import { connect } from 'hostwire/client';
    await connect({ url: 'http://localhost:9990' }).media({ action: 'pause' });`;
  const { code, stderr } = await run(folder, text, service.baseUrl);
  t.equal(code, 1);
  t.match(stderr, /INVALID_DATA/);
});

t.test('what else README.md shows: how it is started', async (t) => {
  // prove/bundle unpacks and starts such a file on clean machines.
  const bundle = 'tar xf hostwire-*-linux-x64.tar.xz\nhostwire-*-linux-x64/hostwire';
  // test/hub/ starts a hub with such a configuration.
  const hub = 'hub:\n  agents:\n    desk: http://desk.lan:9990\n    nas: http://nas.lan:9990';
  t.strictSame(OTHER_BLOCKS, [bundle, 'npm ci && npm start', hub], 'every other block is run by this file');
  const manifest: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(path.join(BUILD, '../package.json'), 'utf8'),
  );
  // What startService of test/helpers/service/service.ts starts for hundreds of tests.
  t.equal(manifest.scripts['start'], 'node dist/main.js');
});

/** The status that a line is answered with, other than 200. */
const STATUS: Readonly<Record<string, number>> = { 'curl -i http://localhost:9990/api/ws': 426 };

const skip = spawnSync('curl', ['--version']).status !== 0 && 'curl is not installed';

t.test('lines of curl', { skip }, async (t) => {
  const folder = makeFolder(t);
  const { service } = await startService(t, folder);
  // Lines to the hub's port are those of test/hub/.
  const lines = CURL_LINES.filter(({ text }) => !text.includes('localhost:9980'));
  t.ok(lines.length >= 20, `${lines.length} lines`);
  for (const { name, text } of lines) {
    // An action that an example before it has scheduled would stand in its way.
    await fetch(`${service.baseUrl}/api/pw/cancel`, { method: 'POST' });
    const line = addressed(text, service.baseUrl);
    const isStream = / -N\b/.test(line);
    const child = spawn('sh', ['-c', `exec ${line} -sS -w '\\n%{http_code}'`], { cwd: folder });
    const { code, stdout, stderr } = await endOf(child, (so) => isStream && /^data: \{.*\}\n\n/.test(so));
    if (isStream) {
      const sample = JSON.parse(/^data: (.*)$/m.exec(stdout)?.[1] ?? '{}') as Readonly<
        Record<string, unknown>
      >;
      const [, fields = ''] = /fields=([\w,]*)/.exec(line) ?? [];
      t.strictSame(Object.keys(sample), ['timestamp', 'uptime', ...fields.split(',')], `${name}: ${text}`);
      continue;
    }
    t.equal(code, 0, `${name}: ${text}: ${stderr}`);
    t.equal(
      Number(stdout.split('\n').at(-1)),
      STATUS[text] ?? 200,
      `${name}: ${text}: ${stdout.slice(0, 300)}`,
    );
  }
});
