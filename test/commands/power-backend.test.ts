/** The backends that reach no machine. */
import t from 'tap';
import { absentBackend, recordingBackend } from '#src/commands/power-backend.js';
import { createLog } from '#src/log/log.js';
import { POWER_ACTIONS } from '#src/wire/requests.js';

t.test('[5.record] the recording backend supports everything, does nothing and lists it', async (t) => {
  let now = 5000;
  const lines: string[] = [];
  const backend = recordingBackend(
    () => now++,
    createLog((line) => lines.push(line)),
  );
  for (const action of POWER_ACTIONS) {
    const reason = 'actions are recorded, not carried out: power.backend is record';
    t.strictSame(await backend.support(action), { isSupported: true, reason }, action);
    t.equal(await backend.act(action, { isForced: false }), undefined);
  }
  t.strictSame(await backend.inhibitors(), []);
  const recorded = backend.recorded?.() ?? [];
  t.strictSame(
    recorded,
    POWER_ACTIONS.map((action, i) => ({ action, atMs: 5000 + i })),
  );
  t.equal(lines[0], 'hostwire info: power: recorded shutdown, not carried out (power.backend is record)\n');
  await backend.act('sleep', { isForced: true });
  t.equal(recorded.length, POWER_ACTIONS.length, 'what was read does not change');
});

t.test('[5.record] the newest thousand are kept', async (t) => {
  let now = 0;
  const backend = recordingBackend(
    () => now++,
    createLog(() => undefined),
  );
  for (let i = 0; i < 1003; i++) await backend.act('lock', { isForced: false });
  const recorded = backend.recorded?.() ?? [];
  t.equal(recorded.length, 1000);
  t.equal(recorded[0]?.atMs, 3);
  t.equal(recorded.at(-1)?.atMs, 1002);
});

t.test(
  '[5.not-supported] a machine without a power manager supports nothing and acts on nothing',
  async (t) => {
    const backend = absentBackend('there is no bus');
    for (const action of POWER_ACTIONS) {
      t.strictSame(await backend.support(action), { isSupported: false, reason: 'there is no bus' });
      await t.rejects(backend.act(action, { isForced: true }), {
        message: `${action} is not possible: there is no bus`,
      });
    }
    t.strictSame(await backend.inhibitors(), []);
    t.equal(backend.recorded, undefined);
  },
);
