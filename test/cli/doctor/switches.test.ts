/** `hostwire doctor` on what the configuration switches off, and on the units of systemd. */

import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { findSwitchedOff, judgeMdns, judgeSwitch, type SwitchConfig } from '#src/cli/doctor/judges.js';
import { partly, works } from '#src/cli/doctor/rows.js';
import { judgeUnit, readUnitFacts } from '#src/cli/doctor/unit.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { emptyFolder } from '../../helpers/scope.ts';

const configWith = (
  features: Partial<SwitchConfig['features']>,
  backend: SwitchConfig['power']['backend'] = 'system',
): SwitchConfig => ({
  features: { ...DEFAULT_CONFIG.features, ...features },
  power: { backend },
  discovery: { mdns: true },
});

t.test('[9.doctor-processes] [9.doctor-media] [9.doctor-power] excluded capabilities', async (t) => {
  t.strictSame([...findSwitchedOff(configWith({}))], []);
  const off = findSwitchedOff(configWith({ enable_processes: false, enable_media: false }, 'record'));
  t.strictSame(
    [...off],
    [
      [
        'processes',
        partly('processes', 'switched off', {
          reason: 'features.enable_processes is off',
          remedy: 'set features.enable_processes to true',
        }),
      ],
      [
        'power',
        partly('power', 'power.backend is record', {
          reason: 'actions are recorded, not carried out',
          remedy: 'set power.backend to system',
        }),
      ],
      [
        'media',
        partly('media', 'switched off', {
          reason: 'features.enable_media is off',
          remedy: 'set features.enable_media to true',
        }),
      ],
    ],
  );
});

t.test('[9.doctor-mdns] Avahi is not asked unless the service is to be announced', async (t) => {
  const off = findSwitchedOff({ ...configWith({}), discovery: { mdns: false } });
  t.strictSame([...off], [['discovery', works('mdns', 'off: discovery.mdns is false')]]);
});

t.test('[9.doctor-mdns] a service on loopback announces nothing', async (t) => {
  const row = works('mdns', 'avahi 0.8 on unix:path=/run/dbus/system_bus_socket');
  for (const host of ['127.0.0.1', '::1', 'localhost']) t.equal(judgeMdns(row, { host }).status, 'partly');
  for (const host of ['::', '0.0.0.0', '192.0.2.1', 'pc.lan']) t.equal(judgeMdns(row, { host }), row);
  const none = { ...row, status: 'missing', reason: 'there is no Avahi' } as const;
  t.equal(judgeMdns(none, { host: '::1' }), none, 'the machine comes first');
});

t.test('[9.doctor-processes] [9.doctor-power] a possible action that is switched off says so', async (t) => {
  const SWITCHES: readonly (readonly [string, keyof SwitchConfig['features']])[] = [
    ['process-control', 'enable_process_control'],
    ['shutdown', 'enable_shutdown'],
    ['restart', 'enable_restart'],
    ['sleep', 'enable_sleep'],
    ['hibernate', 'enable_hibernate'],
    ['lock', 'enable_sleep'],
  ];
  for (const [subject, feature] of SWITCHES) {
    const possible = works(subject, 'possible');
    t.strictSame(judgeSwitch(possible, configWith({ [feature]: true })), possible);
    t.strictSame(
      judgeSwitch(possible, configWith({ [feature]: false })),
      partly(subject, 'possible', {
        reason: `features.${feature} is off`,
        remedy: `set features.${feature} to true`,
      }),
    );
    const impossible = { ...possible, status: 'missing', reason: 'na' } as const;
    t.strictSame(
      judgeSwitch(impossible, configWith({ [feature]: false })),
      impossible,
      'the machine comes first',
    );
  }
  const cpu = works('cpu', '4 processors');
  t.strictSame(judgeSwitch(cpu, configWith({})), cpu, 'most rows have no switch');
});

t.test('the links that systemd keeps show which units run', async (t) => {
  const root = emptyFolder(t, 'units');
  const mine = path.join(root, 'run/user/1000');
  const mark = (folder: string) => {
    mkdirSync(path.join(folder, 'systemd/units'), { recursive: true });
    symlinkSync('0123456789abcdef', path.join(folder, 'systemd/units/invocation:hostwire.service'));
  };
  t.strictSame(readUnitFacts(mine, root), { hasSystemd: false, systemRuns: false, userRuns: false });
  mkdirSync(path.join(root, 'run/systemd/system'), { recursive: true });
  mark(mine);
  t.strictSame(readUnitFacts(mine, root), { hasSystemd: true, systemRuns: false, userRuns: true });
  mark(path.join(root, 'run'));
  t.strictSame(readUnitFacts(mine, root), { hasSystemd: true, systemRuns: true, userRuns: true });
  t.strictSame(readUnitFacts(undefined, root), { hasSystemd: true, systemRuns: true, userRuns: false });
});

t.test('the row says what the unit cannot do', async (t) => {
  const say = (systemRuns: boolean, userRuns: boolean, hasSystemd = true) =>
    judgeUnit({ hasSystemd, systemRuns, userRuns });
  t.match(say(true, false), {
    status: 'partly',
    source: /^system: stats, and power/,
    reason: /no media players/,
    remedy: /user unit/,
  });
  t.match(say(false, true), { status: 'works', source: /^user:/ });
  t.match(say(true, true), { status: 'partly', reason: /its own port/, remedy: /disable --now/ });
  t.match(say(false, false), { status: 'works', source: /not running/ });
  t.match(say(false, false, false), { status: 'works', source: /not booted with systemd/ });
});
