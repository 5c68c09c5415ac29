/** The end of a key's life. */
import t from 'tap';
import { parseExpiry } from '#src/access/expiry.js';

t.test('a date is valid to its end, in local time', async (t) => {
  t.equal(parseExpiry('2027-06-30'), new Date(2027, 6, 1).getTime());
  t.equal(parseExpiry('2028-02-29'), new Date(2028, 2, 1).getTime());
  t.equal(parseExpiry('2027-12-31'), new Date(2028, 0, 1).getTime());
});

t.test('a moment', async (t) => {
  t.equal(parseExpiry('2027-06-30T12:00:00Z'), Date.UTC(2027, 5, 30, 12));
  t.equal(parseExpiry('2027-06-30 12:00:00.5+02:00'), Date.UTC(2027, 5, 30, 10, 0, 0, 500));
  t.equal(parseExpiry('2027-06-30t12:00:00z'), Date.UTC(2027, 5, 30, 12));
});

t.test('everything else is refused', async (t) => {
  for (const text of [
    ...['', 'never', '90d', '2027', '2027-6-30', '2027-02-30', '2027-13-01', '0000-00-00', '30.06.2027'],
    ...[
      '2027-06-30T12:00',
      '2027-06-30T12:00:00',
      '2027-02-30T12:00:00Z',
      '2027-06-30T25:00:00Z',
      ' 2027-06-30',
    ],
  ])
    t.equal(parseExpiry(text), undefined, text);
});
