/** hostwire as a service of Windows: registered, started, stopped and removed by the service control manager. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { DRIVE_C, MAIN, NODE, PREFIX, runNode, windowsPath } from './wine.ts';

t.setTimeout(240_000);

const root = path.resolve(import.meta.dirname, '../../../..');
const LIMIT_MS = 60_000;

// If Wine restarted between two commands, it would start the service automatically, as Windows does.
spawnSync('wineserver', ['-p60'], { env: { ...process.env, WINEPREFIX: PREFIX }, stdio: 'ignore' });

// Where the path is not in quotation marks Windows tries C:\host.exe first.
const place = mkdtempSync(path.join(DRIVE_C, 'host wire '));
const windowsPlace = `C:\\${path.basename(place)}`;
symlinkSync(NODE, path.join(place, 'node.exe'));
for (const name of ['dist', 'node_modules', 'package.json'])
  symlinkSync(path.join(root, name), path.join(place, name));
const configFile = path.join(place, 'my config.json');
const logFile = path.join(DRIVE_C, 'ProgramData/hostwire/log/service.log');
mkdirSync(path.dirname(logFile), { recursive: true });

const logText = () => readFileSync(logFile, 'utf8');
const configure = (config: object) =>
  writeFileSync(configFile, JSON.stringify({ power: { backend: 'record' }, ...config }), { mode: 0o600 });
const hostwire = (...words: readonly string[]) =>
  runNode([`${windowsPlace}\\dist\\main.js`, ...words], { program: path.join(place, 'node.exe') });
const install = () =>
  hostwire(...['service', 'install', '--config', windowsPath(configFile), '--host', '127.0.0.1']);
const wine = (program: string, ...words: readonly string[]) => runNode(words, { program });

/** Returns the manager's report about it once its state is `state`. */
async function waitFor(state: string): Promise<string> {
  const limit = performance.now() + LIMIT_MS;
  let said = '';
  while (performance.now() < limit) {
    said = (await wine('sc', 'query', 'hostwire')).stdout;
    if (said.includes(state)) return said;
    await sleep(200);
  }
  throw new Error(`it is not ${state}: ${said}`);
}

/** Starts it; returns the port that it listens on. */
async function start(): Promise<number> {
  rmSync(logFile, { force: true });
  const started = await wine('net', 'start', 'hostwire');
  t.equal(started.code, 0, started.stdout + started.stderr);
  await waitFor('RUNNING');
  const limit = performance.now() + LIMIT_MS;
  for (;;) {
    const port = /listening on http:\/\/127\.0\.0\.1:(\d+)\n/.exec(logText())?.[1];
    if (port !== undefined) return Number(port);
    if (performance.now() > limit) throw new Error(`it does not listen: ${logText()}`);
    await sleep(100);
  }
}

t.teardown(async () => {
  await hostwire('service', 'remove');
  rmSync(place, { recursive: true, force: true });
});

t.test(
  '[9.service-windows] started by hand, --service says that the service manager must start it',
  async (t) => {
    const { code, stderr } = await runNode([MAIN, '--service', '--port', '0']);
    t.equal(code, 1);
    t.match(
      stderr,
      /^hostwire: --service is for the service control manager, .*hostwire service install.*\n$/,
    );
  },
);

t.test('[9.service-windows] it is registered once, with its path in quotation marks', async (t) => {
  configure({ server: { port: 0 }, stats: { stream_interval_seconds: 1 } });
  const first = await install();
  t.equal(first.code, 0, first.stderr);
  t.match(first.stdout, /was registered: .*LocalService/);
  t.match(first.stdout, 'C:\\ProgramData\\hostwire\\log\\service.log');
  const key = 'HKLM\\System\\CurrentControlSet\\Services\\hostwire';
  const { stdout } = await wine('reg', 'query', key);
  const options = `--service --config "${windowsPath(configFile)}" --host 127.0.0.1`;
  t.match(stdout, `"${windowsPlace}\\node.exe" "${windowsPlace}\\dist\\main.js" ${options}`);
  t.match(stdout, /ObjectName\s+REG_SZ\s+NT AUTHORITY\\LocalService/);
  t.match(stdout, /Start\s+REG_DWORD\s+0x2\b/, 'by itself');
  t.match(stdout, /Description\s+REG_SZ\s+Streams/);
  const second = await install();
  t.equal(second.code, 1);
  t.match(second.stderr, /^hostwire: the service hostwire is already registered: .*\n$/);
});

t.test(
  '[9.service-windows] once started it serves; once stopped it ends its streams and says so',
  async (t) => {
    const port = await start();
    const get = async (route: string) => (await fetch(`http://127.0.0.1:${port}${route}`)).json();
    t.same(await get('/api/status'), { status: 'ok' });
    t.match(await get('/api/usage'), { cpu: {}, memory: {} });
    t.match(await get('/api/pw'), { recorded: [] });
    const stream = await EventStream.open(port);
    await stream.next();
    const stopped = await wine('net', 'stop', 'hostwire');
    t.equal(stopped.code, 0, stopped.stdout + stopped.stderr);
    const said = await waitFor('STOPPED');
    t.match(said, /WIN32_EXIT_CODE\s*:\s*0\b/, said);
    await t.rejects(fetch(`http://127.0.0.1:${port}/api/status`), 'nobody listens any more');
    stream.connection.destroy();
  },
);

t.test(
  '[9.service-windows] the reason for a failed start is in the log, and its exit code is reported',
  async (t) => {
    configure({ server: { port: 'high' } });
    rmSync(logFile, { force: true });
    await wine('net', 'start', 'hostwire');
    const said = await waitFor('STOPPED');
    t.match(said, /WIN32_EXIT_CODE\s*:\s*1066\b/, said);
    t.match(said, /SERVICE_EXIT_CODE\s*:\s*1\b/, said);
    t.match(logText(), /^\d{4}\S+Z hostwire: .*my config\.json:1: server\.port/);
    t.match(await waitFor('STOPPED'), 'STOPPED', 'it is not started again: it would fail again');
  },
);

t.test('[9.service-windows] when it is removed while running, it is stopped first', async (t) => {
  configure({ server: { port: 0 } });
  const port = await start();
  const { code, stdout } = await hostwire('service', 'remove');
  t.equal(code, 0);
  t.match(stdout, /was removed/);
  await t.rejects(fetch(`http://127.0.0.1:${port}/api/status`));
  const again = await hostwire('service', 'remove');
  t.equal(again.code, 1);
  t.match(again.stderr, /^hostwire: no service hostwire is registered\n$/);
});
