/** The row on what sends events to subscribers, by engine. */
import t from 'tap';
import { judgeStreams } from '#src/cli/doctor/streams.js';
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
  ) => judgeStreams(native, engine, { tls });
  t.strictSame(judge(SEND, 'uws', OVER_TLS), { ...RING, source: 'uWebSockets.js' });
  t.strictSame([judge(RING, 'node'), judge(SEND, 'node')], [RING, SEND], 'the row of the addon');
  t.match(judge(RING, 'node', OVER_TLS), {
    status: 'partly',
    source: "Node's sockets",
    reason: /encrypted by Node/,
    remedy: /server\.engine to uws/,
  });
  const both = { ...OVER_TLS, port: 9991 } as unknown as typeof OVER_TLS;
  t.match(judge(SEND, 'node', both), {
    status: 'partly',
    source: "send; over TLS Node's sockets",
    reason: /^EPERM; .*encrypted by Node/,
    remedy: /^permit it; .*server\.engine to uws/,
  });
});
