/** The quota against a model that adds everything up anew. */
import t from 'tap';
import { type Holder, Quota, type Shared } from '#src/fairness/quota.js';
import { createRandom } from '../helpers/random.ts';

const MAX = 100_000;
const SHARE = MAX / 4;

/** Cuts immediately, so that the model is compared after each step. */
const defer = (work: () => void) => work();

class FakeHolder implements Holder {
  readonly address: string;
  readonly isStream: boolean;
  bytes = 0;
  shared: Shared | undefined;
  isCut = false;
  onCut: () => void = () => undefined;

  constructor(address: string, isStream = false) {
    this.address = address;
    this.isStream = isStream;
  }

  cut(): void {
    this.isCut = true;
    this.onCut();
  }
}

function sumOf(holders: readonly FakeHolder[]): number {
  const shared = new Map(holders.flatMap(({ shared }) => (shared ? [[shared.key, shared.bytes]] : [])));
  return (
    holders.reduce((sum, { bytes }) => sum + bytes, 0) +
    [...shared.values()].reduce((sum, bytes) => sum + bytes, 0)
  );
}

t.test('[2.ledger] thousands of changes, each against the sum of all that is kept', async (t) => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const random = createRandom(seed);
    const quota = new Quota({ maxBytes: () => MAX, defer });
    const addresses = Array.from({ length: 12 }, (_, i) => `10.0.0.${i}`);
    const bodies = Array.from({ length: 4 }, () => ({ key: {}, bytes: 1000 + random.below(9000) }));
    let open: FakeHolder[] = [];
    let wrong: string | undefined;
    for (let step = 0; step < 5000 && wrong === undefined; step++) {
      const isNew = open.length === 0 || random.below(3) === 0;
      const holder = isNew
        ? new FakeHolder(random.pick(addresses), random.below(2) === 0)
        : random.pick(open);
      if (isNew) open.push(holder);
      holder.bytes = random.below(4) === 0 ? 0 : random.below(3000);
      holder.shared = random.below(3) === 0 ? random.pick(bodies) : undefined;
      quota.set(holder, holder.bytes, holder.shared);
      open = open.filter(({ isCut }) => !isCut);
      const sums = addresses.map((address) => sumOf(open.filter((one) => one.address === address)));
      if (quota.bytes !== sumOf(open)) wrong = `${quota.bytes} of ${sumOf(open)} in all`;
      for (const [i, address] of addresses.entries())
        if (quota.bytesOf(address) !== sums[i]) wrong = `${quota.bytesOf(address)} of ${sums[i]}`;
      if (Math.max(...sums) > SHARE) wrong = `${Math.max(...sums)} for one address`;
      if (quota.bytes > MAX) wrong = `${quota.bytes} in all`;
    }
    t.equal(wrong, undefined, `seed ${seed}`);
    for (const holder of open) quota.release(holder);
    t.equal(quota.bytes, 0, 'and nothing is left in the end');
  }
});

t.test('[2.ledger] the address that keeps most is cut first, and its streams last', async (t) => {
  const cuts: string[] = [];
  const quota = new Quota({
    maxBytes: () => MAX,
    onCut: (address, n) => cuts.push(`${address}: ${n}`),
    defer,
  });
  const honest = new FakeHolder('10.0.0.1', true);
  quota.set(honest, 2000);
  const answers = Array.from({ length: 10 }, () => new FakeHolder('10.0.0.2'));
  const stream = new FakeHolder('10.0.0.2', true);
  quota.set(stream, 20_000);
  for (const answer of answers) quota.set(answer, 1000);
  t.equal(stream.isCut, false);
  t.equal(honest.isCut, false);
  t.ok(answers.some(({ isCut }) => isCut));
  t.ok(quota.bytesOf('10.0.0.2') <= SHARE);
  t.ok(cuts.every((cut) => cut.startsWith('10.0.0.2:')));
});

t.test('[2.ledger] all addresses together: those that keep little stay', async (t) => {
  const quota = new Quota({ maxBytes: () => MAX, defer });
  const small = Array.from({ length: 20 }, (_, i) => new FakeHolder(`10.1.0.${i}`));
  for (const holder of small) quota.set(holder, 500);
  const large = Array.from({ length: 10 }, (_, i) => new FakeHolder(`10.2.0.${i}`));
  for (const holder of large) quota.set(holder, 20_000);
  t.ok(quota.bytes <= MAX);
  t.ok(small.every(({ isCut }) => !isCut));
  t.ok(large.some(({ isCut }) => isCut));
});

t.test('[2.ledger] a body is counted once, until its last holder is gone', async (t) => {
  const quota = new Quota({ maxBytes: () => MAX, defer });
  const body = { key: {}, bytes: 10_000 };
  const holders = Array.from({ length: 50 }, (_, i) => new FakeHolder(`10.0.0.${i % 2}`));
  for (const holder of holders) quota.set(holder, 10, body);
  t.equal(quota.bytes, 10_500);
  t.equal(quota.bytesOf('10.0.0.1'), 10_250);
  for (const holder of holders.slice(1)) quota.release(holder);
  t.equal(quota.bytes, 10_010);
  quota.set(holders[0] ?? new FakeHolder(''), 0);
  t.equal(quota.bytes, 0);
});

t.test('[2.ledger] a limit that a reload lowers holds from the next change on', async (t) => {
  let max = MAX;
  const quota = new Quota({ maxBytes: () => max, defer });
  const holders = Array.from({ length: 8 }, (_, i) => new FakeHolder(`10.0.0.${i}`));
  for (const holder of holders) quota.set(holder, 10_000);
  max = 50_000;
  quota.set(new FakeHolder('10.9.9.9'), 1);
  t.ok(quota.bytes <= max, `${quota.bytes}`);
});

t.test('[2.ledger] cutting one may release others at the same time', async (t) => {
  const quota = new Quota({ maxBytes: () => MAX, defer });
  const holders = Array.from({ length: 30 }, () => new FakeHolder('10.0.0.1'));
  for (const holder of holders)
    holder.onCut = () => {
      for (const other of holders) quota.release(other);
    };
  for (const holder of holders) quota.set(holder, 1000);
  t.ok(quota.bytes <= SHARE);
  t.equal(holders.filter(({ isCut }) => isCut).length, 1);
});

t.test('[2.ledger] in a /64 the address that keeps most is cut, its neighbours keep theirs', async (t) => {
  const cuts: string[] = [];
  const onCut = (address: string, connections: number) => cuts.push(`${address} ${connections}`);
  const quota = new Quota({ maxBytes: () => MAX, onCut, defer });
  const keep = (address: string, bytes: number) => {
    const holder = new FakeHolder(address);
    holder.onCut = () => undefined;
    quota.set(holder, bytes);
    return holder;
  };
  const honest = [1, 2, 3].map((host) => keep(`fe80::${host}`, 1000));
  const greedy = Array.from({ length: 500 }, () => keep('fe80::bad', 500));
  t.ok(
    honest.every(({ isCut }) => !isCut),
    'no neighbour is cut',
  );
  t.ok(greedy.some(({ isCut }) => isCut));
  t.ok(quota.bytesOf('fe80::bad') > 15_000, 'and it keeps what the network has left');
  t.ok(quota.bytes <= SHARE, 'the network has the share of one IPv4 address');
  t.ok(
    cuts.every((text) => text.startsWith('fe80::bad ')),
    'the line names the address',
  );
  // A host that invents addresses, each of which keeps less than a neighbour does.
  const invented = Array.from({ length: 2000 }, (_, i) => keep(`fe80::1:${i.toString(16)}`, 400));
  t.ok(invented.some(({ isCut }) => isCut));
  t.ok(quota.bytes <= SHARE);
});
