/** The reason phrases of answers are those of the standard; none is missing. */
import { STATUS_CODES } from 'node:http';
import t from 'tap';
import { STATUS_BY_CODE } from '#src/errors.js';
import { statusLine } from '#src/http/reply.js';

t.test('each status that the service sends has its reason phrase', async (t) => {
  for (const status of new Set([200, 204, 304, 401, ...Object.values(STATUS_BY_CODE)]))
    t.equal(statusLine(status), `${status} ${STATUS_CODES[status]}`);
});
