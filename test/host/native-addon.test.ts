/** Why the addon cannot be loaded, in a sentence that says what to do. */
import '../helpers/service/dead-buses.ts';
import t from 'tap';
import { explainLoadFailure } from '#src/host/native.js';

t.test('a C library that is too old is named, with the version that is needed', async (t) => {
  const loader =
    "/lib/libc.so.6: version `GLIBC_2.34' not found (required by /opt/hostwire/dist/hostwire.node)";
  t.match(
    explainLoadFailure(loader),
    /^the native addon needs glibc 2\.34 or later, and this system has an older one: use .* \(.*GLIBC_2\.34.*\)$/,
  );
  t.match(
    explainLoadFailure('Cannot find module'),
    /^the native addon cannot be loaded; build it .* \(Cannot/,
  );
});
