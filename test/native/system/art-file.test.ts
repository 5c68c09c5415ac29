/** A file that a player names is read with the rights of the player's user, and by the thread alone that reads it. */
import process from 'node:process';
import t from 'tap';
import { runProgram, whyNoProgram } from '../../helpers/native/program.ts';

t.test(
  '[6.art-rights] no file that the user may not read, and no other thread with that user’s rights',
  {
    skip:
      whyNoProgram('art_file_test') || (process.getuid?.() !== 0 && 'only root may take the ids of others'),
  },
  async (t) => {
    const { isSuccess, text } = await runProgram('art_file_test');
    t.ok(isSuccess, 'no check failed', { output: text });
    t.match(text, /^all well: \d{3} checks$/m, 'all of them ran');
  },
);
