/** `hostwire doctor` on what the configuration switches off. */
import t from 'tap';
import { partly, works } from '#src/cli/doctor/rows.js';
import { findSwitchedOff, judgeSwitch, type SwitchConfig } from '#src/cli/doctor/switches.js';
import { DEFAULT_CONFIG } from '#src/config/schema.js';

const configWith = (
  features: Partial<SwitchConfig['features']>,
  backend: SwitchConfig['power']['backend'] = 'system',
): SwitchConfig => ({ features: { ...DEFAULT_CONFIG.features, ...features }, power: { backend } });

t.test('[9.doctor-processes] [9.doctor-media] [9.doctor-power] what must not be asked', async (t) => {
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
          reason: 'no action is carried out, only recorded',
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

t.test('[9.doctor-processes] [9.doctor-power] what is possible and switched off says so', async (t) => {
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
