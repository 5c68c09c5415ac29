/** Honest loads, which no limit may ever touch: the table, and what plays all of its rows together. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Account, Client, type Connections, type Published, type Target } from './honest-clients.ts';

interface Row {
  readonly who: string;
  readonly clients: number;
  /** Addresses that the clients share. */
  readonly addresses: number;
  readonly connections: Connections;
  /**
   * A client's turn: requests for these paths by turns, a visit to the page, the open page without its files, or a
   * WebSocket.
   */
  readonly does: readonly string[] | 'visit' | 'show' | 'socket';
  /** From one turn of a client to its next: the shortest time of honest use. */
  readonly everyMs: number;
  /** Requests in a turn, one after the other. Default: 1. */
  readonly requests?: number;
  /** The length of a visit. Default: to the end. */
  readonly staysMs?: number;
  /** All clients begin their turns in the same moment; otherwise they are spread over `everyMs`. */
  readonly isTogether?: true;
  /** Each client has an X-Forwarded-For of its own, from a proxy that the service trusts or not. */
  readonly forwarded?: 'trusted' | 'untrusted';
}

/** 20 people who load the page five times in a minute, which is 100 loads in a minute, behind each form of a proxy. */
const behindProxy = (forwarded: 'trusted' | 'untrusted', connections: Connections): Row => ({
  who: `everybody behind one proxy (${forwarded}, connections ${connections})`,
  clients: 20,
  addresses: 1,
  connections,
  does: 'visit',
  everyMs: 12_000,
  staysMs: 3000,
  forwarded,
});

const LONG = ['api/history', 'metrics', 'api/openapi.json'];

export const HONEST_LOADS: readonly Row[] = [
  behindProxy('trusted', 'kept'),
  behindProxy('trusted', 'closing'),
  behindProxy('untrusted', 'kept'),
  behindProxy('untrusted', 'closing'),
  {
    // Open pages reconnect within 4 s, as when the switch of the office has started.
    who: 'an office of 200 behind one NAT address: 180 pages are open',
    clients: 180,
    addresses: 1,
    connections: 'kept',
    does: 'show',
    everyMs: 4000,
  },
  {
    who: 'an office of 200 behind one NAT address: 20 people open the page',
    clients: 20,
    addresses: 1,
    connections: 'kept',
    does: 'visit',
    everyMs: 8000,
  },
  {
    who: 'two Prometheus servers at 5 s',
    clients: 2,
    addresses: 2,
    connections: 'kept',
    does: ['metrics'],
    everyMs: 5000,
  },
  {
    who: 'five scrapers at one address that close each connection',
    clients: 5,
    addresses: 1,
    connections: 'closing',
    does: ['metrics'],
    everyMs: 1250,
  },
  {
    who: 'Home Assistant and three scripts that poll with Connection: close at 1 Hz',
    clients: 4,
    addresses: 1,
    connections: 'closing',
    does: ['api/usage?detail=1', 'api/history', 'api/processes', 'api/status'],
    everyMs: 1000,
  },
  {
    // The power returns twice, 4 s apart.
    who: 'a wall of 30 panels that all reconnect when the power returns',
    clients: 30,
    addresses: 1,
    connections: 'kept',
    does: 'visit',
    everyMs: 4000,
    staysMs: 2500,
    isTogether: true,
  },
  {
    who: 'a wall of 30 panels that all reconnect their WebSocket when the power returns',
    clients: 30,
    addresses: 1,
    connections: 'kept',
    does: 'socket',
    everyMs: 4000,
    staysMs: 2500,
    isTogether: true,
  },
  {
    // On average every 36 s; where the network is bad, several times in a row.
    who: 'a phone that comes and goes 100 times an hour',
    clients: 1,
    addresses: 1,
    connections: 'kept',
    does: 'visit',
    everyMs: 4000,
    staysMs: 1000,
  },
  {
    who: 'curl in a loop of 20 per second',
    clients: 1,
    addresses: 1,
    connections: 'leaving',
    does: LONG,
    everyMs: 50,
  },
  {
    who: '150 scripts at one address at 2 Hz',
    clients: 150,
    addresses: 1,
    connections: 'closing',
    does: ['api/usage'],
    everyMs: 500,
    isTogether: true,
  },
  {
    who: '20 long answers with Connection: close in a row',
    clients: 1,
    addresses: 1,
    connections: 'closing',
    does: ['api/openapi.json'],
    everyMs: 20_000,
    requests: 20,
  },
];

/** `server.trusted_proxies` of the service that is loaded. */
export const TRUSTED = '127.1.0.0/16';

const addressOf = (row: Row, index: number, client: number): string =>
  `127.${row.forwarded === 'trusted' ? 1 : 2}.${index}.${1 + (client % row.addresses)}`;

/** A visit that begins later would hardly see an event. */
const MIN_VISIT_MS = 2500;

async function takeTurn(client: Client, row: Row, turn: number, endsAt: number): Promise<void> {
  const { does, requests = 1, staysMs = Number.POSITIVE_INFINITY } = row;
  if (typeof does === 'object') {
    for (let i = 0; i < requests; i++) await client.get(does[(turn + i) % does.length] ?? '');
    return;
  }
  if (does === 'visit') await client.loadFiles();
  const forMs = Math.max(0, Math.min(staysMs, endsAt - performance.now()));
  if (does === 'socket') await client.showSocket(forMs);
  else await client.showPage(forMs);
}

/** Plays a client of `row` until `endsAt`. */
async function playClient(client: Client, row: Row, number: number, endsAt: number): Promise<void> {
  const { does, everyMs, clients, isTogether } = row;
  const begun = performance.now() + (isTogether === true ? 0 : (number * everyMs) / clients);
  const last = typeof does === 'object' ? endsAt : endsAt - MIN_VISIT_MS;
  for (let turn = 0; begun + turn * everyMs < last; turn++) {
    await sleep(Math.max(0, begun + turn * everyMs - performance.now()));
    await takeTurn(client, row, number + turn, endsAt);
    if (row.staysMs === undefined && typeof does === 'string') break;
  }
  client.end();
}

/** Plays all rows together for `forMs`; returns the account of each. */
export async function playHonestLoads(target: Target, forMs: number): Promise<ReadonlyMap<string, Account>> {
  const published: Published = new Map();
  const accounts = new Map(HONEST_LOADS.map(({ who }) => [who, new Account()]));
  const endsAt = performance.now() + forMs;
  const played = HONEST_LOADS.flatMap((row, index) =>
    Array.from({ length: row.clients }, (_, number) => {
      const client = new Client(target, accounts.get(row.who) ?? new Account(), published, {
        connections: row.connections,
        from: addressOf(row, index, number),
        ...(row.forwarded && { headers: { 'X-Forwarded-For': `192.0.2.${1 + number}` } }),
      });
      return playClient(client, row, number, endsAt);
    }),
  );
  await Promise.all(played);
  return accounts;
}
