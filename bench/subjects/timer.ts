/** A bare Node process that only wakes on absolute deadlines: the minimum cost of any sample in JavaScript. */
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
