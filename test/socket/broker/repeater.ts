/** A client of a broker that publishes what others have published again. */
import mqtt from 'mqtt';
import type { Scope } from '../../helpers/scope.ts';

interface Passed {
  readonly topic: string;
  readonly payload: Buffer;
}

/** Publishes every frame again, and keeps all of them. */
export async function startRepeater(t: Scope, url: string) {
  const client = mqtt.connect(url, { protocolVersion: 4, reconnectPeriod: 0 });
  t.teardown(() => client.end(true));
  const passed = new Map<string, Passed>();
  const again = (each: Passed) => client.publish(each.topic, each.payload, { qos: 0 });
  client.on('message', (topic, payload) => {
    const key = `${topic}\n${payload.toString('latin1')}`;
    if (passed.has(key)) return;
    passed.set(key, { topic, payload });
    again({ topic, payload });
  });
  await client.subscribeAsync(['hostwire/+/in/+', 'hostwire/+/out/+'], { qos: 0 });
  return { passed, again };
}
