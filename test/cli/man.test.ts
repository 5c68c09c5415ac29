/** The text of the manual page, as the build makes it. */
import t from 'tap';
import { formatMan } from '#src/cli/share/man.js';
import { TOP_KEYS } from '#src/cli/top-keys.js';
import { COMMANDS, OPTION_LIST } from '#src/cli/words.js';

t.test('[9.man] the date is that of the build', async (t) => {
  t.match(
    formatMan('1.2.3', '2026-02-09'),
    /^\.Dd February 9, 2026\n\.Dt HOSTWIRE 1\n\.Os "hostwire 1\.2\.3"\n/,
  );
});

t.test('[9.man] the page names every command and option', async (t) => {
  const page = formatMan('1.2.3', '2026-02-09');
  for (const command of COMMANDS) t.match(page, new RegExp(`^\\.It .*\\b${command}\\b`, 'm'), command);
  for (const { names } of OPTION_LIST)
    for (const name of names)
      t.match(
        page,
        new RegExp(`^\\.It .*Fl ${name.replace(/^--?/, (dashes) => (dashes === '--' ? 'Fl ' : ''))}\\b`, 'm'),
        name,
      );
});

t.test('[9.man] the page has the keys of top', async (t) => {
  const page = formatMan('1.2.3', '2026-02-09');
  t.match(page, /^\.Ss Keys of hostwire top\n\.Bl /m);
  for (const [keys, effect] of TOP_KEYS)
    t.ok(page.includes(`.It Sy ${keys === '?' ? '\\&?' : keys}\n${effect}`), keys);
});
