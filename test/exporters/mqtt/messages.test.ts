/** The parts of documents and messages that need no template. */
import t from 'tap';
import { deviceDocument } from '#src/exporters/mqtt/discovery/document.js';
import { settleBootTime } from '#src/exporters/mqtt/discovery/machine.js';
import { artMessage } from '#src/exporters/mqtt/discovery/state.js';
import type { Document } from './home-assistant.ts';
import { factsOf, payloadOf, sampleOf, TOPICS } from './machines.ts';

const LAPTOP = payloadOf('laptop');

t.test('[3.ha-expiry] a state expires after 4 intervals; those that are sent on change do not', async (t) => {
  const { payload } = deviceDocument({ ...factsOf(LAPTOP), intervalSeconds: 7.5 });
  const { components }: Document = JSON.parse(payload);
  for (const [id, component] of Object.entries(components))
    t.equal(component['expire_after'], component['state_topic'] === TOPICS.state ? 30 : undefined, id);
});

t.test('[3.ha-boot] the time of the last boot stays while its clock is corrected', async (t) => {
  const at = (timestamp: number, uptime: number) => sampleOf({ ...LAPTOP, timestamp, uptime });
  t.equal(settleBootTime(at(1000, 100)), 900);
  t.equal(settleBootTime(at(1016, 115), 900), 900, 'a second more');
  t.equal(settleBootTime(at(1000, 10), 900), 990, 'another boot');
});

t.test('[3.ha-art] the cover is base64, and without one it is a picture of nothing', async (t) => {
  const bytes = Buffer.from([0x89, 0x50, 0xff]);
  t.strictSame(Buffer.from(artMessage({ bytes }), 'base64'), bytes);
  t.equal(Buffer.from(artMessage(undefined), 'base64').toString('latin1', 0, 6), 'GIF89a');
});
