/** The watcher of players without Node, under the sanitizers, among players that behave as badly as they can. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { startCrowd } from '../helpers/dbus/crowd.ts';
import { GOOD } from '../helpers/dbus/media-rig.ts';
import { oddSteps, sendOddSignals } from '../helpers/dbus/odd-values.ts';
import { FakePlayer, metadata, track } from '../helpers/dbus/player.ts';
import { type SessionBus, startSessionBus } from '../helpers/dbus/session-bus.ts';
import { variant } from '../helpers/dbus/wire.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../../..');
const compiler = process.env['CXX'] ?? 'g++';
const folder = path.join(root, 'build/media-watch');
const sources = [
  'test/native/media_watch.cc',
  ...['command_thread', 'media', 'media_keys', 'mpris', 'mpris_control', 'mpris_news', 'mpris_players'].map(
    (name) => `native/linux/${name}.cc`,
  ),
  ...readdirSync(path.join(root, 'native/linux/bus'))
    .filter((file) => file.endsWith('.cc'))
    .map((file) => `native/linux/bus/${file}`),
];
const WARNINGS = ['-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-Werror'];
const VARIANTS = {
  address: ['-O1', '-g', '-fsanitize=address,undefined,float-cast-overflow', '-fno-sanitize-recover=all'],
  thread: ['-O1', '-g', '-fsanitize=thread'],
};
const WATCH_MS = 6000;

/** The program; undefined where the compiler has no library for the sanitizer. */
async function build(name: keyof typeof VARIANTS): Promise<string | undefined> {
  mkdirSync(folder, { recursive: true });
  const program = path.join(folder, name);
  const args = ['-std=c++20', ...WARNINGS, ...VARIANTS[name], '-Inative', ...sources, '-o', program];
  try {
    await run(compiler, [...args, '-pthread', '-ldl'], { cwd: root });
    return program;
  } catch (error) {
    if (/cannot find \S*[atu]\w*san/.test(String(error))) return undefined;
    throw error;
  }
}

/** About three seconds of it. */
async function misbehave({ address }: SessionBus): Promise<void> {
  const mute = await FakePlayer.start(address, 'mute');
  mute.answer = () => undefined;
  const odd = await FakePlayer.start(address, 'odd', GOOD);
  const crowd = startCrowd(
    address,
    Array.from({ length: 1000 }, (_, i) => `org.mpris.MediaPlayer2.zzz.n${i}`),
  );
  for (const step of oddSteps(odd)) if (step % 5 === 0) await sleep(2);
  sendOddSignals(odd);
  for (let i = 0; i < 10; i++) {
    const dies = await FakePlayer.start(address, 'dies', GOOD);
    dies.answer = () => dies.close();
    odd.change({ Metadata: track(`${i}${'第'.repeat(300_000)}`) });
    await sleep(50);
    dies.close();
  }
  odd.change({
    Metadata: metadata(
      Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`x:${i}`, variant('i', i)])),
    ),
  });
  for (let i = 0; i < 1000; i++) odd.change({ Metadata: track(`t${i}`), Volume: variant('d', i / 1000) });
  await crowd.leave();
  mute.close();
  odd.close();
}

t.setTimeout(280_000);
const skip = !existsSync('/usr/bin/dbus-daemon') && 'apt-get install dbus';
for (const name of ['address', 'thread'] as const)
  t.test(
    `watching hostile players and a bus that goes and comes, under the ${name} sanitizer`,
    { skip },
    async (t) => {
      const program = await build(name);
      if (program === undefined) {
        t.pass('built', { skip: `${compiler} has no library for this sanitizer` });
        return;
      }
      let bus = await startSessionBus();
      t.teardown(() => bus.stop());
      const env = { ...bus.env, TSAN_OPTIONS: 'halt_on_error=0' };
      const running = run(program, [String(WATCH_MS)], { env }).catch(
        ({ stdout, stderr, code }: { stdout: string; stderr: string; code: number }) => ({
          stdout,
          stderr: `${stderr}\nexit ${code}`,
        }),
      );
      await misbehave(bus);
      await bus.stop();
      await sleep(100);
      bus = await startSessionBus(bus);
      const last = await FakePlayer.start(bus.address, 'last', { ...GOOD, Metadata: track('at last') });
      t.teardown(() => last.close());
      const { stdout, stderr } = await running;
      if (stderr.includes('unexpected memory mapping')) {
        t.pass('run', { skip: "this kernel's address layout is too random for ThreadSanitizer" });
        return;
      }
      t.equal(stderr, '', 'nothing reported');
      t.equal(stdout, "changed 1, unanswered 0, asked 1, last 'at last'\n");
    },
  );
