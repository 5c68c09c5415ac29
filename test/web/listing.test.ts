/** The table of processes: its order, its filter, and both in the address. */
import t from 'tap';
import {
  arrange,
  COLUMNS,
  filterOf,
  isOpenIn,
  type Listing,
  listingOf,
  queryOf,
  type Row,
} from '../../web/cards/processes/listing.ts';

const USUAL = listingOf(new URLSearchParams());
const row = (pid: number, name: string, user: string, cpu: number | null, threads: number): Row => ({
  ...{ name, pid, cpu, user, threads },
  ...(cpu === null ? { read_rate: null, write_rate: null } : { read_rate: threads, write_rate: cpu * 10 }),
  ...{ memory: pid * 10, memory_mb: 0, cpu_time: 100 - pid, ppid: 1, started_at: 0, path: null },
});
const ROWS = [row(3, 'b', 'ada', 5, 9), row(20, 'a', 'root', null, 2), row(1, 'c', 'root', 7, 4)];
const order = (change: Partial<Listing>) =>
  arrange(ROWS, { ...USUAL, ...change })
    .map(({ name }) => name)
    .join(' ');

t.test('any column, either way, unknown values last', async (t) => {
  t.equal(order({}), 'c b a');
  t.equal(order({ isReversed: true }), 'b c a');
  t.equal(order({ sort: 'name' }), 'a b c');
  t.equal(order({ sort: 'name', isReversed: true }), 'c b a');
  t.equal(order({ sort: 'pid' }), 'c b a');
  t.equal(order({ sort: 'user' }), 'b a c');
  t.equal(order({ sort: 'memory' }), 'a b c');
  t.equal(order({ sort: 'threads' }), 'b c a');
  t.equal(order({ sort: 'disk' }), 'c b a', '4 + 70, 9 + 50, hidden');
  t.equal(order({ sort: 'disk', isReversed: true }), 'b c a');
  t.equal(order({ sort: 'time', isReversed: true }), 'a b c');
  t.equal(order({ sort: 'count' }), 'b a c', 'a column that these rows do not have leaves the order');
});

t.test('words of the filter are names, user: are beginnings of users', async (t) => {
  t.strictSame(filterOf(' web  user:Ro content '), { name: 'web content', users: ['ro'] });
  t.strictSame(filterOf('user: x'), { name: 'x', users: [] }, 'until a name is typed');
  t.equal(order({ search: 'user:root' }), 'c a');
  t.equal(order({ search: 'user:ro user:ad' }), 'c b a');
  t.equal(order({ search: 'user:nobody' }), '');
});

t.test('the address leads to the same listing', async (t) => {
  t.equal(isOpenIn(new URLSearchParams('?x=1')), false);
  for (const sort of COLUMNS)
    for (const isReversed of [false, true]) {
      const listing = { search: 'user:a b&c', sort, isReversed, isGrouped: isReversed };
      const query = queryOf(listing, new URLSearchParams('?x=1&grouped=0'));
      t.equal(isOpenIn(query), true);
      t.strictSame(listingOf(new URLSearchParams(query.toString())), listing);
      t.equal(queryOf(undefined, query).toString(), 'x=1', 'the parameters of others stay');
    }
  t.strictSame(listingOf(new URLSearchParams('?sort=-colour')), { ...USUAL, isReversed: true });
});
