/** The addon's players as the service uses them: how often changes are told, and when a key is pressed. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type NativeMedia, openMedia } from '#src/host/native-media.js';

/** Stands in for the addon. */
class Native implements NativeMedia {
  onNews: () => void = () => undefined;
  isChanged = false;
  isNewKeyboard = true;
  readonly log: unknown[] = [];

  watch(): void {
    this.log.push('watch');
  }
  read() {
    return { absence: null, isSettled: true, players: [], leftOut: 0 };
  }
  rearm(): boolean {
    const { isChanged } = this;
    this.isChanged = false;
    this.log.push(`rearm ${isChanged}`);
    return isChanged;
  }
  async control(...given: readonly unknown[]) {
    this.log.push(given);
    return { outcome: 'done' } as const;
  }
  keyAbsence() {
    return null;
  }
  openKeys(): boolean {
    this.log.push('open');
    return this.isNewKeyboard;
  }
  pressKey(verb: number): void {
    this.log.push(`press ${verb}`);
  }
}

t.test('a change is told at once, the next ones at most every 50 ms', async (t) => {
  const native = new Native();
  const host = openMedia((onNews) => Object.assign(native, { onNews }));
  const told: number[] = [];
  host.onChange(() => told.push(performance.now()));
  host.watch();
  t.strictSame(native.log.splice(0), ['watch']);
  native.onNews();
  t.equal(told.length, 1, 'at once');
  native.isChanged = true;
  const deadline = performance.now() + 2000;
  while (told.length < 2 && performance.now() < deadline) await sleep(5);
  t.equal(told.length, 2, 'what changed meanwhile');
  t.ok((told[1] ?? 0) - (told[0] ?? 0) >= 45, `${(told[1] ?? 0) - (told[0] ?? 0)} ms later`);
  while (native.log.length < 2 && performance.now() < deadline) await sleep(5);
  t.strictSame(native.log, ['rearm true', 'rearm false'], 'then it waits for the next');
  await sleep(120);
  t.equal(told.length, 2);
});

t.test('verbs go over as places; a key waits until a new keyboard can be heard', async (t) => {
  const native = new Native();
  const host = openMedia(() => native);
  t.strictSame(await host.control(':1.5', 'play', undefined, 900), { outcome: 'done' });
  await host.control(':1.5', 'set_volume', 0.5, 900);
  t.strictSame(native.log, [
    [':1.5', 0, 0, 900],
    [':1.5', 7, 0.5, 900],
  ]);
  native.log.length = 0;
  const begun = performance.now();
  await host.pressKey('next');
  t.ok(performance.now() - begun >= 250);
  native.isNewKeyboard = false;
  const again = performance.now();
  await host.pressKey('previous');
  t.ok(performance.now() - again < 200, 'one that is known is heard at once');
  t.strictSame(native.log, ['open', 'press 4', 'open', 'press 5']);
});
