/** When a hub takes itself for suspended, by a clock whose timers do not fire while the process has no processor time. */
import t from 'tap';
import { SuspendDetector } from '#src/hub/commands/suspend-detector.js';

class StoppedClock {
  #nowMs = 0;
  #timer: { readonly act: () => void; readonly dueMs: number } | undefined;
  readonly now = () => this.#nowMs;
  readonly clearTimer = () => undefined;
  readonly setTimer = (act: () => void, ms: number) => {
    this.#timer = { act, dueMs: this.#nowMs + ms };
    return this.#timer;
  };

  pause(ms: number): void {
    this.#nowMs += ms;
  }

  run(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (let timer = this.#timer; timer !== undefined && timer.dueMs <= endMs; timer = this.#timer) {
      this.#nowMs = Math.max(this.#nowMs, timer.dueMs);
      timer.act();
    }
    this.#nowMs = endMs;
  }
}

t.test('[I.hub.late] a hub was suspended until it has had a second of processor time', async (t) => {
  const clock = new StoppedClock();
  const detector = new SuspendDetector(clock);
  clock.run(5000);
  clock.pause(2900);
  t.notOk(detector.isRecent, 'a busy machine');
  clock.run(5000);
  clock.pause(30_000);
  t.ok(detector.isRecent, 'suspended');
  clock.run(900);
  t.ok(detector.isRecent, 'what it reads may have waited');
  clock.pause(900);
  t.ok(detector.isRecent, 'it has read nothing in the meantime');
  clock.run(900);
  t.ok(detector.isRecent);
  clock.run(200);
  t.notOk(detector.isRecent, 'it has read all of it');
  clock.pause(900);
  t.notOk(detector.isRecent);
  clock.pause(30_000);
  t.ok(detector.isRecent, 'suspended again');
  for (let round = 0; round < 40; round++) {
    clock.pause(400);
    clock.run(10);
  }
  clock.run(1000);
  t.notOk(detector.isRecent, 'a machine that is always busy accepts commands again');
});
