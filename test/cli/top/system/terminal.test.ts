/** `hostwire top` in a real terminal. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { serveProgram } from '../../../helpers/service/service.ts';
import { startCommanded } from '../../../hub/commanded.ts';
import { isUp, startHub } from '../../../hub/setup.ts';
import { judgeScreen } from '../judge.ts';
import { NO_TMUX, openTerminal } from '../terminal.ts';

const SIZE = { columns: 80, rows: 24 };

/** A process of the test's own that `hostwire top` may end. */
async function startVictim(t: Pick<Test, 'teardown'>): Promise<ChildProcess> {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  return child;
}

t.test(
  '[9.top] a terminal shows what the service reports; keys sort, filter and end a process; q restores the screen',
  { skip: NO_TMUX },
  async (t) => {
    const service = await serveProgram(t, {
      config: { stats: { stream_interval_seconds: 1 }, features: { enable_process_control: true } },
    });
    const terminal = openTerminal(t, SIZE, [service.baseUrl]);
    await terminal.reached('the view', (text) => /\n +\d+ .*\nq quit/.test(text));
    judgeScreen(t, terminal.screen(), SIZE);
    terminal.press('m');
    await terminal.reached('sorted by memory', (text) => {
      const sizes = [...text.matchAll(/% {2} *([\d.]+) MiB/g)].map(([, size]) => Number(size));
      return sizes.length > 3 && sizes.every((size, at) => size <= (sizes[at - 1] ?? Number.MAX_VALUE));
    });
    const victim = await startVictim(t);
    terminal.press('/', String(victim.pid), 'Enter');
    await terminal.reached('the one process', (text) =>
      new RegExp(`NAME .*\n +${victim.pid} .*sleep *\n\n`).test(text),
    );
    terminal.press('k');
    await terminal.reached('a sentence', (text) => /select a process/.test(text));
    terminal.press('Down', 'k');
    await terminal.reached('a question', (text) => text.includes(`End sleep (${victim.pid})?`));
    terminal.press('n');
    await terminal.reached('no answer but y', (text) => !text.includes('End sleep'));
    t.equal(victim.signalCode, null, 'nothing was ended without the confirmation');
    terminal.press('k');
    await terminal.reached('the question again', (text) => text.includes(`End sleep (${victim.pid})?`));
    const ended = once(victim, 'exit');
    terminal.press('y');
    t.same(await ended, [null, 'SIGTERM']);
    await terminal.reached('the result', (text) => text.includes(`sleep (${victim.pid}) has ended`));
    terminal.press('Escape');
    terminal.press('q');
    const after = await terminal.reached('the shell', (text) => text.includes('ended 0'));
    t.notMatch(after, /CPU/, 'the screen that was there before');
    t.ok(terminal.written().includes('\x1b[?1049l'), 'the alternate screen was left');
  },
);

t.test('[9.top-hub] the machines of a hub: one is opened, and left again', { skip: NO_TMUX }, async (t) => {
  const agent = await startCommanded(t);
  const hub = await startHub(t, {
    gone: { url: 'http://127.0.0.1:1' },
    pc: { url: agent.service.baseUrl },
  });
  await hub.host('pc', isUp);
  const terminal = openTerminal(t, SIZE, [`http://127.0.0.1:${hub.port}`]);
  await terminal.reached('the list', (text) => /\ngone +unknown .*\npc +up/.test(text));
  terminal.press('Enter');
  await terminal.reached('the reason', (text) => text.includes('gone: The machine cannot be reached'));
  terminal.press('Down', 'Enter');
  await terminal.reached('the machine', (text) => /PID USER/.test(text) && text.includes('q machines'));
  terminal.press('q');
  await terminal.reached('the list again', (text) => /\npc +up/.test(text));
  terminal.press('Enter');
  await terminal.reached('the machine again', (text) => text.includes('q machines'));
  terminal.press('C-c');
  await terminal.reached('the shell', (text) => text.includes('ended 0'));
});
