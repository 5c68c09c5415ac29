/** The dashboard behind a proxy that serves it under a path: everything that it loads or asks is below that path. */
import '../../../helpers/service/dead-buses.ts';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import type { PowerPayload } from '#src/wire/power.js';
import { startPrefixProxy } from '../../../helpers/clients/prefix-proxy.ts';
import { livelyHost } from '../../../helpers/fakes/lively-host.ts';
import { emptyFolder } from '../../../helpers/scope.ts';
import { serveHere } from '../../../helpers/service/service.ts';
import { card, openLive, skipBrowser, startBrowser, until } from '../../browser.ts';
import { coverPicture } from '../../cover-picture.ts';
import { GUARDED } from '../../dashboard/rows.ts';

t.setTimeout(280_000);

if (skipBrowser) t.test('the dashboard under a path', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);

  for (const prefix of ['/machines/work bench', ''].map(encodeURI))
    t.test(`everything works under ${prefix || 'the root'}`, async (t) => {
      const folder = emptyFolder(t, 'art');
      const art = path.join(folder, 'cover.png');
      writeFileSync(art, coverPicture());
      const host = livelyHost({ artUrl: pathToFileURL(art).href, processes: GUARDED });
      const service = await serveHere(t, host, {
        stats: { stream_interval_seconds: 1 },
        features: { enable_process_control: true },
      });
      const proxy = await startPrefixProxy(t, service.port, prefix);
      const { page, complaints, requested } = await openLive(
        t,
        browser,
        `${proxy.baseUrl}/?from=somewhere#values`,
      );
      await page.getByRole('img', { name: /^Cover of/ }).waitFor();
      await card(page, 'Processor').waitFor();
      const icon = await page.locator('link[rel=icon]').evaluate(async (link) => {
        const { status } = await fetch((link as unknown as { readonly href: string }).href);
        return status;
      });
      t.equal(icon, 200, 'the icon');
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.getByRole('button', { name: 'gedit', exact: true }).click();
      await page.getByRole('dialog', { name: 'gedit' }).getByText('Threads').waitFor();
      await page.keyboard.press('Escape');
      await card(page, 'Power').getByRole('button', { name: 'Lock' }).click();
      const status = async () => (await (await fetch(`${proxy.baseUrl}/api/pw`)).json()) as PowerPayload;
      await until(status, ({ recorded }) => recorded.length === 1);
      t.pass('commands arrive');
      t.strictSame(
        requested.filter((url) => !url.startsWith(`${proxy.baseUrl}/`) && !url.startsWith('blob:')),
        [],
        'no request outside the path',
      );
      t.strictSame(proxy.strays, []);
      t.strictSame(complaints, []);
    });
}
