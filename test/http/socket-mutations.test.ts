/** Spoilt messages, frames and upgrades: no crash, and each connection ends as decided. The siege sends them among honest clients. */
import '../helpers/service/dead-buses.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { parseHead, RawConnection } from '../helpers/clients/http.ts';
import { repetitions } from '../helpers/random.ts';
import { DIFFERENCES } from '../helpers/service/differences.ts';
import { serveProgram } from '../helpers/service/service.ts';
import { randomOf } from './mutate.ts';
import { socketsOf } from './open-sockets.ts';
import { type Attack, attack, soundAttack } from './socket-attacks.ts';
import { readFrames, type Said } from './socket-frames.ts';

/** Messages. */
const COUNT = 200_000;
const SEED = 20_261_121;
const CONCURRENCY = 32;
const LIMIT_MS = 10_000;
/** How long to listen to a peer from which nothing is due before hanging up. */
const QUIET_MS = 15;

const STATUSES = new Set([101, 200, 204, 400, 403, 404, 405, 413, 426, 431, 503, 505]);
/** Normal, those that the service chooses, those a client may have sent itself, and none. */
const CLOSE_CODES = new Set([1000, 1005, 1008, 1009, ...DIFFERENCES.protocolErrorCodes]);

/** The head of the final answer: a client that sends `Expect: 100-continue` gets a 100 before it. */
function headOf(bytes: Buffer): { readonly status: number; readonly bytes: number } | undefined {
  const head = parseHead(bytes);
  if (head?.status !== 100) return head;
  const final = parseHead(bytes.subarray(head.bytes));
  return final && { status: final.status, bytes: head.bytes + final.bytes };
}

/** The messages after the head of the upgrade. Throws where they are not allowed there. */
function saidOf(bytes: Buffer): Said {
  const head = headOf(bytes);
  if (head === undefined || head.status !== 101) throw new Error('no upgrade');
  return readFrames(bytes.subarray(head.bytes));
}

const idsOf = ({ messages }: Said) => messages.filter(({ type }) => type === 'pong').map(({ id }) => id);

const isPrefix = (part: readonly unknown[], whole: readonly unknown[]) =>
  part.every((item, i) => item === whole[i]);

/** The fault in the end of an open socket; undefined: none. */
function faultOf(said: Said, { fate, ids, pongs, kind }: Attack): string | undefined {
  const { closeCode } = said;
  if (said.messages[0]?.type !== 'connected') return 'no greeting';
  if (closeCode !== undefined && !CLOSE_CODES.has(closeCode)) return `close code ${closeCode}`;
  const answered = idsOf(said);
  if (fate === 'answered')
    return answered.join() === ids.join() && said.pongs.join() === pongs.join()
      ? undefined
      : 'answers differ';
  if (kind !== 'messages of any kind' && !isPrefix(answered.slice(0, ids.length), ids))
    return 'answers out of order';
  if (fate === 'cut')
    return closeCode === undefined || DIFFERENCES.protocolErrorCodes.has(closeCode)
      ? undefined
      : `closed with ${closeCode}`;
  if (typeof fate === 'number') return closeCode === fate ? undefined : `close code ${closeCode}`;
  return undefined;
}

async function write(connection: RawConnection, pieces: readonly Buffer[]): Promise<void> {
  for (const [i, piece] of pieces.entries()) {
    if (i > 0) await sleep(1);
    connection.write(piece);
  }
}

/** Waits until everything due has arrived, or the connection that must end has ended. */
async function settle(connection: RawConnection, { fate, ids, pongs }: Attack): Promise<void> {
  if (fate === 'any') {
    await connection.closed(QUIET_MS).catch(() => undefined);
    connection.end();
    await connection.closed(LIMIT_MS);
    return;
  }
  await connection.until((bytes, isClosed) => {
    if (isClosed) return true;
    const said = saidOf(bytes);
    const isAnswered = idsOf(said).length >= ids.length && said.pongs.length >= pongs.length;
    if (fate === 'answered') return isAnswered || undefined;
    return said.closeCode === undefined ? undefined : true;
  }, LIMIT_MS);
  connection.end();
  // A close frame is answered with one that ends the connection; here a hang-up ends it.
  await connection.closed(LIMIT_MS);
}

async function play(port: number, played: Attack): Promise<string | undefined> {
  const connection = await RawConnection.open(port);
  try {
    connection.write(played.isHasty ? Buffer.concat([played.upgrade, ...played.pieces]) : played.upgrade);
    const isSpoilt = played.upgrade !== soundUpgrade;
    const wait = isSpoilt ? QUIET_MS : LIMIT_MS;
    const head = await connection.until(headOf, wait).catch((error: unknown) => {
      if (isSpoilt) return undefined;
      throw error;
    });
    if (head !== undefined && !STATUSES.has(head.status)) return `status ${head.status}`;
    if (head?.status !== 101) {
      if (!isSpoilt) return `an upgrade was answered with ${head?.status}`;
      connection.end();
      await connection.closed(LIMIT_MS);
      return undefined;
    }
    if (isSpoilt && !/^GET \/api\/ws.*upgrade:[^\r\n]*websocket/is.test(played.upgrade.toString('latin1')))
      return 'an upgrade that nobody asked for';
    if (!played.isHasty) await write(connection, played.pieces);
    await settle(connection, played);
    return faultOf(saidOf(connection.rest), played);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    connection.destroy();
  }
}

const soundUpgrade = soundAttack(randomOf(1)).upgrade;

t.setTimeout(900_000);

t.test('[7.limit-size] [7.limit-cut] [7.limit-flood] spoilt messages, frames and upgrades', async (t) => {
  const service = await serveProgram(t, { config: { stats: { stream_interval_seconds: 1 } } });
  const { port, pid } = service;
  const random = randomOf(SEED);
  const count = repetitions(t, COUNT, SEED);
  const openBefore = socketsOf(pid);
  const faults: string[] = [];
  const kinds = new Set<string>();
  let messages = 0;
  const worker = async () => {
    while (messages < count && faults.length <= 5) {
      const played = attack(random);
      messages += played.count;
      kinds.add(played.kind);
      const fault = await play(port, played);
      if (fault !== undefined)
        faults.push(
          `${played.kind} (${played.fate}): ${fault}; ${played.upgrade.toString('latin1').slice(0, 300)}`,
        );
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  t.strictSame(faults, [], 'no fault, also where nothing is wrong');
  t.ok(kinds.size > 20, `${kinds.size} kinds`);
  t.equal(await play(port, soundAttack(random)), undefined, 'and it goes on');
  for (let i = 0; i < 50 && socketsOf(pid) > openBefore; i++) await sleep(100);
  t.ok(socketsOf(pid) <= openBefore + 2, `${openBefore} sockets before, ${socketsOf(pid)} at the end`);
  t.notMatch(service.stderr(), / error: /, 'nothing failed');
});
