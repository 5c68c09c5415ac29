/** A bare Node that does nothing but wake on absolute deadlines: what any sample taken in JavaScript costs at least. */
import { serve } from './serve.ts';

serve(
  (count, intervalMs) =>
    new Promise((resolve) => {
      let left = count;
      let deadline = performance.now();
      const schedule = () => {
        deadline += intervalMs;
        setTimeout(tick, deadline - performance.now());
      };
      const tick = () => {
        left--;
        if (left > 0) schedule();
        else resolve();
      };
      schedule();
    }),
);
