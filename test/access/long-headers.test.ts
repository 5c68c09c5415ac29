/** No header, however long and whatever is in it, makes the judgement of a request take more than a few scans of it. */
import t from 'tap';
import { compileAccess, decideAccess } from '#src/access/decide.js';
import { canonicalOrigin } from '#src/access/origins.js';
import { ACCESS_HEADERS } from '#src/access/request.js';
import { LONG, scansOf } from '../helpers/scans.ts';
import { configOf, KEY, MACHINE_NAMES, requestOf, type Settings, verdict } from './setup.ts';

/** The slowest one takes 40: it is split at 16,000 commas. 4,000 addresses in place of the last 32 take 400 and more. */
const MAX_SCANS = 200;
/** A name of 16,000 characters in Punycode takes 40 to 150, one that is refused for its length less than one. */
const MAX_SCANS_OF_ORIGIN = 5;

const PEER = '192.168.7.20';
const POLICIES: Readonly<Record<string, Settings>> = {
  'no key is configured': {},
  'a key is needed': { auth: { enabled: true, api_key: KEY } },
  'the peer is a trusted proxy': { server: { trusted_proxies: [PEER, '::1', '127.0.0.0/8'] } },
};

const fill = (part: string) => part.repeat(Math.floor((LONG - 400) / part.length));
const VALUES: readonly string[] = [
  ...[' ', '\t', ',', '.', ':', '%', 'a', 'a.', 'a:', '1.', ', ', '::1,', '127.0.0.1,', '\u2028'].map(fill),
  `${fill('::1,')}::1`,
  `${fill('127.0.0.1,')}127.0.0.1`,
  `Bearer${fill(' ')}\u2028x`,
  `Bearer ${fill('k')}`,
  `http://${fill('a.')}`,
  `[a:%${fill('%')}]`,
].flatMap((value) => [value, `${value}x`, `${value}\u2028x`]);

for (const [name, settings] of Object.entries(POLICIES))
  t.test(`a long header costs few scans of it: ${name}`, async (t) => {
    const policy = compileAccess(configOf(settings), MACHINE_NAMES, ['/hosts/*/']);
    const slow: string[] = [];
    for (const header of ACCESS_HEADERS)
      for (const value of VALUES)
        for (const method of ['GET', 'OPTIONS']) {
          const origin = { origin: 'http://a.example', 'access-control-request-method': 'GET' };
          const request = requestOf({ method, headers: { ...origin, [header]: value } });
          const scans = scansOf(() => decideAccess(policy, request), MAX_SCANS);
          if (scans > MAX_SCANS) slow.push(`${method} ${header}: ${value.slice(0, 20)}… ${scans.toFixed(0)}`);
        }
    t.strictSame(slow, []);
  });

t.test('an origin with a long name in Punycode is refused before it is decoded', async (t) => {
  const half = 'a'.repeat(LONG / 2 - 200);
  const origin = `http://xn--${half}-${half}`;
  const scans = scansOf(() => canonicalOrigin(origin), MAX_SCANS_OF_ORIGIN);
  t.ok(scans <= MAX_SCANS_OF_ORIGIN, `${scans.toFixed(1)} scans`);
  t.equal(canonicalOrigin(`https://${'a'.repeat(1016)}`), `https://${'a'.repeat(1016)}`, 'the longest');
  t.equal(canonicalOrigin(`https://${'a'.repeat(1017)}`), undefined);
});

t.test('the accepted forms of keys and chains have not changed', async (t) => {
  const settings: Settings = { auth: { enabled: true, api_key: KEY } };
  const ofHeader = (authorization: string) => verdict(settings, { headers: { authorization } });
  for (const sound of [`Bearer ${KEY}`, `bEARER   ${KEY}`, `Bearer${fill(' ')}${KEY}`])
    t.equal(ofHeader(sound), 'keyed', sound.slice(0, 20));
  for (const wrong of [
    KEY,
    `Bearer${KEY}`,
    `Bearer\t${KEY}`,
    'Bearer ',
    `Bearer ${KEY}\u2028`,
    `Bearer \n${KEY}`,
  ])
    t.equal(ofHeader(wrong), '401', JSON.stringify(wrong.slice(0, 20)));
  const longest = 'k'.repeat(4096);
  const withLongest: Settings = { auth: { enabled: true, api_key: longest } };
  t.equal(verdict(withLongest, { headers: { authorization: `Bearer ${longest}` } }), 'keyed');
  t.equal(verdict(withLongest, { headers: { authorization: `Bearer ${longest}k` } }), '401');
  t.equal(verdict(withLongest, { path: '/api/ws', queryKeys: [longest] }), 'keyed');
  const chain = { server: { trusted_proxies: [PEER, '10.0.0.0/8'] }, auth: { blocked_ips: ['192.0.2.1'] } };
  const through = (proxies: number) =>
    verdict(chain, { headers: { 'x-forwarded-for': `192.0.2.1${', 10.0.0.1'.repeat(proxies)}` } });
  t.equal(through(31), '403', 'the client behind 31 proxies');
});
