/** The transport to the hubs of a broker. */
import type { Config } from '../../config/config.ts';
import { brokerOf } from '../../mqtt/broker-socket.ts';
import { openMqttLink } from '../../mqtt/mqtt-link.ts';
import { ALL_SCOPES } from '../../scopes.ts';
import { hubTopicsOf } from '../protocol/hub-topics.ts';
import type { Transport } from './hub-session.ts';

/** `isBeside`: another connection of this service has the client id. */
export function overBroker(url: string, mqtt: Config['mqtt'], id: string, isBeside: boolean): Transport {
  const broker = brokerOf(url, mqtt, id);
  const topics = hubTopicsOf(mqtt.topic, id);
  return {
    subject: 'mqtt',
    topics,
    // The rights of the broker decide who may ask, and for what.
    peer: { address: `${broker.host}:${broker.port}`, isKeyed: false, scopes: ALL_SCOPES },
    open(options) {
      const clientId = isBeside ? `${broker.clientId}-hub` : broker.clientId;
      const link = openMqttLink(
        { ...broker, clientId },
        {
          ...options,
          beforeOnline(connection) {
            options.beforeOnline(connection);
            // With QoS 0 nothing is delivered again, and nats-server keeps no consumer for it.
            connection.subscribe([topics.want, topics.commands], { qos: 0, marksRetained: true }).then(
              (refused) => link.reportRefusal(refused, 'the subscription was refused'),
              () => undefined,
            );
          },
        },
      );
      return link;
    },
  };
}
