/** The matrix over real sockets of a family: every answer is the one that the oracle expects, byte for byte. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { type RawAnswer, RawConnection, valuesOf } from '../helpers/clients/http.ts';
import { createRandom, type Random, repetitions, SHARE } from '../helpers/random.ts';
import type { ServiceHere } from '../helpers/service/service.ts';
import { type Case, neighboursOf, randomCase, settingsOfCase, wireOfCase } from './cases.ts';
import { opinionOn } from './oracle.ts';

export interface Family {
  readonly name: string;
  readonly listensOn: '127.0.0.1' | '::';
  readonly peers: readonly string[];
  readonly seed: number;
}

/** Cases per family: half of them neighbours, half of them random. */
const CASES = 8000;

const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';

/** The case as a socket of `family` can send it: only a GET can ask for an upgrade, and no Host gets no answer. */
function fit(c: Case, { peers }: Family): Case | undefined {
  if (c.host.length === 0) return undefined;
  const peer = peers.includes(c.peer ?? '') ? c.peer : peers[0];
  return { ...c, peer, upgrade: c.upgrade && c.method === 'GET' };
}

const PREFLIGHT = { method: 'OPTIONS', origin: ['http://panel.lan:8123'], requestMethod: ['POST'] };

/** Bases that pass, each with its neighbours in one dimension (so that every refusal has a twin), then random points. */
function casesOf(t: Test, family: Family, seed: number): readonly Case[] {
  const random: Random = createRandom(seed);
  const count = repetitions(t, CASES, seed);
  const cases = new Map<string, Case>();
  const add = (c: Case) => {
    const fitted = fit(c, family);
    if (fitted !== undefined) cases.set(JSON.stringify(fitted), fitted);
  };
  while (cases.size < count / 2) {
    const drawn = { ...randomCase(random, 55), peer: family.peers[0] };
    const base = fit(cases.size === 0 ? { ...drawn, ...PREFLIGHT } : drawn, family);
    if (base === undefined || /^4/.test(opinionOn(base).verdict)) continue;
    for (const c of [base, ...family.peers.map((peer) => ({ ...base, peer })), ...neighboursOf(base)]) add(c);
  }
  for (let drawn = 0; cases.size < count; drawn++) {
    const c = randomCase(random, drawn % 100);
    add({ ...c, peer: family.peers[drawn % family.peers.length] });
  }
  return [...cases.values()];
}

const GET_PATHS = ['/', '/api/usage', '/api/status', '/metrics'];
const ALLOW: Readonly<Record<string, string>> = {
  '/': 'GET, HEAD',
  '/api/usage': 'GET, HEAD',
  '/metrics': 'GET, HEAD',
  '/api/history': 'GET, HEAD',
  '/api/status': 'GET, HEAD',
  '/api/ws': 'GET, HEAD',
  '/api/pw/sleep': 'POST',
  '/api/wake': 'POST',
};

/** The answers of the routes behind the gate. */
function routed({ method, path, upgrade, dashboard }: Case): number {
  const allow = ALLOW[path];
  if (allow === undefined) return 404;
  if (method === 'OPTIONS') return 204;
  if (!allow.split(', ').includes(method)) return 405;
  // features.enable_wake is off, and history.minutes is 0.
  if ((path === '/' && !dashboard) || path === '/api/wake' || path === '/api/history') return 403;
  if (path === '/api/ws' && method === 'GET' && upgrade) return 101;
  return GET_PATHS.includes(path) || path === '/api/pw/sleep' ? 200 : 426;
}

interface Expected {
  readonly status: number;
  readonly code: readonly string[];
  readonly challenge: readonly string[];
  readonly cors: readonly string[];
  /** `none`: no body and Content-Length 0. */
  readonly body: 'none' | 'any';
}

function expectedOf(c: Case): Expected {
  const { verdict, cors } = opinionOn(c);
  const [word = '', code] = verdict.split(' ');
  const status = word === 'preflight' ? 204 : /^\d/.test(word) ? Number(word) : routed(c);
  // The gate lets it through; the feature is off.
  const isOff = status === 403 && word !== '403';
  return {
    status,
    code: isOff ? ['feature_disabled'] : code === undefined ? [] : [code],
    challenge: word === '401' ? ['Bearer'] : [],
    // Browsers let the page that opened a socket read it, regardless of CORS headers.
    cors: cors === undefined || status === 101 ? [] : [cors],
    body: word === '401' || status === 403 ? 'none' : 'any',
  };
}

function seenOf(answer: RawAnswer): Expected {
  if (answer.status === 101) return { status: 101, code: [], challenge: [], cors: [], body: 'any' };
  const isBare = answer.body.length === 0 && valuesOf(answer, 'content-length').join() === '0';
  return {
    status: answer.status,
    code: valuesOf(answer, 'x-error-code'),
    challenge: valuesOf(answer, 'www-authenticate'),
    cors: valuesOf(answer, 'access-control-allow-origin'),
    body: isBare ? 'none' : 'any',
  };
}

/** One kept-alive connection per peer. */
class Peers {
  readonly #port: number;
  readonly #connections = new Map<string, RawConnection>();

  constructor(port: number) {
    this.#port = port;
  }

  async send(c: Case): Promise<RawAnswer> {
    const wire = wireOfCase(c);
    if (wire === undefined) throw new Error(`no socket can send from ${c.peer}`);
    const known = this.#connections.get(wire.from);
    const host = wire.from.includes(':') ? '::1' : '127.0.0.1';
    const connection =
      known === undefined || known.isClosed ? await RawConnection.open(this.#port, host, wire.from) : known;
    this.#connections.set(wire.from, connection);
    const lines = wire.headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    connection.write(
      `${wire.method} ${wire.target} HTTP/1.1\r\n${lines}${wire.isUpgrade ? UPGRADE : ''}\r\n`,
    );
    const answer = await connection.readAnswer(c.method);
    const isOver = valuesOf(answer, 'connection').some((value) => value.toLowerCase() === 'close');
    if (isOver || answer.status === 101) {
      connection.destroy();
      this.#connections.delete(wire.from);
    }
    if (answer.status === 429) {
      // A thousand answers without a body within a second.
      await sleep(1000);
      return await this.send(c);
    }
    return answer;
  }

  close(): void {
    for (const connection of this.#connections.values()) connection.destroy();
  }
}

const VERDICTS = ['keyed', 'keyless', 'preflight', '400', '401', '403'];

/** Returns the number of cases that became sockets. */
async function replay(
  t: Test,
  service: ServiceHere,
  cases: readonly Case[],
  verdicts: readonly string[],
): Promise<number> {
  const peers = new Peers(service.port);
  t.teardown(() => peers.close());
  const wrong: unknown[] = [];
  const counts = new Map<string, number>();
  let sockets = 0;
  for (const c of cases) {
    const expected = expectedOf(c);
    service.reconfigure(settingsOfCase(c));
    const seen = seenOf(await peers.send(c));
    if (seen.status === 101) sockets++;
    const { verdict } = opinionOn(c);
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    // An answer to HEAD cannot be distinguished from one without a body.
    const sees = expected.body === 'any' ? { ...seen, body: 'any' } : seen;
    if (wrong.length < 3 && JSON.stringify(sees) !== JSON.stringify(expected))
      wrong.push({ case: c, verdict, seen, expected });
  }
  t.same(wrong, []);
  for (const verdict of verdicts)
    t.ok((counts.get(verdict) ?? 0) >= 10 * SHARE, `${counts.get(verdict)} × ${verdict}`);
  for (const code of ['host_not_allowed', 'origin_not_allowed'])
    t.ok((counts.get(`403 ${code}`) ?? 0) >= 10 * SHARE, `${counts.get(`403 ${code}`)} × ${code}`);
  return sockets;
}

/** Requests of a family of peers. */
export async function checkRequests(t: Test, service: ServiceHere, family: Family): Promise<void> {
  const cases = casesOf(t, family, family.seed);
  const begun = performance.now();
  await replay(t, service, cases, VERDICTS);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  t.comment(`figure: ${cases.length} requests of ${family.name} peers in ${seconds} s`);
}

/** The same through upgrades. */
export async function checkUpgrades(t: Test, service: ServiceHere, family: Family): Promise<void> {
  const all = casesOf(t, family, family.seed + 1);
  const upgrades = new Map<string, Case>();
  for (const each of all) {
    const upgraded = { ...each, method: 'GET', path: '/api/ws', upgrade: true };
    upgrades.set(JSON.stringify(upgraded), upgraded);
  }
  const cases = [...upgrades.values()];
  const sockets = await replay(t, service, cases, ['keyed', 'keyless', '401', '403']);
  t.ok(sockets >= 50 * SHARE, `${sockets} of ${cases.length} became sockets`);
}
