/** What a start says of the access keys: problems that stop it, and what is risky. */
import t from 'tap';
import { accessNotices, findAccessProblems } from '#src/access/problems.js';
import { configOf, KEY, type Settings } from './setup.ts';

t.test('1.addresses-bad-entry each with its key, place, value and reason', async (t) => {
  const problems = findAccessProblems(
    configOf({
      auth: { allowed_ips: ['*', '1.2.3'], blocked_ips: ['*', '10.0.0.0/8', '::1%eth0'] },
      server: {
        trusted_proxies: ['10.0.0.0/99'],
        allowed_hosts: ['ok.example.com', '*.example.com', '.example.com', 'http://a.com', ''],
        cors_origins: ['https://ok.example.com', 'null', '*', 'https://a.com/path', 'a.com'],
      },
    }),
  );
  const notHost = 'not a host name; wildcards are not known here';
  const notOrigin = 'not an origin such as https://pc.example:8080';
  t.same(problems, [
    {
      key: 'auth.allowed_ips[1]',
      value: '1.2.3',
      reason: 'not an address: four decimal parts without leading zeros, or IPv6',
    },
    { key: 'auth.blocked_ips[0]', value: '*', reason: '"*" is for the allow list only' },
    { key: 'auth.blocked_ips[2]', value: '::1%eth0', reason: 'a zone id cannot be listed' },
    {
      key: 'server.trusted_proxies[0]',
      value: '10.0.0.0/99',
      reason: 'the prefix must be a number from 0 to 32',
    },
    { key: 'server.allowed_hosts[1]', value: '*.example.com', reason: notHost },
    { key: 'server.allowed_hosts[2]', value: '.example.com', reason: notHost },
    { key: 'server.allowed_hosts[3]', value: 'http://a.com', reason: notHost },
    { key: 'server.allowed_hosts[4]', value: '', reason: notHost },
    { key: 'server.cors_origins[1]', value: 'null', reason: notOrigin },
    { key: 'server.cors_origins[2]', value: '*', reason: notOrigin },
    { key: 'server.cors_origins[3]', value: 'https://a.com/path', reason: notOrigin },
    { key: 'server.cors_origins[4]', value: 'a.com', reason: notOrigin },
  ]);
  t.same(findAccessProblems(configOf({})), []);
});

const QUIET: Settings = { auth: { enabled: true, api_key: KEY } };

t.test('a sound set-up has nothing to say', async (t) => {
  t.same(accessNotices(configOf(QUIET)), []);
  t.same(
    accessNotices(configOf({ auth: { enabled: true, api_key: 'x'.repeat(32), allowed_ips: ['*'] } })),
    [],
  );
});

t.test('1.keys-none one error line; 1.keys-short a warning', async (t) => {
  const error = {
    level: 'error',
    text: 'auth.enabled is true but there is no auth.api_key: no key can match',
  };
  t.same(accessNotices(configOf({ auth: { enabled: true } })), [error]);
  t.same(accessNotices(configOf({ auth: { enabled: true, api_key: '' } })), [error]);
  const short = { level: 'warn', text: 'auth.api_key is shorter than 32 characters' };
  t.same(accessNotices(configOf({ auth: { enabled: true, api_key: 'x'.repeat(31) } })), [short]);
  t.same(accessNotices(configOf({ auth: { api_key: 'x' }, server: { host: 'localhost' } })), [short]);
});

t.test('1.addresses-host-bits and wide entries are told with their key', async (t) => {
  const settings: Settings = {
    auth: { enabled: true, api_key: KEY, allowed_ips: ['::/0'], blocked_ips: ['10.0.0.1/8'] },
    server: { trusted_proxies: ['10.0.0.1/9'] },
  };
  t.same(accessNotices(configOf(settings)), [
    {
      level: 'warn',
      text: 'auth.allowed_ips: ::/0 in the allow list switches the key off for everyone who comes over IPv6',
    },
    {
      level: 'warn',
      text: 'auth.blocked_ips: 10.0.0.1/8 has bits set behind its prefix: read as 10.0.0.0/8',
    },
    {
      level: 'warn',
      text: 'server.trusted_proxies: 10.0.0.1/9 has bits set behind its prefix: read as 10.0.0.0/9',
    },
  ]);
});

t.test('1.notice-open auth off beyond loopback', async (t) => {
  const [notice, ...more] = accessNotices(configOf({}));
  t.same(more, []);
  t.same(notice, {
    level: 'warn',
    text:
      'anyone who can reach this machine may use the service: auth.enabled is false and server.host is :: ' +
      '(sleep, hibernate, media, process list: on; restart, shutdown, process control: off). ' +
      'Set auth.enabled and auth.api_key, or server.host to 127.0.0.1. ' +
      'Do not forward a port of your router to it; use a VPN to reach it from outside.',
  });
  const features = {
    enable_sleep: false,
    enable_hibernate: false,
    enable_media: false,
    enable_processes: false,
    enable_dashboard: false,
  };
  t.match(
    accessNotices(configOf({ features }))[0]?.text,
    '(nothing: on; sleep, hibernate, restart, shutdown, media, ',
  );
  const all = { enable_restart: true, enable_shutdown: true, enable_process_control: true };
  t.match(accessNotices(configOf({ features: all }))[0]?.text, 'process control: on; nothing: off)');
  for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost', '::ffff:127.0.0.1']) {
    t.same(accessNotices(configOf({ server: { host } })), [], host);
  }
  for (const host of [
    '0.0.0.0',
    '::',
    '192.168.7.2',
    '::2',
    '128.0.0.1',
    '1.127.0.1',
    'pc.lan',
    '127.evil.com',
  ]) {
    t.equal(accessNotices(configOf({ server: { host } })).length, 1, host);
  }
});
