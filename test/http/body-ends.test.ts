/** Ends of bodies wait for the read that they arrived in, and not for those of other connections. */
import t from 'tap';
import { BodyEnds } from '#src/http/uws/body-ends.js';
import { requestBytes } from '../helpers/clients/http.ts';
import { startRoutes } from '../helpers/clients/routes.ts';
import { until } from '../helpers/until.ts';

t.test('an end is reported in a later turn', async (t) => {
  const ends = new BodyEnds();
  const reported: string[] = [];
  ends.add(() => reported.push('first'));
  ends.add(() => reported.push('second'));
  t.strictSame(reported, []);
  await until(() => reported.length > 0);
  t.strictSame(reported, ['first', 'second']);
});

t.test('or when another connection is read, and once', async (t) => {
  const ends = new BodyEnds();
  const reported: string[] = [];
  ends.add(() => reported.push('first'));
  ends.reportAll();
  t.strictSame(reported, ['first']);
  ends.add(() => {
    reported.push('second');
    ends.reportAll();
  });
  ends.reportAll();
  t.strictSame(reported, ['first', 'second']);
  ends.add(() => reported.push('third'));
  await until(() => reported.length > 2);
  t.strictSame(reported, ['first', 'second', 'third']);
});

t.test('[2.429] 200 commands that arrive together do not wait for each other', async (t) => {
  let acts = 0;
  const served = await startRoutes([
    {
      path: '/json',
      methods: {
        POST: {
          body: 'json',
          run: () => {
            acts++;
            return { status: '200 OK', headers: [], body: '{}' };
          },
        },
      },
    },
  ]);
  t.teardown(() => served.stop());
  const connections = await Promise.all(Array.from({ length: 200 }, () => served.connect(t)));
  for (const connection of connections)
    connection.write(requestBytes('/json', { method: 'POST', body: '{}' }));
  const answers = await Promise.all(connections.map((connection) => connection.readAnswer()));
  t.strictSame(
    new Set(answers.map(({ status }) => status)),
    new Set([200]),
    'the limit of the address is 64',
  );
  t.equal(acts, 200);
});
