/** A Link to a broker. */
import { type Broker, type BrokerKeys, brokerOf } from './broker-socket.ts';
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

/** The connection of a hub to its broker. */
export const openBrokerLink = (
  url: string,
  settings: BrokerKeys,
  id: string,
  options: LinkOptions<Connection>,
): MqttLink => openMqttLink(brokerOf(url, settings, id), options);

export type OpenBrokerLink = typeof openBrokerLink;
