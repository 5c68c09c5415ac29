/** The wrapper of the addon's media: the rate of change events, and the delay of a key press. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type NativeMedia, openMedia } from '#src/host/native-media.js';
import { checkTime } from '../helpers/limits.ts';
import { until } from '../helpers/until.ts';

/** A fake addon. */
class Native implements NativeMedia {
  onNews: () => void = () => undefined;
  isChanged = false;
  isNewKeyboard = true;
  readsUntilSettled = 0;
  readonly log: unknown[] = [];

  watch(): void {
    this.log.push('watch');
  }
  read() {
    return { absence: null, isSettled: this.readsUntilSettled-- <= 0, players: [], leftOut: 0 };
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
  async readArt(...given: readonly unknown[]) {
    this.log.push(given);
    return Buffer.from('art');
  }
  async askArtUrl() {
    return null;
  }
  keyAbsence() {
    return null;
  }
  describe() {
    this.log.push(`describe ${this.readsUntilSettled < 0}`);
    return [];
  }
  openKeys(): boolean {
    this.log.push('open');
    return this.isNewKeyboard;
  }
  pressKey(verb: number): void {
    this.log.push(`press ${verb}`);
  }
}

t.test('a change is reported immediately, further ones at most every 50 ms', async (t) => {
  const native = new Native();
  const host = openMedia((onNews) => Object.assign(native, { onNews }));
  const changes: number[] = [];
  host.onChange(() => changes.push(performance.now()));
  host.watch();
  t.strictSame(native.log.splice(0), ['watch']);
  native.onNews();
  t.equal(changes.length, 1, 'at once');
  native.isChanged = true;
  await until(() => changes.length >= 2);
  t.equal(changes.length, 2, 'the changes in between');
  t.ok((changes[1] ?? 0) - (changes[0] ?? 0) >= 45, `${(changes[1] ?? 0) - (changes[0] ?? 0)} ms later`);
  await until(() => native.log.length >= 2);
  t.strictSame(native.log, ['rearm true', 'rearm false'], 'then it waits for the next');
  await sleep(120);
  t.equal(changes.length, 2);
});

t.test('verbs are passed as indexes; a key waits until a new keyboard is picked up', async (t) => {
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
  checkTime(t, performance.now() - again, 200, 'a key of a known keyboard');
  t.strictSame(native.log, ['open', 'press 4', 'open', 'press 5']);
});

t.test('[9.doctor-media] players are described when they have settled', async (t) => {
  const native = new Native();
  native.readsUntilSettled = 3;
  t.strictSame(await openMedia(() => native).describe(), []);
  t.strictSame(native.log, ['watch', 'describe true']);
});

t.test('[9.doctor-media] players that never settle are described all the same', async (t) => {
  const native = new Native();
  native.readsUntilSettled = Number.POSITIVE_INFINITY;
  await openMedia(() => native).describe();
  t.strictSame(native.log, ['watch', 'describe false']);
});
