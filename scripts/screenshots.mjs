// Takes the screenshots in docs/images: the dashboard of a fictional machine, in Chromium.
//   node scripts/screenshots.mjs [FOLDER]   (build first: node scripts/build.mjs missing tests)
import process from 'node:process';

const { takeScreenshots } = await import(
  new URL('../build/ts/test/browser/screenshots.js', import.meta.url).href
);
await takeScreenshots(process.argv[2] ?? 'docs/images');
process.exit(0);
