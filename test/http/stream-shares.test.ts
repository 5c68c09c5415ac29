/** The last streams are reserved: neither one network nor the clients without the key can take all of them. */
import t from 'tap';
import type { Config } from '#src/config/config.js';
import { AddressCounts } from '#src/fairness/address-counts.js';
import { capacityFor } from '#src/http/connections/descriptors.js';
import { FakeConfig } from '../helpers/fakes/config.ts';
import { callerAt } from '../helpers/fakes/sender.ts';

function setUp(maxStreams: number, apiKey?: string) {
  const config = new FakeConfig();
  const { server, auth } = config.current;
  const limits = { max_streams: maxStreams, max_streams_per_address: 256 };
  const next: Config = {
    ...config.current,
    server: { ...server, ...limits },
    auth: { ...auth, api_key: apiKey },
  };
  config.current = next;
  const keyless = new AddressCounts();
  const streams = { size: 0 };
  const hasCapacity = capacityFor({ maxStreams: () => 10_000 }, config, [streams], keyless);
  const fill = (address: string, isKeyed = false, most = 10_000) => {
    const caller = { ...callerAt(address), isKeyed };
    let opened = 0;
    for (; opened < most && hasCapacity(caller); opened++) {
      streams.size++;
      if (!isKeyed) keyless.add(address);
    }
    return opened;
  };
  return fill;
}

t.test('[4.streams-per-address] one address leaves a quarter to others', async (t) => {
  const fill = setUp(100);
  t.equal(fill('192.0.2.1'), 75);
  t.equal(fill('192.0.2.2'), 7, 'of which each has a quarter');
  t.equal(fill('192.0.2.3'), 7);
  t.equal(setUp(60)('192.0.2.1'), 60, 'where there is room for many only');
});

t.test('[4.streams-per-address] a host that invents IPv6 addresses leaves it too', async (t) => {
  const fill = setUp(100);
  let invented = 0;
  for (let i = 0; i < 1000; i++) invented += fill(`2001:db8::${i.toString(16)}`, false, 1);
  t.equal(invented, 75);
  t.equal(fill('192.0.2.2'), 7);
});

t.test(
  '[4.streams-per-address] where a key is configured, the last eighth is for clients with it',
  async (t) => {
    const fill = setUp(100, 'x'.repeat(32));
    let keyless = 0;
    for (let i = 0; i < 200; i++) keyless += fill(`192.0.2.${i}`, false, 1);
    t.equal(keyless, 88);
    t.equal(fill('198.51.100.1', true), 12);
    t.equal(setUp(2, 'x'.repeat(32))('192.0.2.1'), 2);
  },
);
