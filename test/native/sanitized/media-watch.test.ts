/** The watcher of players without Node, under the sanitizers, among players that behave as badly as they can. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startCrowd } from '../../helpers/dbus/crowd.ts';
import { GOOD } from '../../helpers/dbus/media-rig.ts';
import { oddSteps, sendOddSignals } from '../../helpers/dbus/odd-values.ts';
import { FakePlayer, metadata, track } from '../../helpers/dbus/player.ts';
import { type SessionBus, startSessionBus } from '../../helpers/dbus/session-bus.ts';
import { variant } from '../../helpers/dbus/wire.ts';
import { runProgram, whyNoProgram } from '../../helpers/native/program.ts';

const WATCH_MS = 6000;

/** About three seconds of watching. */
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
for (const sanitizer of ['address', 'thread'] as const)
  t.test(
    `watching hostile players and a bus that goes and comes, under the ${sanitizer} sanitizer`,
    {
      skip:
        (!existsSync('/usr/bin/dbus-daemon') && 'apt-get install dbus') ||
        whyNoProgram('media_watch', sanitizer),
    },
    async (t) => {
      let bus = await startSessionBus();
      t.teardown(() => bus.stop());
      const running = runProgram('media_watch', sanitizer, [String(WATCH_MS)], bus.env);
      await misbehave(bus);
      await bus.stop();
      await sleep(100);
      bus = await startSessionBus(bus);
      const last = await FakePlayer.start(bus.address, 'last', { ...GOOD, Metadata: track('at last') });
      t.teardown(() => last.close());
      const { text, missing } = await running;
      t.equal(text, "changed 1, unanswered 0, asked 1, last 'at last'\n", 'nothing reported', {
        skip: missing,
      });
    },
  );
