/** `hostwire keys` and the last uses: from the running service, or unknown. */
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import { describeDigest } from '#src/access/key.js';
import { listKeys } from '#src/cli/keys/keys.js';
import { findLastUses } from '#src/cli/keys/last-uses.js';
import { makeFolder, optionsFor, writeFiles } from '../config/loading.ts';
import { ask } from '../helpers/clients/http.ts';
import { listen } from '../helpers/clients/listen.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { PATIENCE_MS } from '../helpers/limits.ts';
import { findFreePort } from '../helpers/service/free-port.ts';
import { startSecure } from '../helpers/service/secure.ts';
import { serveHere } from '../helpers/service/service.ts';

const ADMIN = 'a'.repeat(43);
const PHONE = 'p'.repeat(43);
const PHONE_ENTRY = { digest: describeDigest(PHONE), scopes: ['read'] as const };

/** A configuration with its file of keys, for the service at `port`. */
function configured(t: Test, port: number, auth: object, more: object = {}) {
  const folder = makeFolder(t);
  const config = {
    server: { host: '127.0.0.1', port, ...more },
    auth: { enabled: true, keys: { phone: PHONE_ENTRY }, ...auth },
  };
  writeFiles(folder, { 'config.json': JSON.stringify(config), 'admin.key': ADMIN });
  return { folder, options: optionsFor(folder) };
}

type Options = Parameters<typeof listKeys>[0];

/** With time enough for a busy machine. */
const list = (options: Options, isJson: boolean) =>
  listKeys(options, isJson, Date.now(), (config, variables) => findLastUses(config, variables, PATIENCE_MS));

async function jsonOf(options: Options) {
  const { text, exitCode } = await list(options, true);
  t.equal(exitCode, 0);
  return JSON.parse(text);
}

t.test('[10.keys-list] the running service is asked, with any key that may', async (t) => {
  for (const auth of [
    { api_key: ADMIN },
    { keys: { phone: PHONE_ENTRY, ops: { key_file: 'admin.key', scopes: ['admin'] } } },
  ]) {
    const name = 'api_key' in auth ? 'default' : 'ops';
    const entry = { key_file: { path: 'admin.key', secret: ADMIN }, scopes: ['admin'] as const };
    const keys = name === 'ops' ? { phone: PHONE_ENTRY, ops: entry } : { phone: PHONE_ENTRY };
    const service = await serveHere(t, fixtureHost(), {
      auth: { enabled: true, keys, ...(name === 'default' ? { api_key: ADMIN } : {}) },
    });
    const { options } = configured(t, service.port, auth);
    await ask(service.port, '/api/usage', { headers: { Authorization: `Bearer ${PHONE}` } }, '127.0.0.7');
    const report = await jsonOf(options);
    t.match(report.uses, { source: 'service', since: Number, reason: null });
    const rows = new Map<string, object>(report.keys.map((row: { name: string }) => [row.name, row]));
    t.match(rows.get('phone'), { last_use: { at: Number, address: '127.0.0.7' }, open: 0 });
    t.match(rows.get(name), { last_use: null, open: 0 }, 'the question itself is not in it');
    const { text } = await list(options, false);
    t.match(text, /^phone +read +does not expire +last used \d{4}-\d\d-\d\d \d\d:\d\d by 127\.0\.0\.7$/m);
    t.match(text, /^clients without a key: none\n$/m, 'and no note');
  }
});

t.test('[10.keys-list] a service with a certificate is known by its pin', async (t) => {
  const service = await startSecure(t, { auth: { enabled: true, api_key: ADMIN } }, false);
  const [cert, key] = ['cert', 'key'].map((name) => path.join(service.folder, `${name}.pem`));
  const { options } = configured(t, service.port, { api_key: ADMIN }, { tls: { cert, key } });
  t.match(await jsonOf(options), { uses: { source: 'service' } });
});

t.test('[10.keys-list] where nothing is known one line says why', async (t) => {
  const port = await findFreePort();
  for (const [auth, reason] of [
    [{ api_key: ADMIN }, /^the service did not return them: /],
    [{}, /^the service was not asked: the configuration has only digests of keys with the scope admin/],
  ] as const) {
    const { options } = configured(t, port, auth);
    const report = await jsonOf(options);
    t.match(report.uses, { source: 'none', since: null, reason });
    const phone = report.keys.find(({ name }: { name: string }) => name === 'phone');
    t.match(phone, { last_use: null, open: null });
    t.match(
      (await list(options, false)).text,
      /^phone .* last use unknown\n.*\nlast use of each key is unknown: the service .*\n$/m,
    );
  }
});

t.test('[10.keys-list] a service that does not answer costs less than 2 s', async (t) => {
  const { options } = configured(t, await listen(t, net.createServer()), { api_key: ADMIN });
  const { text } = await listKeys(options, true);
  t.match(JSON.parse(text), {
    uses: { source: 'none', reason: /^the service did not return them: no answer within 1500 ms$/ },
  });
});

t.test('[10.keys-list] another program on the port is not believed', async (t) => {
  for (const body of ['{"status":"ok"}', 'hello', '{"since":1,"keys":[{"name":7,"last_use":{"at":"x"}}]}']) {
    const other = http.createServer((_request, response) => response.end(body));
    const { options } = configured(t, await listen(t, other), { api_key: ADMIN });
    const { keys } = await jsonOf(options);
    t.ok(keys.every(({ last_use: last }: { last_use: unknown }) => last === null));
  }
});
