/** The completions that the build makes for zsh and fish, in the shells themselves. */
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { judgeCompletion } from '../judge.ts';
import { FISH, ZSH } from '../shells.ts';

for (const shell of [ZSH, FISH]) {
  const { name } = shell;
  const isMissing = spawnSync(name, ['--version'], { stdio: 'ignore' }).error !== undefined;
  t.test(`[9.completion] ${name}`, { skip: isMissing && `no ${name}` }, async (t) => {
    judgeCompletion(t, shell);
  });
}
