/** The readings of a topic that all its subscribers share. */
import t from 'tap';
import { OWN_ACCOUNT } from '#src/access/caller.js';
import { Places } from '#src/fairness/places.js';
import { readTopic } from '#src/viewers/socket/topic-state.js';

t.test('a reading for all subscribers is not limited as those of one client without a key', async (t) => {
  const places = new Places(8);
  const machine = {
    ask: async ({ client }: Parameters<Parameters<typeof readTopic>[0]['ask']>[0]) => {
      t.equal(client, OWN_ACCOUNT);
      t.ok(places.hasCapacity(client));
      places.add(client);
      return { bytes: '{}' };
    },
  };
  for (let machines = 0; machines < 8; machines++) await readTopic(machine, 'power', false);
  t.equal(places.size, 8);
});
