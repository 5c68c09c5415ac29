/** The system's limits for this process, and how much of them it uses. */
import '../helpers/service/dead-buses.ts';
import { closeSync, openSync, readdirSync } from 'node:fs';
import t from 'tap';
import { openNativeHost } from '#src/host/native.js';

t.test('open descriptors are counted as the kernel lists them', async (t) => {
  const host = openNativeHost();
  // Listing them opens one more.
  const listed = () => readdirSync('/proc/self/fd').length - 1;
  const before = host.openDescriptors();
  t.equal(before, listed());
  const opened = Array.from({ length: 50 }, () => openSync('/dev/null', 'r'));
  t.equal(host.openDescriptors(), (before ?? 0) + 50);
  t.equal(host.openDescriptors(), listed());
  for (const descriptor of opened) closeSync(descriptor);
  t.equal(host.openDescriptors(), before);
  t.ok(host.descriptorLimit() > (before ?? 0));
});
