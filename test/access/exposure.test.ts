/** The warning of a service that is open to the network. */
import t from 'tap';
import {
  describeExposure,
  exposureWarning,
  type HubExposureSettings,
  hubExposureWarning,
} from '#src/access/exposure.js';
import { configOf } from './setup.ts';

t.test('1.notice-open auth off beyond loopback', async (t) => {
  t.equal(
    exposureWarning(configOf({})),
    'anyone who can reach this machine may use the service: auth.enabled is false and server.host is :: ' +
      '(reading, sleep, hibernate, media, process list: on; restart, shutdown, process control, waking other machines: off). ' +
      'Set auth.enabled and auth.api_key, or server.host to 127.0.0.1. ' +
      'Do not forward a port of your router to it; use a VPN to reach it from outside.',
  );
  const features = {
    enable_sleep: false,
    enable_hibernate: false,
    enable_media: false,
    enable_processes: false,
    enable_dashboard: false,
  };
  t.match(
    exposureWarning(configOf({ features })),
    '(reading: on; sleep, hibernate, restart, shutdown, media, ',
  );
  const all = {
    enable_restart: true,
    enable_shutdown: true,
    enable_process_control: true,
    enable_wake: true,
  };
  t.match(
    exposureWarning(configOf({ features: all })),
    'process control, waking other machines: on; nothing: off)',
  );
  for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost', '::ffff:127.0.0.1']) {
    t.equal(exposureWarning(configOf({ server: { host } })), undefined, host);
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
    t.match(exposureWarning(configOf({ server: { host } })), `server.host is ${host} (`, host);
    t.equal(exposureWarning(configOf({ auth: { enabled: true }, server: { host } })), undefined, host);
  }
});

t.test('1.notice-open a hub: what clients without a key may do by its rules', async (t) => {
  const warn = (commands: HubExposureSettings['hub']['commands'], auth = { enabled: false }) =>
    hubExposureWarning({ auth, server: { host: '::' }, hub: { commands } });
  const labels = {};
  t.equal(
    warn({ all: { commands: ['*'], labels } }),
    'anyone who can reach this hub may use it: auth.enabled is false and server.host is :: ' +
      '(reading of all its machines: on; commands: everything on every machine, as far as the machines allow it). ' +
      'Set auth.enabled and auth.api_key, or server.host to 127.0.0.1. ' +
      'Do not forward a port of your router to it; use a VPN to reach it from outside.',
  );
  t.match(warn({}), '(reading of all its machines: on; commands: none). Set');
  const keyed = { commands: ['*'], keys: ['default'], labels };
  t.match(warn({ keyed }), 'commands: none)', 'a rule for keys is for nobody without one');
  const media = { commands: ['media.*', 'power.sleep'], hosts: ['tv'], labels };
  const living = { commands: ['wake.*'], clients: ['10.0.0.0/8'], labels: { room: 'living' } };
  t.match(
    warn({ keyed, media, living }),
    'commands: media.*, power.sleep on tv; wake.* on every machine with room: living from 10.0.0.0/8, as far as',
  );
  t.equal(warn({ all: { commands: ['*'], labels } }, { enabled: true }), undefined);
});

t.test('[10.notice-guests] the warning and the doctor list what guests may do', async (t) => {
  const guests = ['read', 'media', 'power.restart'] as const;
  const limited = configOf({ auth: { enabled: false, guests } });
  t.match(
    exposureWarning(limited),
    '(reading, media: on; sleep, hibernate, restart, shutdown, process list, process control, waking other machines: ' +
      'off, or not in auth.guests).',
    'a scope without its feature is not enough, nor is a feature without its scope',
  );
  const loopback = { host: '127.0.0.1' };
  t.equal(exposureWarning(configOf({ auth: { enabled: false, guests }, server: loopback })), undefined);
  t.match(
    describeExposure(configOf({ server: loopback })),
    /^this machine only, without a key \(reading, sleep/,
  );
  t.match(describeExposure(limited), /^any client that reaches ::, without a key \(reading, media: on/);
  t.equal(
    describeExposure(configOf({ auth: { enabled: true, guests: ['read'] } })),
    'clients need a key, or an address in auth.allowed_ips and then may: read',
  );
  const hub = { auth: { enabled: false, guests }, server: { host: '::' }, hub: { commands: {} } };
  t.match(
    hubExposureWarning(hub),
    'commands: none; of these what auth.guests allows: read, media, power.restart)',
  );
});
