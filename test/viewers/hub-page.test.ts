/** The hub's pages: their files, and who may read them. */
import t from 'tap';
import { ask, valuesOf } from '../helpers/clients/http.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere } from '../helpers/service/service.ts';
import { startHub } from '../hub/setup.ts';

const KEY = 'k'.repeat(32);
const LOCKED = { auth: { enabled: true, api_key: KEY } };
const AGENTS = { desk: { url: 'http://127.0.0.1:1' } };

/** Returns the files that a page refers to, as paths at the hub. */
const filesOf = (page: Buffer, at: string) =>
  [...page.toString().matchAll(/(?:href|src)="([^"]+)"/g)].map(
    ([, name = '']) => new URL(name, `http://hub${at}`).pathname,
  );

t.test('[I.hub.page] the pages and their files are public, and everything else is not', async (t) => {
  const hub = await startHub(t, AGENTS, LOCKED);
  for (const at of ['/', '/hosts/desk/']) {
    const page = await ask(hub.port, at);
    t.equal(page.status, 200, at);
    t.strictSame(valuesOf(page, 'content-type'), ['text/html; charset=utf-8']);
    t.strictSame(valuesOf(page, 'cache-control'), ['no-cache']);
    t.match(valuesOf(page, 'content-security-policy')[0], /^default-src 'none'; script-src 'self'; /);
    t.notMatch(page.body.toString(), /https?:|<script>|style=|onclick/, 'nothing inline or from elsewhere');
    const files = filesOf(page.body, at);
    t.ok(files.length >= 4, files.join(' '));
    for (const file of files) {
      const answer = await ask(hub.port, file);
      t.equal(answer.status, 200, file);
      t.match(valuesOf(answer, 'cache-control')[0], /immutable/);
      t.ok(answer.body.length > 0);
    }
  }
  const known = await ask(hub.port, '/hosts/desk/');
  const unknown = await ask(hub.port, '/hosts/nobody/');
  t.ok(known.body.equals(unknown.body), 'the page of any id is the same, whether there is such a machine');
  for (const other of ['/hosts/', '/hosts/desk', '/hosts/a/b/', '/hosts//', '/index.html', '/host.html'])
    t.equal((await ask(hub.port, other)).status, 401, other);
  t.equal((await ask(hub.port, '/api/hosts')).status, 401);
});

t.test(
  '[I.hub.page] a blocked address gets no page, and none is served while it is switched off',
  async (t) => {
    const blocked = await startHub(t, AGENTS, { auth: { blocked_ips: ['127.0.0.1'] } });
    const off = await startHub(t, AGENTS, { features: { enable_dashboard: false } });
    const locked = await startHub(t, AGENTS, { ...LOCKED, features: { enable_dashboard: false } });
    for (const at of ['/', '/hosts/desk/']) {
      t.equal((await ask(blocked.port, at)).status, 403, at);
      const refused = await ask(off.port, at);
      t.equal(refused.status, 403, at);
      t.strictSame(valuesOf(refused, 'x-error-code'), ['feature_disabled']);
      t.equal((await ask(locked.port, at)).status, 401, at);
    }
  },
);

t.test('[I.hub.page] the service has no page of other machines', async (t) => {
  const service = await serveHere(t, fixtureHost(), LOCKED);
  t.equal((await ask(service.port, '/hosts/desk/')).status, 401);
  service.reconfigure({});
  t.equal((await ask(service.port, '/hosts/desk/')).status, 404);
});
