/** Further keys: their scopes, expiry and addresses, guests, and the cost of looking one up. */
import t from 'tap';
import { parseAddressList } from '#src/access/addresses.js';
import { condense } from '#src/access/condense.js';
import { compileAccess, decideAccess } from '#src/access/decide.js';
import { describeDigest, type KeySettings } from '#src/access/key.js';
import { namesOfScopes, type Scope } from '#src/scopes.js';
import { configOf, KEY, MACHINE_NAMES, type RequestChange, requestOf } from './setup.ts';

const PHONE = 'phone-'.padEnd(64, '0');
const PANEL = 'panel-'.padEnd(64, '0');
const NOW_MS = Date.UTC(2027, 5, 30, 12);

const keyOf = (key: string, scopes: readonly Scope[], more: Partial<KeySettings> = {}): KeySettings => ({
  digest: describeDigest(key),
  scopes,
  ...more,
});

const KEYS = {
  phone: keyOf(PHONE, ['read', 'media']),
  panel: keyOf(PANEL, ['read'], {
    expires: '2027-06-30T12:00:00.001Z',
    addresses: ['192.168.7.0/24'],
  }),
};

interface Around {
  readonly isEnabled?: boolean;
  readonly guests?: readonly Scope[];
  readonly allowed?: readonly string[];
  readonly nowMs?: number;
}

/** `NAME: SCOPES`, `guest: SCOPES`, or the status with whether a key was wrong. */
function judge(
  change: RequestChange,
  { isEnabled = true, guests, allowed = [], nowMs = NOW_MS }: Around = {},
) {
  const settings = configOf({ auth: { enabled: isEnabled, api_key: KEY } });
  const auth = { ...settings.auth, keys: KEYS, guests, allowed_ips: parseAddressList(allowed, true) };
  const policy = compileAccess({ ...settings, auth }, MACHINE_NAMES);
  const request = requestOf(change);
  const [now, later] = [request, condense(request)].map((each) => decideAccess(policy, each, nowMs));
  t.strictSame(now, later, 'what is kept of it decides the same');
  if (now === undefined || !now.isAllowed) return `${now?.status}${now?.isWrongKey ? ' wrong key' : ''}`;
  if (now.isPreflight) return 'preflight';
  return `${now.key ?? 'guest'}: ${namesOfScopes(now.scopes).join(' ')}`;
}

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

t.test('each key has its name and its scopes; that of auth.api_key may do everything', async (t) => {
  t.equal(judge(bearer(KEY)), 'default: admin');
  t.equal(judge(bearer(PHONE)), 'phone: read media');
  t.equal(judge(bearer(PANEL)), 'panel: read');
  t.equal(judge(bearer(`${PHONE}0`)), '401 wrong key');
  t.equal(judge({}), '401');
  t.equal(
    judge({ ...bearer('nothing'), queryKeys: [PHONE] }),
    'phone: read media',
    'in the query of a socket',
  );
  t.equal(judge({ queryKeys: [PHONE, PHONE] }), '401 wrong key');
  t.equal(judge({ path: '/', ...bearer(PANEL) }), 'panel: read', 'where no key is needed');
});

t.test('a key that has expired is a wrong one', async (t) => {
  t.equal(judge(bearer(PANEL), { nowMs: NOW_MS + 1 }), '401 wrong key');
  t.equal(
    judge(bearer(PANEL), { nowMs: NOW_MS + 1, isEnabled: false, guests: ['metrics'] }),
    'guest: metrics',
  );
  t.equal(judge(bearer(PHONE), { nowMs: Number.MAX_SAFE_INTEGER }), 'phone: read media');
});

t.test('a key for some addresses is a wrong one from others', async (t) => {
  t.equal(judge({ ...bearer(PANEL), remoteAddress: '192.168.8.20' }), '401 wrong key');
  t.equal(judge({ ...bearer(PANEL), remoteAddress: '::ffff:192.168.7.1' }), 'panel: read');
});

t.test('guests', async (t) => {
  t.equal(judge({}, { isEnabled: false }), 'guest: admin', 'everything by default');
  t.equal(judge({}, { isEnabled: false, guests: ['read'] }), 'guest: read');
  t.equal(judge(bearer(PHONE), { isEnabled: false, guests: [] }), 'phone: read media', 'a key has its own');
  t.equal(judge({}, { allowed: ['192.168.7.20'], guests: ['read'] }), 'guest: read', 'a kiosk');
  t.equal(judge({ remoteAddress: '192.168.7.21' }, { allowed: ['192.168.7.20'], guests: ['read'] }), '403');
  t.equal(judge(bearer(PHONE), { allowed: ['192.168.7.20'], guests: ['read'] }), 'phone: read media');
  t.equal(judge({ path: '/api/status' }, { guests: [] }), 'guest: ', 'a public path');
});
