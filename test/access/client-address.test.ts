/** The address that a request is counted by: the client's whole one, so that the audit trail can name it. */
import t from 'tap';
import { Gate } from '#src/http/gate.js';
import { createLog } from '#src/log/log.js';
import { configOf } from './setup.ts';

t.test('[4.streams-proxied] the whole address of an IPv6 client, without its zone', async (t) => {
  const gate = new Gate({
    config: configOf({ server: { trusted_proxies: ['127.0.0.1'] } }),
    machineNames: [],
    log: createLog(() => undefined),
    now: () => 0,
  });
  const addressOf = (remoteAddress: string, forwarded: readonly string[] = []) => {
    const headers = new Map<string, readonly string[]>([['host', ['localhost']]]);
    if (forwarded.length > 0) headers.set('x-forwarded-for', forwarded);
    const head = { method: 'GET', path: '/api/status', query: '', headers, remoteAddress, isSecure: false };
    const verdict = gate.judge(head);
    return verdict.isAllowed ? verdict.client.address : 'refused';
  };
  t.equal(addressOf('::1'), '::1');
  t.equal(addressOf('fe80:0000:0000:0000:0000:0000:0000:0007%eth0'), 'fe80::7');
  t.equal(addressOf('::ffff:192.0.2.7'), '192.0.2.7');
  t.equal(addressOf('127.0.0.1', ['2001:db8:1:2:3:4:5:6']), '2001:db8:1:2:3:4:5:6');
});
