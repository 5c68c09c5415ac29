/** Items are taken in fair order, and a full queue drops items of the client that has most. */
import t from 'tap';
import { Clients, FairQueue } from '#src/fairness/fair-queue.js';

const only = (client: string) => new Clients(client);

function takeAll(queue: FairQueue<string>): readonly string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
}

t.test('one item of each client in turn', async (t) => {
  const queue = new FairQueue<string>(100);
  for (const item of ['a1', 'a2', 'a3']) queue.add(item, only('192.0.2.1'));
  queue.add('b1', only('192.0.2.2'));
  queue.add('b2', only('192.0.2.2'));
  t.strictSame(takeAll(queue), ['a1', 'b1', 'a2', 'b2', 'a3']);
});

t.test('the addresses of a /64, and the clients of a hub, share the turns of one', async (t) => {
  const queue = new FairQueue<string>(100);
  for (let i = 0; i < 4; i++) queue.add(`v6 ${i}`, only(`2001:db8::${i}`));
  for (let i = 0; i < 3; i++) queue.add(`hub ${i}`, only(`home|192.0.2.${i}`));
  queue.add('other', only('192.0.2.1'));
  t.strictSame(takeAll(queue), ['v6 0', 'hub 0', 'other', 'v6 1', 'hub 1', 'v6 2', 'hub 2', 'v6 3']);
});

t.test('a full queue drops the newest item of the client with most', async (t) => {
  const queue = new FairQueue<string>(4);
  for (let i = 0; i < 4; i++) t.equal(queue.add(`a${i}`, only('192.0.2.1')), undefined);
  t.equal(queue.add('a4', only('192.0.2.1')), 'a4', 'its own');
  t.equal(queue.add('b0', only('192.0.2.2')), 'a3', 'another client gets in');
  t.equal(queue.add('b1', only('192.0.2.2')), 'a2');
  t.equal(queue.add('b2', only('192.0.2.2')), 'b2', 'until it has as many');
  t.equal(queue.add('c0', only('192.0.2.3')), 'b1');
  t.strictSame(takeAll(queue), ['a0', 'b0', 'c0', 'a1']);
  // A host that invents addresses keeps no other client out.
  for (let i = 0; i < 4; i++) queue.add(`v6 ${i}`, only(`2001:db8::${i}`));
  t.equal(queue.add('v6 4', only('2001:db8::4')), 'v6 4');
  t.equal(queue.add('honest', only('192.0.2.9')), 'v6 3');
});

t.test('an item that several wait for is due when one of them is, and is dropped last', async (t) => {
  const queue = new FairQueue<string>(4);
  for (let i = 0; i < 3; i++) queue.add(`a${i}`, only('192.0.2.1'));
  const shared = only('192.0.2.1');
  queue.add('shared', shared);
  shared.join('192.0.2.2');
  t.equal(queue.add('c', only('192.0.2.3')), 'a2');
  t.strictSame(takeAll(queue), ['a0', 'shared', 'c', 'a1']);
});

t.test('an item that is not ready keeps its place; a removed one does not wait', async (t) => {
  const queue = new FairQueue<string>(4);
  queue.add('a', only('192.0.2.1'));
  queue.add('b', only('192.0.2.2'));
  t.equal(
    queue.take((item) => item !== 'a'),
    'b',
  );
  t.equal(queue.size, 1);
  t.ok(queue.remove('a'));
  t.notOk(queue.remove('a'));
  t.equal(queue.take(), undefined);
});
