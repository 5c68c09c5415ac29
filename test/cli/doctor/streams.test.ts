/** The row on what sends events to subscribers, by engine and platform. */
import t from 'tap';
import { judgeStreams } from '#src/cli/doctor/judges.js';
import type { Finding } from '#src/host/finding.js';

const RING = { subject: 'streams', source: 'io_uring', status: 'works', reason: null, remedy: null } as const;
const SEND = { ...RING, source: 'send', status: 'partly', reason: 'EPERM', remedy: 'permit it' } as const;
const CERT = { path: '/cert.pem', pem: '' };
const OVER_TLS = { cert: CERT, key: CERT, port: undefined };

t.test('[9.doctor-streams] by engine, and over TLS', async (t) => {
  const plain = { tls: { cert: undefined, key: undefined, port: undefined } };
  const judge = (
    native: Finding,
    engine: 'uws' | 'node',
    tls = plain.tls as typeof plain.tls | typeof OVER_TLS,
    hasWriter = true,
  ) => judgeStreams(native, { engine, hasWriter }, { tls });
  for (const engine of ['uws', 'node'] as const)
    t.strictSame([judge(RING, engine), judge(SEND, engine)], [RING, SEND], 'the row of the addon');
  t.match(judge(RING, 'uws', plain.tls, false), {
    status: 'partly',
    source: 'uWebSockets.js',
    reason: /sent with the next event/,
    remedy: /auto or node/,
  });
  t.match(judge(RING, 'node', OVER_TLS), {
    status: 'partly',
    source: "Node's sockets",
    reason: /Node encrypts/,
    remedy: /reverse proxy/,
  });
  const both = { ...OVER_TLS, port: 9991 } as unknown as typeof OVER_TLS;
  t.match(judge(SEND, 'node', both), {
    status: 'partly',
    source: "send; Node's sockets for TLS",
    reason: /^EPERM; .*Node encrypts/,
    remedy: /^permit it; .*reverse proxy/,
  });
});
