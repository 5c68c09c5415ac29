/** A machine during a fault: hubs that show it, clients that watch and command it, and what all of them saw at the end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { Commander, judge, type Marks } from './commands.ts';
import { isFull, type Part } from './parts.ts';
import { longestPause, Recovery, rowsOf, stateOf, Viewer } from './viewers.ts';

/** Kills of one part on each of four ways: 100 in all, with 3,000 commands. */
export const KILLS = isFull ? 25 : 2;
/** Commands of which some are on their way when a part is killed. */
export const BURST = isFull ? 25 : 2;
const STOP_SECONDS = 30;
const EVERY_MS = 600;
/** Maximum pause of an undisturbed stream of one sample per second, on a busy machine. */
export const MAX_PAUSE_MS = 3000;

export interface Cast {
  /** The fault, in figures. */
  readonly what: string;
  /** The machine `pc`. */
  readonly agent: { readonly part: Part; readonly marks: Marks };
  /** All that its commands are sent to. */
  readonly hubs: readonly Part[];
  /** The hubs whose streams the fault may interrupt; default: all. */
  readonly watched?: readonly Part[];
  /** Streams that it must not disturb. */
  readonly others?: readonly Viewer[];
}

export class Scene {
  readonly what: string;
  readonly agent: Part;
  readonly hubs: readonly Part[];
  readonly viewers: readonly Viewer[];
  readonly others: readonly Viewer[];
  readonly commander: Commander;
  readonly recovery: Recovery;
  readonly #t: Test;
  readonly #marks: Marks;
  readonly #beganAtMs = performance.now();

  private constructor(t: Test, { what, agent, hubs, others = [] }: Cast, viewers: readonly Viewer[]) {
    this.#t = t;
    this.what = what;
    this.agent = agent.part;
    this.#marks = agent.marks;
    this.hubs = hubs;
    this.viewers = viewers;
    this.others = others;
    const ports = hubs.map(({ port }) => port);
    this.commander = new Commander(t, 'pc', ports, EVERY_MS);
    this.recovery = new Recovery(what);
  }

  /** The only viewer, or the first one. */
  get viewer(): Viewer {
    const [viewer] = this.viewers;
    if (viewer === undefined) throw new Error('nobody watches');
    return viewer;
  }

  static async set(t: Test, cast: Cast): Promise<Scene> {
    const viewers = (cast.watched ?? cast.hubs).map(({ port }) => Viewer.open(t, port, 'pc'));
    return new Scene(t, cast, await Promise.all(viewers));
  }

  /** Waits until all watched hubs show the machine in this state; returns the reasons. */
  async shown(state: 'up' | 'down'): Promise<readonly (string | undefined)[]> {
    const rows = this.viewers.map(({ port }) => stateOf(port, 'pc', (row) => row.state === state));
    return (await Promise.all(rows)).map(({ reason }) => reason);
  }

  /** The fault is over: the viewers have samples again. */
  async recovered(): Promise<void> {
    await this.recovery.take(this.#t, this.viewers, performance.now());
    await this.shown('up');
  }

  /** The others have seen nothing of the fault since `fromMs`. */
  checkOthers(fromMs = this.#beganAtMs): void {
    for (const other of this.others) {
      const pauseMs = longestPause(other, fromMs);
      this.#t.ok(pauseMs < MAX_PAUSE_MS, `another stream pauses for ${pauseMs.toFixed(0)} ms at most`);
      this.#t.same(other.states(), ['up'], 'and has seen no other state');
    }
  }

  /** Ends the commands, and judges all of it. */
  async end(): Promise<void> {
    for (const { stream } of [...this.viewers, ...this.others])
      this.#t.notOk(stream.isEnded || stream.connection.isClosed, 'the stream has not ended');
    this.checkOthers();
    await this.commander.stop();
    this.recovery.report(this.#t);
    const hubs = this.hubs.map(({ log }) => log).join('');
    await judge(this.#t, this.what, this.commander.sent, this.#marks, { agent: this.agent.log, hubs });
  }
}

/** Stops one of its parts for 30 s; `seen`: the states on the socket. */
export async function stopAndGo(
  t: Test,
  scene: Scene,
  part: Pick<Part, 'signal'>,
  seen = /^(?:|(?:down,)+up)$/,
): Promise<void> {
  const { viewer } = scene;
  await sleep(2000);
  const before = viewer.states().length;
  part.signal('SIGSTOP');
  await sleep(STOP_SECONDS * 1000);
  part.signal('SIGCONT');
  await scene.recovered();
  t.equal((await rowsOf(viewer.port)).length, 1);
  t.match(viewer.states(before).join(), seen, 'on the socket');
}
