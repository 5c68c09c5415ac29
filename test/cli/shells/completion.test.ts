/** The completion that the build makes for bash, in bash itself, which every Debian has. */
import t from 'tap';
import { judgeCompletion } from './judge.ts';
import { BASH } from './shells.ts';

t.test('[9.completion] bash', async (t) => {
  judgeCompletion(t, BASH);
});
