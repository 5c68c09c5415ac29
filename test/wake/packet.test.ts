/** The packet that wakes a machine, and the spellings of hardware addresses. */
import t from 'tap';
import { magicPacket, parseMac } from '#src/wake/packet.js';

t.test('[3.wake-packet] six bytes of ones, then the address sixteen times', async (t) => {
  const packet = magicPacket('02:00:5e:10:ab:cd');
  t.equal(packet.length, 102);
  t.equal(packet.toString('hex'), `ffffffffffff${'02005e10abcd'.repeat(16)}`);
});

t.test('[8.wake-mac] a MAC address with colons, hyphens or nothing between its bytes', async (t) => {
  for (const text of ['02:00:5e:10:ab:cd', '02-00-5E-10-AB-CD', '02005e10ABcd'])
    t.equal(parseMac(text), '02:00:5e:10:ab:cd', text);
  const wrong = [
    ...['', 'nas', '02:00:5e:10:ab', '02:00:5e:10:ab:cd:ef', '02:00:5e:10:ab:c', '02:00:5e:10:ab:cg'],
    ...['02:00-5e:10:ab:cd', '0200:5e:10:ab:cd', ' 02:00:5e:10:ab:cd', '02:00:5e:10:ab:cd\n'],
    // The null address, the broadcast address, a multicast address.
    ...['00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff', '01:00:5e:00:00:01'],
  ];
  for (const text of wrong) t.equal(parseMac(text), undefined, JSON.stringify(text));
});
