/** Ends processes: exactly those requested, and for a tree also those that it starts until then. */
import { idAt } from '../host/process-columns.ts';
import type { EndSignal, ProcessColumns, ProcessHost, ProcessId } from '../host/processes.ts';
import { isOver, treeOf, whyProtected } from './process-guards.ts';

export interface EndRequest {
  /** Judged already. For a tree all of it that was seen, parents first: the children of an ended parent cannot be found. */
  readonly targets: readonly ProcessId[];
  readonly signal: 'term' | 'kill';
  readonly isTree: boolean;
  readonly timeoutMs: number;
  readonly ownPid: number;
}

export interface EndResult {
  /** The processes that got the signal, and how many of them have ended in time. */
  readonly signalled: readonly ProcessId[];
  readonly ended: number;
  /** The processes that this service's user may not signal. */
  readonly denied: readonly ProcessId[];
}

/** Limit for a tree that grows faster than it is read. */
const MAX_ROUNDS = 8;

const keyOf = ({ pid, startTicks }: ProcessId) => `${pid} ${startTicks}`;

/** The processes that were signalled, in order, each once. */
class Signalled {
  readonly #host: ProcessHost;
  readonly #seen = new Map<string, 'sent' | 'gone' | 'denied'>();
  readonly sent: ProcessId[] = [];
  readonly denied: ProcessId[] = [];

  constructor(host: ProcessHost) {
    this.#host = host;
  }

  has(target: ProcessId): boolean {
    return this.#seen.has(keyOf(target));
  }

  send(target: ProcessId, signal: EndSignal): void {
    const outcome = this.#host.signal(target, signal);
    this.#seen.set(keyOf(target), outcome);
    if (outcome === 'sent') this.sent.push(target);
    if (outcome === 'denied') this.denied.push(target);
  }
}

/** The processes in the tree of `known` that are not in it yet and may be ended. */
function findFresh(columns: ProcessColumns, known: Signalled, ownPid: number): readonly ProcessId[] {
  const roots: number[] = [];
  for (let row = 0; row < columns.pids.length; row++) if (known.has(idAt(columns, row))) roots.push(row);
  return treeOf(columns, roots)
    .filter((row) => !isOver(columns, row) && whyProtected(columns, row, ownPid) === undefined)
    .map((row) => idAt(columns, row))
    .filter((id) => !known.has(id));
}

/**
 * To kill a tree, stops it first, from its roots on, until nothing new appears in it: a stopped process starts nothing.
 * To terminate it, signals also new processes in it; a child that was started last, by a parent that has ended since,
 * cannot be found.
 */
async function signalTree(host: ProcessHost, request: EndRequest, known: Signalled): Promise<void> {
  const first: EndSignal = request.signal === 'kill' ? 'stop' : 'term';
  for (const target of request.targets) known.send(target, first);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const fresh = findFresh(await host.read(), known, request.ownPid);
    for (const target of fresh) known.send(target, first);
    if (fresh.length === 0) break;
  }
}

/** All or nothing: where a part of the tree may not be ended, all of it continues. */
async function killTree(host: ProcessHost, request: EndRequest, known: Signalled): Promise<boolean> {
  let isComplete = false;
  try {
    await signalTree(host, request, known);
    isComplete = known.denied.length === 0;
  } finally {
    for (const target of known.sent) host.signal(target, isComplete ? 'kill' : 'continue');
  }
  return isComplete;
}

/** Rejects with the system's Error. */
export async function endProcesses(host: ProcessHost, request: EndRequest): Promise<EndResult> {
  const { signal, targets, timeoutMs, isTree } = request;
  const known = new Signalled(host);
  const { sent, denied } = known;
  if (!isTree) for (const target of targets) known.send(target, signal);
  else if (signal === 'term') await signalTree(host, request, known);
  else if (!(await killTree(host, request, known))) return { signalled: [], ended: 0, denied };
  // A stopped process handles SIGTERM only when it continues.
  if (signal === 'term') for (const target of sent) host.signal(target, 'continue');
  const hasEnded = await host.waitForEnd(sent, timeoutMs);
  return { signalled: sent, ended: hasEnded.filter(Boolean).length, denied };
}
