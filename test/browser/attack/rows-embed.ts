/** Attacks that embed what the service answers. */

import { ART_SIZE } from './guarded.ts';
import type { Row } from './row.ts';
import { inPage, rowsLike } from './scripts.ts';

const readArt = rowsLike({ from: 'foreign', does: 'read', targets: ['media'] });
const ART: Partial<Row> = { path: '/api/media/art', secret: ART_SIZE };
const frame = rowsLike({ from: 'foreign', does: 'frame', targets: ['power'] });
const DASHBOARD: Partial<Row> = { path: '/' };

/** The size of the picture that is loaded with `properties`, or of the canvas that it was drawn on. */
const sizeOf = (properties: string, then: string) => `attempt(async () => {
  const image = new Image();
  await new Promise((resolve, reject) => {
    image.onload = resolve;
    image.onerror = () => reject('hidden');
    Object.assign(image, ${properties}, { src: url });
  });
  ${then}
});`;

export const EMBED_ROWS: readonly Row[] = [
  readArt(
    'art-image',
    'the picture of the track as `<img>`: any page can read its size',
    inPage(sizeOf('{}', `return image.naturalWidth + ' x ' + image.naturalHeight;`)),
    ART,
  ),
  readArt(
    'art-canvas',
    'the picture of the track as `<img crossorigin>`, drawn on a canvas whose pixels are read',
    inPage(
      sizeOf(
        `{ crossOrigin: 'anonymous' }`,
        `const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
         const drawing = canvas.getContext('2d');
         drawing.drawImage(image, 0, 0);
         drawing.getImageData(0, 0, 1, 1);
         return canvas.width + ' x ' + canvas.height;`,
      ),
    ),
    ART,
  ),
  frame(
    'frame-dashboard',
    'the dashboard in a frame, for the visitor to click on without seeing it',
    inPage('', ({ service }) => `<iframe src="${service}/" width="900" height="600"></iframe>`),
    DASHBOARD,
  ),
  frame(
    'frame-dashboard-object',
    'the dashboard in an `<object>`',
    inPage(
      '',
      ({ service }) => `<object data="${service}/" type="text/html" width="900" height="600"></object>`,
    ),
    DASHBOARD,
  ),
];
