/** A Link to a broker. */
import type { Broker } from './broker.ts';
import { Connection } from './connection.ts';
import { Link, type LinkOptions } from './link.ts';

export type MqttLink = Link<Connection>;

export const openMqttLink = (broker: Broker, options: LinkOptions<Connection>): MqttLink =>
  new Link(
    {
      subject: 'mqtt',
      name: broker.name,
      describe: (version) => ` (MQTT ${version === 5 ? '5' : '3.1.1'})`,
      connect: (events, version, will) => new Connection({ ...events, broker, version, will }),
    },
    options,
  );
