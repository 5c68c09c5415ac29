/**
 * The events of a machine that goes, and the messages about it, on each way that it meets its hub: a failure is one
 * message and its end another; a planned end and a crash of the hub are none.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { eventList } from '#src/wire/events.js';
import { ask, jsonOf } from '../../../helpers/clients/http.ts';
import { type Cable, layCable, reasonAgainstCable } from '../../../helpers/clients/network-namespace.ts';
import { emptyFolder } from '../../../helpers/scope.ts';
import { findFreePort } from '../../../helpers/service/free-port.ts';
import { until } from '../../../helpers/until.ts';
import { BROKERS, BrokerMachine } from '../../../hub/broker/setup.ts';
import { type Received, receive } from '../../../notify/receive.ts';
import { Dialler, KEY, keyFile } from '../../dial-in/setup.ts';
import { PlayedMachine } from '../../played-machine.ts';
import { isFull, type Part, startAgent, startHub } from './parts.ts';
import { stateOf } from './viewers.ts';

t.setTimeout(1_800_000);

/** Of each reason on each way. */
const PLANNED = isFull ? 50 : 3;
const KILLS = isFull ? 10 : 2;
const CUT_MS = isFull ? 60_000 : 20_000;
const NO_CABLE = reasonAgainstCable();
const [MOSQUITTO] = BROKERS;

const ENDS = [
  { reason: 'sleep', state: 'asleep' },
  { reason: 'restart', state: 'off' },
  { reason: 'shutdown', state: 'off' },
] as const;

type Fault = readonly [events: readonly string[], messages: readonly string[]];

const failure: Fault = [
  ['down begin', 'down end'],
  ['firing', 'resolved'],
];
const planned = (subject: string): Fault => [[`${subject} begin`, `${subject} end`], []];

const FAULTS = {
  killed: failure,
  dead: [['down begin'], ['firing']] as Fault,
  cut: failure,
  sleep: planned('asleep'),
  restart: planned('off'),
  shutdown: planned('off'),
  'a crash of the hub': [[], []] as Fault,
} as const;

/** Starts the hub with these keys in `hub` of its configuration. */
type Start = (hub: object, host?: string) => Promise<Part>;

/** A machine that a test plays. */
interface Player {
  readonly hub: Part;
  /** It is gone, after its farewell. */
  readonly leave: () => unknown;
  readonly comeBack: () => unknown;
  /** Ends without a farewell. */
  readonly die: () => unknown;
  readonly machine: PlayedMachine;
}

interface Way {
  readonly name: string;
  readonly skip: string | false;
  /** A real machine at the other end of a cable. */
  readonly start: (t: Test, cable: Cable, start: Start) => Promise<{ hub: Part; agent: Part }>;
  readonly play: (t: Test, start: Start) => Promise<Player>;
}

const room = (url: string) => ({ brokers: { room: { url, name: 'hub1' } } });
const farOf = ({ start, far: host }: Cable) => ({ start, host });

const WAYS: readonly Way[] = [
  {
    name: 'the hub connects',
    skip: false,
    async start(t, cable, start) {
      const { part: agent } = await startAgent(t, 'pc', undefined, farOf(cable));
      return { agent, hub: await start({ agents: { pc: { url: `http://${cable.far}:${agent.port}` } } }) };
    },
    async play(t, start) {
      const machine = await PlayedMachine.start(t, await findFreePort());
      const hub = await start({ agents: { pc: { url: machine.url } } });
      return {
        hub,
        machine,
        leave: () => machine.stop(),
        comeBack: () => machine.listen(),
        die: () => machine.stop(),
      };
    },
  },
  {
    name: 'the machine connects',
    skip: false,
    async start(t, cable, start) {
      const key_file = keyFile(t);
      const hub = await start({ agents: { pc: { dials_in: true, key_file } } }, '0.0.0.0');
      const url = `ws://${cable.address}:${hub.port}`;
      const dialling = { url, key_file, plain_networks: ['198.18.0.0/15'] };
      const { part: agent } = await startAgent(t, 'pc', undefined, farOf(cable), {}, dialling);
      return { hub, agent };
    },
    async play(t, start) {
      const hub = await start({ agents: { pc: { dials_in: true, key_file: keyFile(t) } } });
      const machine = new PlayedMachine();
      const dial = () => new Dialler(t, hub.port, { key: KEY }, machine).settled();
      await dial();
      return { hub, machine, leave: () => machine.cut(), comeBack: dial, die: () => machine.cut() };
    },
  },
  {
    name: 'a broker',
    skip: MOSQUITTO.skip,
    async start(t, cable, start) {
      const { url } = await MOSQUITTO.start(t, { host: cable.address, start: spawn });
      const { part: agent } = await startAgent(t, 'pc', url, farOf(cable));
      return { agent, hub: await start(room(url)) };
    },
    async play(t, start) {
      const { url } = await MOSQUITTO.start(t);
      const machine = new PlayedMachine();
      const played = await BrokerMachine.start(t, url, 'pc', machine);
      return {
        hub: await start(room(url)),
        machine,
        leave: () => played.status('offline'),
        comeBack: () => played.status('online'),
        die: () => played.cut(),
      };
    },
  },
];

/** What the hub and the receiver of its messages have seen of the machine. */
class Seen {
  readonly #t: Test;
  readonly #received: readonly Received[];
  readonly #state: string;
  readonly #messages: string[] = [];
  #events: string[] = [];
  hub: Part | undefined;

  private constructor(t: Test, received: readonly Received[], state: string) {
    this.#state = state;
    this.#t = t;
    this.#received = received;
  }

  static async begin(t: Test): Promise<{ seen: Seen; start: Start }> {
    const { received, url } = await receive(t);
    const state_path = path.join(emptyFolder(t), 'state');
    const seen = new Seen(t, received, state_path);
    const notify = {
      targets: { hook: { type: 'webhook', url } },
      // No message is spared by its end.
      batch_seconds: 0,
      grace_seconds: 0,
      max_per_hour: 10_000,
    };
    const start: Start = async (hub, host) => {
      seen.hub = await startHub(t, { ...hub, state_path }, { notify }, host);
      return seen.hub;
    };
    return { seen, start };
  }

  /** Kills the hub when no message is on its way (test/prove/notify-kills.test.ts does then), and starts it again. */
  async crash(): Promise<void> {
    const file = `${this.#state}.notify`;
    await until(() => existsSync(file) && readFileSync(file, 'utf8').includes('"outages":[]'), file);
    await this.restart('SIGKILL');
  }

  async restart(signal: NodeJS.Signals): Promise<void> {
    await this.hub?.kill(signal);
    await this.hub?.start(this.#t);
    // It has no events yet.
    this.#events = [];
  }

  async #words(): Promise<readonly string[]> {
    const { events } = v.parse(eventList, jsonOf(await ask(this.hub?.port ?? 0, '/api/events')));
    return events.map(({ subject, state }) => `${subject} ${state}`);
  }

  /** Waits for the first `count` events of it, and judges all until then. */
  async expect(fault: keyof typeof FAULTS, count?: number): Promise<void> {
    const [events, messages] = FAULTS[fault];
    const half = events.slice(0, count);
    await until(
      async () => (await this.#words()).length >= this.#events.length + half.length,
      () => `the events of ${fault}`,
    );
    const known = [...this.#events, ...half];
    this.#t.strictSame(await this.#words(), known, fault);
    if (count !== undefined) return;
    this.#events = known;
    this.#messages.push(...messages);
    await until(() => this.#received.length >= this.#messages.length, `the messages of ${fault}`);
    const bodies = this.#received.map(({ body }) => JSON.parse(body));
    this.#t.strictSame(
      bodies.map(({ status }) => status),
      this.#messages,
      `the messages of ${fault}`,
    );
    this.#t.ok(bodies.every(({ commonLabels }) => commonLabels.alertname === 'machine_down'));
  }
}

const isState = async (hub: Part, state: string) =>
  await stateOf(hub.port, 'pc', (row) => row.state === state);

for (const way of WAYS) {
  t.test(
    `[12.hub-faults] ${way.name}: killed, cut, and a crash of the hub`,
    {
      skip: way.skip || NO_CABLE,
    },
    async (t) => {
      const cable = layCable(t);
      const { seen, start } = await Seen.begin(t);
      const { hub, agent } = await way.start(t, cable, start);
      await isState(hub, 'up');
      for (let round = 0; round < KILLS; round++) {
        await agent.kill();
        await isState(hub, 'down');
        await agent.start(t);
        await seen.expect('killed');
      }
      for (let round = 0; round < KILLS; round++) {
        await seen.crash();
        await isState(hub, 'up');
        await seen.expect('a crash of the hub');
      }
      cable.cut();
      await isState(hub, 'down');
      await sleep(CUT_MS);
      cable.mend();
      await seen.expect('cut');
      await agent.kill();
      await isState(hub, 'down');
      await agent.start(t);
      // The messages until here are all that there were.
      await seen.expect('killed');
      t.comment(
        `figure: ${way.name}: ${KILLS + 1} kills and a cut of ${CUT_MS / 1000} s are a message and its end each, ${KILLS} crashes of the hub none`,
      );
    },
  );

  t.test(
    `[12.hub-faults] ${way.name}: ${PLANNED} of ${PLANNED} planned ends are no alarm, also with a restart of the hub`,
    {
      skip: way.skip,
    },
    async (t) => {
      const { seen, start } = await Seen.begin(t);
      const { hub, machine, leave, comeBack, die } = await way.play(t, start);
      await isState(hub, 'up');
      for (const { reason } of ENDS)
        for (let round = 0; round < PLANNED; round++) {
          machine.say('closing', { reason });
          await seen.expect(reason, 1);
          await leave();
          await comeBack();
          await seen.expect(reason);
          await isState(hub, 'up');
        }
      for (const { reason, state } of ENDS)
        for (let round = 0; round < PLANNED; round++) {
          machine.say('closing', { reason });
          await isState(hub, state);
          await leave();
          await seen.restart('SIGTERM');
          t.equal((await stateOf(hub.port, 'pc', () => true)).state, state, `${reason}: the next hub knows`);
          await comeBack();
          await isState(hub, 'up');
        }
      await die();
      // The first message of all.
      await seen.expect('dead');
      t.comment(
        `figure: ${way.name}: ${3 * PLANNED} planned ends (sleep, restart, shutdown), ${6 * PLANNED} events, and as many with a restart of the hub before the machine was back; 0 messages`,
      );
    },
  );
}
