/** The part of a request that is kept to judge it again is small, and yields the same decision. */
import t from 'tap';
import { condense } from '#src/access/condense.js';
import { compileAccess, decideAccess } from '#src/access/decide.js';
import { ACCESS_HEADERS } from '#src/access/request.js';
import { configOf, MACHINE_NAMES, requestOf, type Settings, verdictOf } from './setup.ts';

const LONG = 'x'.repeat(15_000);

t.test('[2.kept-small] fifteen kilobytes of any header become two at most', async (t) => {
  for (const name of ACCESS_HEADERS) {
    const kept = condense(requestOf({ headers: { [name]: LONG } }));
    t.ok(JSON.stringify([...kept.headers]).length < 2500, name);
  }
  const chain = Array.from({ length: 2000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`).join(', ');
  const kept = condense(requestOf({ headers: { 'x-forwarded-for': chain } }));
  t.ok(JSON.stringify([...kept.headers]).length < 2500, 'a long chain');
  t.match(kept.headers.get('x-forwarded-for')?.[0], /,10\.0\.7\.207$/, 'its right end is kept');
});

t.test('[2.kept-small] long and repeated values are judged as before', async (t) => {
  const settings: Settings = {
    server: { trusted_proxies: ['192.168.7.20'], cors_origins: ['https://dash.example.org'] },
  };
  const rows = [
    { host: `${'a.'.repeat(1000)}localhost` },
    { host: ['localhost', 'localhost', 'localhost'] },
    { 'sec-fetch-site': ['none', 'none', 'cross-site', 'none', 'none'] },
    { 'sec-fetch-site': `cross-site${' '.repeat(5000)}` },
    { origin: `http://localhost:9990${'/'.repeat(5000)}` },
    { origin: ['http://localhost:9990', 'http://localhost:9990', 'http://localhost:9990'] },
    { 'x-forwarded-host': `${LONG}.localhost` },
    { 'x-forwarded-host': ['evil.com', 'evil.com', 'localhost'] },
    { 'x-forwarded-host': ['localhost', 'localhost', 'evil.com'] },
    { 'x-forwarded-for': `${'192.168.7.20, '.repeat(20)}192.168.7.20` },
    { 'x-forwarded-for': `${LONG}, 10.0.0.1` },
    { 'x-forwarded-for': `10.0.0.1, ${LONG}` },
    { via: LONG },
  ];
  const policy = compileAccess(configOf(settings), MACHINE_NAMES);
  for (const headers of rows)
    for (const method of ['GET', 'POST']) {
      const request = requestOf({ method, headers });
      const [before, after] = [request, condense(request)].map((each) => decideAccess(policy, each));
      if (before === undefined || after === undefined) throw new Error('both were decided');
      const name = `${method} ${JSON.stringify(headers).slice(0, 80)}: ${verdictOf(before)}`;
      t.equal(verdictOf(after), verdictOf(before), name);
      t.equal(after.client, before.client, name);
    }
});
