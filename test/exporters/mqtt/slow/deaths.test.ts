/** A broker that is killed fifty times under load. */
import t from 'tap';
import { NO_BROKER } from '../broker.ts';
import { sufferDeaths } from '../deaths.ts';

t.test(
  '[3.mqtt-deaths] no command is done twice or late',
  { skip: NO_BROKER, timeout: 900_000 },
  async (t) => {
    await sufferDeaths(t, 50, 2);
  },
);
