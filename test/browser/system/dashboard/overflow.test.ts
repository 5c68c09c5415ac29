/**
 * Nothing overlaps, leaves its card or makes the page wider than the screen, and nothing is empty: from 320 to 3840 px, light,
 * dark and with forced colours, and with text of twice the size (the font size of the root element, as a browser's setting for larger text changes it).
 */
import '../../../helpers/service/dead-buses.ts';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { type LivelyHost, livelyHost, withCounters } from '../../../helpers/fakes/lively-host.ts';
import { serveHere } from '../../../helpers/service/service.ts';
import { auditPage, liveState, openPage, skipBrowser, startBrowser } from '../../browser.ts';
import { problemsOn, RECORD_LABELS, setSize } from '../../dashboard/layout.ts';
import { rangeSwitch } from '../../dashboard/past-rig.ts';

const WIDTHS = [320, 360, 768, 1280, 1920, 3840] as const;
const TEXT_SIZES = [100, 200] as const;
/** The size of the labels of charts at the usual text size. */
const LABEL_PX = 11;

t.setTimeout(280_000);

/** A machine with many parts and long names. */
function crowdedHost(): LivelyHost {
  const host = withCounters(livelyHost(), ({ cpu, gpu, disks, network }) => {
    const [core] = cpu?.cores ?? [];
    const [device] = gpu ?? [];
    const [disk] = disks ?? [];
    const [link] = network ?? [];
    if (!cpu || !core || !device || !disk || !link) return {};
    return {
      cpu: { ...cpu, cores: Array.from({ length: 160 }, (_, index) => ({ ...core, index })) },
      gpu: [{ ...device, name: 'NVIDIA GeForce RTX 4090 Laptop GPU with Max-Q Design' }],
      disks: [
        ...(disks ?? []),
        {
          ...disk,
          mountPoint: '/var/lib/containers/storage/overlay-0123456789abcdef/merged',
          device: '/dev/dm-9',
        },
      ],
      network: [...(network ?? []), { ...link, name: 'enx0123456789ab', index: 9 }],
    };
  });
  return {
    ...host,
    readSystem: async () => ({
      ...(await host.readSystem()),
      hostname: 'a-workbench-with-a-very-long-host-name',
    }),
  };
}

if (skipBrowser) t.test('the layout in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);
  const service = await serveHere(t, crowdedHost(), {
    stats: { stream_interval_seconds: 1 },
    features: { enable_shutdown: true, enable_restart: true, enable_process_control: true },
    history: { minutes: 60 },
  });

  const check = async (t: Test, page: Page, textPercent: number, name: string) =>
    t.strictSame(await problemsOn(page, (LABEL_PX * textPercent) / 100), [], name);

  for (const [name, options] of [
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['forced colours', { colorScheme: 'dark', forcedColors: 'active' }],
  ] as const)
    t.test(`nothing overlaps or overflows: ${name}`, async (t) => {
      const { page, complaints } = await openPage(t, browser, { ...options, bypassCSP: true });
      await page.addInitScript(RECORD_LABELS);
      await page.goto(service.baseUrl);
      await liveState(page).waitFor();
      // The labels of an hour are wider than those of five minutes.
      if (name === 'dark') await rangeSwitch(page).getByRole('radio', { name: '1 h' }).check();
      await page.locator('.track').waitFor();
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.getByText('All 7 sensors').click();
      await page.locator('tbody .act button').first().waitFor();
      for (const textPercent of TEXT_SIZES)
        for (const width of WIDTHS) {
          await setSize(page, width, textPercent);
          await check(t, page, textPercent, `${width} px, text ${textPercent} %`);
        }
      for (const textPercent of TEXT_SIZES) {
        await setSize(page, 360, textPercent);
        t.strictSame(await auditPage(page), [], `axe-core, text ${textPercent} %`);
        await page.getByRole('button', { name: 'firefox', exact: true }).click();
        await page.getByRole('dialog').locator('.rows li').first().waitFor();
        await check(t, page, textPercent, `details of a name, text ${textPercent} %`);
        await page.locator('dialog .rows button').first().click();
        await page.getByRole('dialog').getByText('Threads').waitFor();
        await check(t, page, textPercent, `details of a process, text ${textPercent} %`);
        t.strictSame(await auditPage(page), [], `axe-core, details, text ${textPercent} %`);
        await page.keyboard.press('Escape');
      }
      t.strictSame(complaints, []);
    });
}
