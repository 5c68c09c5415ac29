/** The bus thread inside Node: absent until it is needed, never blocking, and gone with its environment. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { checkTime } from '../../helpers/limits.ts';
import { DEAD_BUS } from '../../helpers/service/dead-buses.ts';

const native = JSON.stringify(import.meta.resolve('#src/host/native.js'));
const skip = process.platform !== 'linux' && 'for Linux';

const OPEN = `
  import { readdirSync, readFileSync } from 'node:fs';
  import { Worker } from 'node:worker_threads';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { openNativeHost } from ${native};
  const threads = () => readdirSync('/proc/self/task').filter((id) =>
    readFileSync('/proc/self/task/' + id + '/comm', 'utf8') === 'hostwire-bus\\n').length;
`;

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly tookMs: number;
}

/** Runs `script` in a Node of its own, whose system bus is at `address`. */
function run(script: string, address: string): Promise<Ended> {
  const begun = performance.now();
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', OPEN + script], {
    env: { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: address },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    stdout += part;
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    stderr += part;
  });
  return new Promise((resolve) =>
    child.once('close', (code, signal) =>
      resolve({ code, signal, stdout, stderr, tookMs: performance.now() - begun }),
    ),
  );
}

/** A bus that accepts and says nothing: its calls stay open for a second. */
async function startMute(t: { teardown(fn: () => void): void }): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-mute-'));
  const server = net.createServer((socket) => socket.on('error', () => undefined));
  t.teardown(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  await new Promise<void>((resolve) => server.listen(path.join(folder, 'bus'), resolve));
  return `unix:path=${path.join(folder, 'bus')}`;
}

t.test('no thread and no library before the first question; one of each after it', { skip }, async (t) => {
  const script = `
    const hasLibrary = () => /libsystemd|libelogind|libbasu/.test(readFileSync('/proc/self/maps', 'utf8'));
    const { power } = openNativeHost();
    power.onNotice(() => undefined);
    await sleep(50);
    const before = [threads(), hasLibrary()];
    await Promise.all([power.support('sleep'), power.support('restart'), power.describe()]);
    console.log(JSON.stringify([before, [threads(), hasLibrary()]]));
  `;
  const { code, stdout, stderr } = await run(script, DEAD_BUS);
  t.equal(code, 0, stderr);
  t.strictSame(JSON.parse(stdout), [
    [0, false],
    [1, true],
  ]);
});

t.test('Node waits for answers that are open, and not for the thread', { skip }, async (t) => {
  const address = await startMute(t);
  const script = `
    const { power } = openNativeHost();
    // Nothing holds on to the rest.
    setTimeout(() => globalThis.gc(), 200);
    power.support('sleep').then(({ reason }) => console.log(reason));
  `;
  const { code, stdout, stderr, tookMs } = await run(script, address);
  t.equal(code, 0, stderr);
  t.match(stdout, /no system bus: no answer from unix:path=/);
  t.ok(tookMs > 900, 'the limit of a second was waited for');
  checkTime(t, tookMs, 4000, 'the answers and the end');
});

t.test('an exit with open questions is an ordinary exit', { skip }, async (t) => {
  const address = await startMute(t);
  const ask = `
    const { power } = openNativeHost();
    const open = Array.from({ length: 50 }, () => [power.support('sleep'), power.act('sleep').catch(() => 0)]);
  `;
  const exit = await run(`${ask} await sleep(20); process.exit(3);`, address);
  t.match(exit, { code: 3, signal: null, stderr: '' });
  checkTime(t, exit.tookMs, 3000, 'the end');
  const thrown = await run(`${ask} await sleep(20); throw new Error('on purpose');`, address);
  t.match(thrown, { code: 1, signal: null, stderr: /on purpose/ });
});

t.test('workers that are ended during questions take their threads with them', { skip }, async (t) => {
  const address = await startMute(t);
  const worker = `
    const { power } = (await import(${native})).openNativeHost();
    for (;;) {
      await Promise.all([power.support('sleep'), power.inhibitors().catch(() => 0)]);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  `;
  const script = `
    const url = 'data:text/javascript,' + encodeURIComponent(${JSON.stringify(worker)});
    let most = 0;
    for (let i = 0; i < 12; i++) {
      const worker = new Worker(new URL(url));
      const begun = performance.now();
      while (threads() === 0 && performance.now() - begun < 5000) await sleep(5);
      most = Math.max(most, threads());
      await sleep(i * 3);
      await worker.terminate();
    }
    console.log(JSON.stringify([most, threads()]));
  `;
  for (const at of [address, DEAD_BUS]) {
    const { code, signal, stdout, stderr } = await run(script, at);
    t.equal(code, 0, `${signal} ${stderr}`);
    t.strictSame(JSON.parse(stdout || 'null'), [1, 0], 'one at a time, none at the end');
  }
});
