/** The addon's reading for a scrape: a round is the text of all families of the kernel, on the addon's own thread. */
import { openNativeHost } from '#src/host/native.js';
import { serve } from './serve.ts';

const host = openNativeHost();

serve(async (count, intervalMs) => {
  for (let round = 0; round < count; round++) {
    if ((await host.readMetrics()).length === 0) throw new Error('nothing was read');
    if (intervalMs > 0) await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
});
