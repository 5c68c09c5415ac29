/** Why a service cannot be reached, as the client says it. */
import t from 'tap';
import { unreachable } from '#src/client/errors.js';
import { settle } from '../helpers/fakes/clock.ts';
import { startSocket } from './socket-setup.ts';

const CERTIFICATE = "the service's certificate is not trusted";
const REACH = 'the service cannot be reached';

const socketError = (code: string) => Object.assign(new Error(`${code}!`), { code });
/** As fetch of Node throws it. */
const fetchError = (code: string) => new TypeError('fetch failed', { cause: socketError(code) });

t.test('[2.client-reasons] the message has the reason, by the code of the socket', async (t) => {
  for (const [code, kind, message] of [
    ['ECONNREFUSED', 'unreachable', `${REACH}: connection refused`],
    ['ENOTFOUND', 'unreachable', `${REACH}: unknown host name`],
    ['EAI_AGAIN', 'unreachable', `${REACH}: the host name cannot be resolved`],
    ['EHOSTUNREACH', 'unreachable', `${REACH}: no route to the host`],
    ['UND_ERR_CONNECT_TIMEOUT', 'unreachable', `${REACH}: no answer in time`],
    ['UND_ERR_SOCKET', 'unreachable', `${REACH}: connection closed`],
    [
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'unreachable',
      `${REACH}: that port does not speak TLS; it may be plain HTTP`,
    ],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'unreachable', REACH],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'untrusted_certificate', `${CERTIFICATE}: DEPTH_ZERO_SELF_SIGNED_CERT!`],
    ['CERT_HAS_EXPIRED', 'untrusted_certificate', `${CERTIFICATE}: CERT_HAS_EXPIRED!`],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'untrusted_certificate', /^the service's certificate is not trusted: /],
    [
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'untrusted_certificate',
      /^the service's certificate is not trusted: /,
    ],
  ] as const) {
    for (const reason of [fetchError(code), socketError(code)])
      t.match(unreachable(reason), { code: kind, message }, code);
  }
  const advised = Object.assign(new Error('self-signed certificate; try an option'), {
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  });
  t.equal(unreachable(advised).message, `${CERTIFICATE}: self-signed certificate`);
  t.equal(unreachable(new TypeError('Failed to fetch')).message, REACH, 'a browser reports no reason');
  t.equal(unreachable().message, `${REACH}: no answer in time`);
});

t.test('[2.client-reasons] a socket asks for the reason by a request', async (t) => {
  const { newest, asked, states } = await startSocket(t);
  newest().break();
  asked[0]?.fail(fetchError('ENOTFOUND'));
  await settle();
  t.match(states.at(-1), { error: { code: 'unreachable', message: `${REACH}: unknown host name` } });
  const other = await startSocket(t);
  other.newest().emit('error', { error: socketError('ECONNREFUSED') });
  other.asked[0]?.fail();
  await settle();
  t.match(other.states.at(-1), { error: { message: `${REACH}: connection refused` } });
});
