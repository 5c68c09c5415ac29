/** The folder of the built program, where the addon, the dashboard and the API documents are: dist/. */

/** Only scripts/bundle.mjs defines it. */
declare const IS_BUNDLE: true | undefined;

/** The bundle is in that folder; a module that was compiled alone, for tests, is in build/ts/src/. */
export const PROGRAM_URL = new URL(
  typeof IS_BUNDLE === 'undefined' ? '../../../dist/' : '.',
  import.meta.url,
);
