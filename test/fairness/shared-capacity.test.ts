/** A limit of all clients is never used up by one address, one network, or the clients without the key. */
import t from 'tap';
import { SharedCapacity } from '#src/fairness/shared-capacity.js';

function fill(room: SharedCapacity, address: string, isKeyed = false): number {
  let taken = 0;
  while (room.hasCapacity({ address, isKeyed })) {
    room.add({ address, isKeyed });
    taken++;
  }
  return taken;
}

t.test('an address has a quarter, a /64 half, clients without the key three quarters', async (t) => {
  const room = new SharedCapacity(16);
  t.equal(fill(room, '192.0.2.1'), 4);
  t.equal(fill(room, 'fe80::1'), 4);
  t.equal(fill(room, 'fe80::2'), 4);
  t.equal(fill(room, 'fe80::3'), 0, 'half for one network');
  t.equal(fill(room, '192.0.2.2'), 0, 'three quarters for all of them');
  t.equal(fill(room, '192.0.2.3', true), 4, 'the rest is for clients with the key');
  t.equal(room.size, 16);
  room.remove({ address: '192.0.2.1', isKeyed: false });
  t.equal(fill(room, '192.0.2.2'), 1);
});

t.test('small limits: everyone may have one', async (t) => {
  t.equal(fill(new SharedCapacity(1), '192.0.2.1'), 1);
  t.equal(fill(new SharedCapacity(2), 'fe80::1'), 1);
});
