/** The description of a machine for hubs: nothing waits for it, and many greetings share a reading. */
import t from 'tap';
import { Describer } from '#src/machine/description.js';
import { configWith } from '../helpers/fakes/config-parts.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';

const config = { current: configWith({ host: { id: 'pc', name: 'desk', labels: { site: 'berlin' } } }) };

t.test('[11.machine] what takes a thread is unknown until it was read, once for all', async (t) => {
  const host = fixtureHost();
  const { readSystem } = host;
  let readings = 0;
  let isBroken = false;
  host.readSystem = async () => {
    readings++;
    if (isBroken) throw new Error('gone');
    return await readSystem();
  };
  const describer = new Describer({ config, host, facts: { version: '1' } });
  const known = { id: 'pc', name: 'desk', labels: { site: 'berlin' }, version: '1' };
  t.strictSame(describer.describe(), { ...known, os: null, model: null, addresses: [] });
  for (let i = 0; i < 100; i++) describer.describe();
  await new Promise(setImmediate);
  t.equal(readings, 1, 'of a hundred and one');
  const { os, model, network } = await readSystem();
  t.strictSame(describer.describe(), {
    ...known,
    os: `${os.name} ${os.version}`.trim(),
    model,
    addresses: [network?.ipv4, network?.ipv6].filter((address) => typeof address === 'string'),
  });
  isBroken = true;
  await describer.read();
  t.equal(describer.describe().model, model, 'what was read before stays');
});
