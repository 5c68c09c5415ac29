/**
 * Commands during a fault. Each starts a program of its own number at the agent, which notes the number and the time: a
 * command that is done twice, late, or although the answer says that it was not, is seen there.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { type RawAnswer, RawConnection, requestBytes } from '../../../helpers/clients/http.ts';
import { emptyFolder } from '../../../helpers/scope.ts';
import type { ConfigPart } from '../../../helpers/service/service.ts';
import { until } from '../../../helpers/until.ts';

/** The hub's own limit: TIMES of src/machine/remote-deps.ts. */
const COMMAND_SECONDS = 5;
/** From the decision of the agent until the program has read the clock, on a busy machine. */
const START_SECONDS = 1;

/** A log takes 150 lines per minute and address. */
const ADDRESSES = 40;
/** Of more commands it leaves some out: it has 150 lines of all addresses, and 30 per minute. */
const MAX_LOGGED = 150;

/** How long a client waits: longer than any answer takes. */
const PATIENCE_MS = 60_000;

/** `cut`: the connection to the hub ended; `not sent`: there was none. */
export type Outcome = 'done' | 'undone' | 'unknown' | 'cut' | 'not sent';

export interface Sent {
  readonly number: number;
  /** Seconds since the boot of this machine, as /proc/uptime has them. */
  readonly at: number;
  /** The hub's port. */
  readonly port: number;
  outcome: Outcome | undefined;
  code: string;
}

export interface Mark {
  readonly number: number;
  readonly at: number;
}

/** Not faked by libfaketime, and the same in all network namespaces. */
const uptime = (): number => Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);

/** Where the programs of an agent note what was done. */
export class Marks {
  readonly #file: string;

  constructor(t: Test) {
    const folder = emptyFolder(t, 'marks');
    this.#file = path.join(folder, 'marks');
  }

  /** The agent's part of the configuration. */
  get part(): ConfigPart {
    const script = `read -r up rest </proc/uptime; echo "$1 $up" >>'${this.#file}'`;
    const mark = { command: '/bin/sh', args: ['-c', script, 'mark'], env: {}, allow_args: true };
    return { processes: { launch: { mark } } };
  }

  read(): readonly Mark[] {
    let text = '';
    try {
      text = readFileSync(this.#file, 'utf8');
    } catch {
      // Nothing was done yet.
    }
    return text
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' ').map(Number))
      .map(([number = Number.NaN, at = Number.NaN]) => ({ number, at }));
  }
}

const codeOf = (answer: RawAnswer): string => {
  const { code } = JSON.parse(answer.body.toString()) as { readonly code?: string };
  return code ?? String(answer.status);
};

function outcomeOf(answer: RawAnswer): Pick<Sent, 'outcome' | 'code'> {
  if (answer.status === 200) return { outcome: 'done', code: '200' };
  const code = codeOf(answer);
  return { outcome: code === 'outcome_unknown' ? 'unknown' : 'undone', code };
}

/** Sends commands for one machine to hubs in turn, every `everyMs`, until `stop`. */
export class Commander {
  readonly sent: Sent[] = [];
  readonly #id: string;
  readonly #ports: readonly number[];
  readonly #open = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  /** Number of the next command: several commanders of one agent start with different ones. */
  #next: number;

  constructor(t: Test, id: string, ports: readonly number[], everyMs: number, first = 1) {
    this.#id = id;
    this.#ports = ports;
    this.#next = first;
    this.#timer = setInterval(() => this.burst(1), everyMs);
    t.teardown(() => clearInterval(this.#timer));
  }

  /** Sends further commands together. */
  burst(count: number): void {
    for (let left = count; left > 0; left--) {
      const done = this.#send();
      this.#open.add(done);
      void done.finally(() => this.#open.delete(done));
    }
  }

  /** Sends no more; resolves when all are answered. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
  }

  async #send(): Promise<void> {
    const number = this.#next++;
    const port = this.#ports[number % this.#ports.length] ?? 0;
    const sent: Sent = { number, at: uptime(), port, outcome: undefined, code: '' };
    this.sent.push(sent);
    let connection: RawConnection | undefined;
    try {
      connection = await RawConnection.open(port, '127.0.0.1', `127.0.0.${1 + (number % ADDRESSES)}`);
      const body = JSON.stringify({ app: 'mark', args: [String(number)] });
      const headers = { 'Content-Type': 'application/json' };
      const target = `/api/hosts/${this.#id}/processes/launch`;
      connection.write(requestBytes(target, { method: 'POST', headers, body }));
      Object.assign(sent, outcomeOf(await connection.readAnswer('POST', PATIENCE_MS)));
    } catch (error) {
      sent.outcome = connection === undefined ? 'not sent' : 'cut';
      sent.code = error instanceof Error ? error.message : String(error);
    } finally {
      connection?.destroy();
    }
  }
}

export interface Audit {
  /** Lines of the audit trail of all runs of the agent, and of all hubs: `started mark`, `launch done`. */
  readonly agent: string;
  readonly hubs: string;
}

const linesWith = (text: string, what: RegExp) => text.split('\n').filter((line) => what.test(line)).length;

const count = (sent: readonly Sent[], ...outcomes: readonly (Outcome | undefined)[]) =>
  sent.filter(({ outcome }) => outcomes.includes(outcome)).length;

/** Judges all commands of one agent; reports a figure. */
export async function judge(
  t: Test,
  what: string,
  sent: readonly Sent[],
  marks: Marks,
  audit: Audit,
): Promise<void> {
  const isDone = (outcome: Outcome | undefined) => outcome === 'done';
  // A program that was started notes it a moment later.
  const noted = () => new Set(marks.read().map(({ number }) => number));
  await until(() => {
    const all = noted();
    return sent.every(({ number, outcome }) => !isDone(outcome) || all.has(number)) || undefined;
  });
  await sleep(500);
  const done = marks.read();
  const byNumber = new Map(sent.map((each) => [each.number, each]));
  const twice = done.filter(({ number }, at) => done.findIndex((each) => each.number === number) !== at);
  t.same(twice, [], `${what}: none is done twice`);
  const ages = done.map(({ number, at }) => at - (byNumber.get(number)?.at ?? Number.NaN));
  const oldest = Math.max(0, ...ages);
  const late = ages.filter((age) => !(age <= COMMAND_SECONDS + START_SECONDS));
  t.same(late, [], `${what}: none is done late, the oldest after ${oldest.toFixed(2)} s`);
  const wrong = sent.filter(
    ({ number, outcome }) => (outcome === 'undone' || outcome === 'not sent') && noted().has(number),
  );
  t.same(wrong, [], `${what}: none is done that was reported as not done`);
  t.equal(count(sent, undefined), 0, `${what}: each has an outcome`);
  const codes = new Set(sent.filter(({ outcome }) => outcome === 'undone').map(({ code }) => code));
  // A hub that has just started does not know the machine yet.
  const known = ['host_unreachable', 'too_many_requests', 'shutting_down', 'not_found'];
  t.same(
    [...codes].filter((code) => !known.includes(code)),
    [],
    `${what}: codes of what was not done`,
  );
  const unknown = sent.filter(({ outcome }) => outcome === 'unknown' || outcome === 'cut');
  const unknownDone = unknown.filter(({ number }) => noted().has(number)).length;
  const trail = linesWith(audit.agent, /process: launch done /);
  // A command whose agent was killed between the start of the program and the line has neither line nor answer.
  t.ok(
    trail <= done.length && (trail >= done.length - unknownDone || sent.length > MAX_LOGGED),
    `${what}: the agent's log has each that was answered: ${trail} of ${done.length}, ${unknownDone} unknown`,
  );
  const answered = count(sent, 'done');
  const logged = linesWith(audit.hubs, /process: launch done/);
  // When a connection is cut, the client does not know what the hub knew.
  t.ok(
    (logged >= answered || sent.length > MAX_LOGGED) && logged <= answered + count(sent, 'cut'),
    `${what}: and so has that of the hub: ${logged}`,
  );
  t.comment(
    `figure: ${what}: ${sent.length} commands, ${answered} done, ${count(sent, 'undone', 'not sent')} not done, ` +
      `${unknown.length} unknown (of them ${unknownDone} done); double ${twice.length}, late ${late.length}, ` +
      `the oldest begun after ${oldest.toFixed(1)} s`,
  );
}
