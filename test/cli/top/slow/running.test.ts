/** `hostwire top` while things change: sizes, signals, colours, and a service that goes away. */
import process from 'node:process';
import t from 'tap';
import { startRelay } from '../../../helpers/clients/relay.ts';
import { judgeColumns, judgeScreen } from '../judge.ts';
import { startLively } from '../lively.ts';
import { NO_TMUX, openTerminal } from '../terminal.ts';

const SIZE = { columns: 80, rows: 24 };
const RESTORED = '\x1b[?1049l';
const isLive = (text: string) => /^\S+ +up .*http:\/\/.*\n/.test(text) && text.includes('\nq quit');

t.test('[9.top-sizes] a resize while it runs', { skip: NO_TMUX }, async (t) => {
  const { baseUrl } = await startLively(t);
  const terminal = openTerminal(t, SIZE, [baseUrl]);
  await terminal.reached('the view', isLive);
  judgeScreen(t, terminal.screen(), SIZE);
  for (const size of [
    { columns: 120, rows: 40 },
    { columns: 60, rows: 20 },
    { columns: 200, rows: 60 },
  ]) {
    terminal.resize(size);
    await terminal.reached(
      `${size.columns}x${size.rows}`,
      (text) => isLive(text) && text.split('\n')[size.rows - 1]?.startsWith('q quit') === true,
    );
    judgeScreen(t, terminal.screen(), size);
    judgeColumns(t, terminal.screen(), size);
  }
  terminal.resize({ columns: 40, rows: 10 });
  await terminal.reached('a sentence', (text) => text.includes('hostwire top needs 60x20'));
  terminal.resize(SIZE);
  await terminal.reached('the view again', isLive);
});

t.test('[9.top-outage] the service stops and starts again', { skip: NO_TMUX }, async (t) => {
  const { port } = await startLively(t);
  const relay = await startRelay(t, port);
  const terminal = openTerminal(t, SIZE, [relay.baseUrl]);
  await terminal.reached('the view', isLive);
  relay.setTarget(undefined);
  const lost = await terminal.reached('since when', (text) => /no answer since \d\d:\d\d:\d\d: /.test(text));
  t.match(lost, /^Memory +\d+ %/m, 'the view stays');
  relay.setTarget(port);
  await terminal.reached('the view again', isLive);
});

for (const [how, end, code] of [
  ['SIGTERM', (pid: number) => process.kill(pid, 'SIGTERM'), 143],
  ['SIGINT', (pid: number) => process.kill(pid, 'SIGINT'), 130],
  ['SIGHUP', (pid: number) => process.kill(pid, 'SIGHUP'), 129],
] as const)
  t.test(`[9.top-restored] ${how} restores the screen`, { skip: NO_TMUX }, async (t) => {
    const { baseUrl } = await startLively(t);
    const terminal = openTerminal(t, SIZE, [baseUrl]);
    await terminal.reached('the view', isLive);
    end(terminal.program());
    const after = await terminal.reached('its end', (text) => text.includes(`ended ${code}`));
    t.notMatch(after, /CPU/);
    t.ok(terminal.written().includes(RESTORED));
  });

t.test(
  '[9.top-restored] Ctrl-Z, SIGTSTP and SIGSTOP suspend it, SIGCONT brings it back',
  { skip: NO_TMUX },
  async (t) => {
    const { baseUrl } = await startLively(t);
    // An interactive shell: it continues its jobs.
    const terminal = openTerminal(t, SIZE, [baseUrl], {}, 'bash --norc -i');
    await terminal.reached('the shell', (text) => /\$|#/.test(text));
    for (const stop of ['SIGTSTP', 'C-z', 'SIGSTOP'] as const) {
      terminal.press(stop === 'SIGTSTP' ? terminal.command : 'fg', 'Enter');
      await terminal.reached('the view', isLive);
      if (stop === 'C-z') terminal.press('C-z');
      else process.kill(terminal.program(), stop);
      await terminal.reached(`stopped by ${stop}`, (text) => text.includes('Stopped') || stop === 'SIGSTOP');
    }
    terminal.press('Enter', 'fg', 'Enter');
    await terminal.reached('the view', isLive);
    terminal.press('q');
    await terminal.reached('the shell again', (text) => !isLive(text) && /\$|#/.test(text));
  },
);

t.test('[9.top-colours] 16 colours; NO_COLOR; a console without braille', { skip: NO_TMUX }, async (t) => {
  const { baseUrl } = await startLively(t);
  const shownWith = async (variables: Record<string, string>) => {
    const terminal = openTerminal(t, SIZE, [baseUrl], variables);
    await terminal.reached('the view', isLive);
    return { coloured: terminal.coloured(), text: terminal.screen().join('\n') };
  };
  const colours = /\[(?:\d+;)*(?:3[0-7]|9[0-7])m/;
  t.match((await shownWith({})).coloured, colours);
  const plain = await shownWith({ NO_COLOR: '1' });
  t.notMatch(plain.coloured, colours);
  t.match(plain.text, /[⠁-⣿]/);
  const console = await shownWith({ TERM: 'linux' });
  t.notMatch(console.text, /[⠁-⣿▁-█↓↑]/);
  const dumb = openTerminal(t, SIZE, [baseUrl], { TERM: 'dumb' });
  await dumb.reached('one screen', (text) => text.includes('ended 0'));
  t.notOk(dumb.written().includes('\x1b'));
});

t.test('[9.top-paste] pasted text is not a command', { skip: NO_TMUX }, async (t) => {
  const { baseUrl } = await startLively(t);
  const terminal = openTerminal(t, SIZE, [baseUrl]);
  await terminal.reached('the view', isLive);
  terminal.paste('jkyq');
  terminal.press('/');
  await terminal.reached('the filter', (text) => text.includes('Filter: _'));
  terminal.paste('fire');
  await terminal.reached('it is text there', (text) => text.includes('Filter: fire_'));
});
