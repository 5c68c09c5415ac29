/** A wrong key costs no more than any other header of its length, whatever is in it; with and without a configured key. */
import t from 'tap';
import { RawConnection } from '../../helpers/clients/http.ts';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { startHere } from '../../helpers/service/service.ts';

const BLANKS = 15_900;
const REQUESTS = 5;
const ROUNDS = 6;
/** Ratio to a header of letters. It was 300 and more for an engine that decodes UTF-8. */
const MAX_RATIO = 20;

const requestOf = (authorization: string) =>
  Buffer.from(`GET /api/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`);

/** Milliseconds of some requests, one after the other on one connection. */
async function timeOf(connection: RawConnection, request: Buffer): Promise<number> {
  const begun = performance.now();
  for (let left = REQUESTS; left > 0; left--) {
    connection.write(request);
    const { status } = await connection.readAnswer();
    if (status !== 200) throw new Error(`answered with ${status}`);
  }
  return performance.now() - begun;
}

const CONFIGURED = {
  'no key': {},
  'a key': { auth: { enabled: true, api_key: 'correct-horse-battery-staple-01' } },
};

for (const [name, config] of Object.entries(CONFIGURED))
  t.test(`16,000 blanks before text that is not a key: ${name} is configured`, async (t) => {
    const service = await startHere(fixtureHost(), config);
    t.teardown(() => service.stop());
    const connection = await RawConnection.open(service.port);
    t.teardown(() => connection.destroy());
    const blanks = ' '.repeat(BLANKS);
    const plain = requestOf('k'.repeat(BLANKS + 10));
    const hostile = [`Bearer${blanks}\u2028x`, `Bearer${blanks}\u0085x`, `Bearer\t${blanks}x`].map(requestOf);
    let plainMs = Number.POSITIVE_INFINITY;
    const hostileMs = hostile.map(() => Number.POSITIVE_INFINITY);
    // In turns, so that a busy moment of the machine is one for all of them.
    for (let round = 0; round < ROUNDS; round++) {
      plainMs = Math.min(plainMs, await timeOf(connection, plain));
      for (const [at, request] of hostile.entries())
        hostileMs[at] = Math.min(hostileMs[at] ?? 0, await timeOf(connection, request));
    }
    for (const ms of hostileMs) {
      const ratio = ms / plainMs;
      t.ok(ratio < MAX_RATIO, `${ratio.toFixed(1)} times as long`);
    }
  });
