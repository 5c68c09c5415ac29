/** `hostwire top` over a link of 4 KiB per second, and what it costs on a fast one. */
import { readFileSync } from 'node:fs';
import net from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { listen } from '../../../helpers/clients/listen.ts';
import { startLively } from '../lively.ts';
import { NO_TMUX, openTerminal } from '../terminal.ts';

const SIZE = { columns: 80, rows: 24 };
const BYTES_PER_SECOND = 4096;
const STEP_MS = 100;
const RUN_MS = 20_000;

/** Passes on what the service sends at a limited rate, and what is written to it as it comes; buffers without a limit. */
async function startSlowLink(t: Pick<Test, 'teardown'>, port: number) {
  let passed = 0;
  let queued = 0;
  const server = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1');
    const waiting: Buffer[] = [];
    near.pipe(far);
    far.on('data', (bytes: Buffer) => waiting.push(bytes));
    const timer = setInterval(() => {
      let left = Math.floor((BYTES_PER_SECOND * STEP_MS) / 1000);
      while (left > 0 && waiting[0] !== undefined) {
        const part = waiting[0].subarray(0, left);
        waiting[0] = waiting[0].subarray(part.length);
        if (waiting[0].length === 0) waiting.shift();
        near.write(part);
        left -= part.length;
        passed += part.length;
      }
      queued = Buffer.concat(waiting).length;
    }, STEP_MS);
    const close = () => {
      clearInterval(timer);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.on('error', close).on('close', close);
  });
  return {
    baseUrl: `http://127.0.0.1:${await listen(t, server)}`,
    passed: () => passed,
    queued: () => queued,
  };
}

t.test('[9.top-slow] a slow link is used, and no backlog grows in it', { skip: NO_TMUX }, async (t) => {
  const { port } = await startLively(t);
  const link = await startSlowLink(t, port);
  const terminal = openTerminal(t, SIZE, [link.baseUrl]);
  await terminal.reached('the view', (text) => text.includes('\nq quit'));
  const [before, shown] = [link.passed(), new Set<string>()];
  let queued = 0;
  for (const until = performance.now() + RUN_MS; performance.now() < until; await sleep(STEP_MS)) {
    queued = Math.max(queued, link.queued());
    shown.add(/^CPU.*$/m.exec(terminal.screen().join('\n'))?.[0] ?? '');
  }
  const perSecond = ((link.passed() - before) / RUN_MS) * 1000;
  t.ok(queued < 24 * 1024, `at most ${queued} bytes wait, which are two answers`);
  t.ok(perSecond > BYTES_PER_SECOND / 4, `${perSecond.toFixed(0)} bytes per second of ${BYTES_PER_SECOND}`);
  t.ok(shown.size >= 3, `${shown.size} samples were shown in ${RUN_MS / 1000} s`);
  terminal.press('q');
  await terminal.reached('its end', (text) => text.includes('ended 0'));
});

/** CPU time of a process and its children, in seconds. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

for (const size of [
  { columns: 60, rows: 20 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
  { columns: 200, rows: 60 },
])
  t.test(
    `[9.top-bytes] ${size.columns}x${size.rows}: bytes and CPU time at one sample per second`,
    { skip: NO_TMUX },
    async (t) => {
      const { baseUrl } = await startLively(t);
      const terminal = openTerminal(t, size, [baseUrl]);
      await terminal.reached('the view', (text) => text.includes('\nq quit'));
      await sleep(2000);
      const pid = terminal.program();
      const [bytes, cpu, seconds] = [terminal.written().length, cpuSecondsOf(pid), 10];
      await sleep(1000 * seconds);
      const perSecond = (Buffer.byteLength(terminal.written()) - bytes) / seconds;
      const share = (100 * (cpuSecondsOf(pid) - cpu)) / seconds;
      const figures = `${perSecond.toFixed(0)} bytes per second, ${share.toFixed(1)} % of a core`;
      t.ok(perSecond < size.columns * size.rows * 1.5, figures);
      if (process.env['HOSTWIRE_FULL'] === '1')
        t.comment(`figure: top ${size.columns}x${size.rows}: ${figures}`);
    },
  );
