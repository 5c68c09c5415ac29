/** One victim under attack in one tab: stages each row and determines its outcome. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attacker } from './attacker.ts';
import * as names from './names.ts';
import type { Resolver } from './resolver.ts';
import type { Aim, Place, Row, Target } from './row.ts';
import type { Tab } from './tab.ts';
import { SECRETS, type Victim } from './victim.ts';
import type { WireExchange } from './wire.ts';

/** The outcome of one attempt. */
export interface Outcome {
  readonly row: Row;
  readonly target: Target;
  /** The state of the target changed, or the page has bytes that only the service has. */
  readonly succeeded: boolean;
  /** The service has answered the last request that the attempt was to make. */
  readonly hasArrived: boolean;
  /** The browser's requests to the service, with their answers; without the health check. */
  readonly exchanges: readonly WireExchange[];
  /** The page's reports. */
  readonly loot: readonly string[];
  readonly tookMs: number;
}

export interface Ground {
  readonly attacker: Attacker;
  readonly resolver: Resolver;
}

/** Browsers on a busy machine. */
const LIMIT_MS = 15_000;
const STEP_MS = 10;
/** Paths that browsers request on their own, and the path by which a page finds out that its name leads elsewhere. */
const BESIDE = new Set(['/favicon.ico', '/api/status']);

const PATHS: Readonly<Record<Target, { readonly read: string; readonly act: string }>> = {
  stats: { read: '/api/usage', act: '' },
  power: { read: '/api/pw', act: '/api/pw/sleep' },
  media: { read: '/api/media/status', act: '/api/media/control' },
  process: { read: '/api/processes', act: '/api/processes/kill' },
};

let count = 0;

export class Attempts {
  readonly #ground: Ground;
  readonly #victim: Victim;
  readonly #tab: Tab;
  readonly #log: readonly WireExchange[];

  constructor(ground: Ground, victim: Victim, tab: Tab) {
    this.#ground = ground;
    this.#victim = victim;
    this.#tab = tab;
    this.#log = ground.resolver.watch(victim.service.port);
  }

  /** `host`: what the page calls the service. `isExpected`: it is to succeed, and is waited for. */
  async attack(row: Row, target: Target, host: string, isExpected: boolean): Promise<Outcome> {
    const id = `${row.id}-${count++}`;
    const site = this.#siteOf(row.from, id, host);
    const begun = performance.now();
    const mark = this.#log.length;
    const before = await this.#victim.count(target);
    const aim = this.#aimOf(row, target, host, site);
    const base = `${site}/attempt/${id}`;
    const loot = this.#ground.attacker.lay(
      id,
      row.stage(aim, {
        base,
        loot: `http://${names.ATTACKER}:${this.#ground.attacker.port}/loot/${id}`,
        accomplice: `http://${names.ACCOMPLICE}:${this.#ground.attacker.port}`,
      }),
    );
    await this.#tab.goto(`${base}/page`);
    const isMade = row.isClicked !== true || (await this.#tab.click('#go'));
    const exchanges = () => this.#log.slice(mark).filter(({ path }) => !BESIDE.has(path));
    const isAnswered = () => exchanges().some(isFinal);
    const hasSucceeded = () => this.#hasSucceeded(row, target, { before, loot, exchanges: exchanges() });
    const isOver = async () => {
      if (!isAnswered()) return false;
      if (await hasSucceeded()) return true;
      // An action may take a moment; for attempts that must fail, the state is checked again at the end.
      const mayYetRead = (row.does === 'read' || target === 'stats') && loot.length === 0;
      return !isExpected && !mayYetRead;
    };
    while (isMade && !(await isOver()) && performance.now() - begun < LIMIT_MS) await sleep(STEP_MS);
    const succeeded = await hasSucceeded();
    if (row.isClicked === true) await this.#tab.tidy();
    return {
      row,
      target,
      succeeded,
      hasArrived: isAnswered(),
      exchanges: exchanges(),
      loot,
      tookMs: performance.now() - begun,
    };
  }

  async #hasSucceeded(
    row: Row,
    target: Target,
    { before, loot, exchanges }: Pick<Outcome, 'loot' | 'exchanges'> & { readonly before: number },
  ): Promise<boolean> {
    // The dashboard asks for its stream, from its own origin: it is at work.
    if (row.does === 'frame') return exchanges.some(({ path }) => path === '/api/stream');
    if (row.does === 'act' && target !== 'stats') return (await this.#victim.count(target)) > before;
    const secret = row.secret ?? SECRETS[target];
    return loot.some((text) => text.includes(secret));
  }

  #aimOf(row: Row, target: Target, host: string, site: string): Aim {
    const isActing = row.does === 'act' && target !== 'stats';
    const pid = this.#victim.pid;
    const bodies: Readonly<Partial<Record<Target, object>>> = {
      media: { action: 'pause' },
      process: { pid },
    };
    const messages: Readonly<Record<Target, object>> = {
      power: { op: 'power', data: { action: 'sleep' } },
      media: { op: 'media', data: { action: 'pause' } },
      process: { op: 'process_kill', data: { pid } },
      stats: { op: 'subscribe', data: { topics: ['stats'] } },
    };
    const body = isActing ? bodies[target] : undefined;
    const isOwn = row.from.startsWith('rebound');
    return {
      target,
      service: isOwn ? site : `http://${host}:${this.#victim.service.port}`,
      method: isActing ? 'POST' : 'GET',
      path: row.path ?? (isActing ? PATHS[target].act : PATHS[target].read),
      body: body && JSON.stringify(body),
      message: JSON.stringify(messages[target]),
    };
  }

  #siteOf(place: Place, id: string, host: string): string {
    const { port, neighbourPort } = this.#ground.attacker;
    const servicePort = this.#victim.service.port;
    switch (place) {
      case 'foreign':
        return `http://${names.ATTACKER}:${port}`;
      case 'neighbour':
        return `http://${host}:${neighbourPort}`;
      case 'trusted':
        return `http://${names.TRUSTED_NAME}:${port}`;
      case 'listed-and-more':
        return `http://${names.LISTED_AND_MORE}:${port}`;
      case 'more-and-listed':
        return `http://${names.MORE_AND_LISTED}:${port}`;
      case 'listed':
        return `http://${names.LISTED}:${port}`;
      case 'listed-elsewhere':
        return `http://${names.LISTED}:${servicePort}`;
      case 'rebound':
        return `http://${names.reboundName(id)}:${servicePort}`;
      case 'rebound-dot':
        return `http://${names.reboundName(id)}.:${servicePort}`;
      case 'rebound-lookalike':
        return `http://${names.SERVICE_ADDRESS}.${names.reboundName(id)}:${servicePort}`;
    }
  }
}

/** After this nothing more comes: an answer to the request itself, or a preflight that grants nothing. */
function isFinal({ method, answerHeaders }: WireExchange): boolean {
  return method !== 'OPTIONS' || !answerHeaders.has('access-control-allow-origin');
}
