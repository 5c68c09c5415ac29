/** Attacks that embed what the service answers. */
import type { Aim, Row, Surroundings } from './row.ts';
import { page } from './scripts.ts';
import { ART_SIZE } from './victim.ts';

const ART = {
  from: 'foreign',
  does: 'read',
  targets: ['media'],
  path: '/api/media/art',
  secret: ART_SIZE,
} as const;
const FRAME = { from: 'foreign', does: 'frame', targets: ['power'], path: '/' } as const;

const inPage = (code: string) => (aim: Aim, around: Surroundings) => ({ page: page(aim, around, code) });

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
  {
    ...ART,
    id: 'art-image',
    method: 'the picture of the track as `<img>`: any page can read its size',
    stage: inPage(sizeOf('{}', `return image.naturalWidth + ' x ' + image.naturalHeight;`)),
  },
  {
    ...ART,
    id: 'art-canvas',
    method: 'the picture of the track as `<img crossorigin>`, drawn on a canvas whose pixels are read',
    stage: inPage(
      sizeOf(
        `{ crossOrigin: 'anonymous' }`,
        `const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
         const drawing = canvas.getContext('2d');
         drawing.drawImage(image, 0, 0);
         drawing.getImageData(0, 0, 1, 1);
         return canvas.width + ' x ' + canvas.height;`,
      ),
    ),
  },
  {
    ...FRAME,
    id: 'frame-dashboard',
    method: 'the dashboard in a frame, for the visitor to click on without seeing it',
    stage: (aim, around) => ({
      page: page(aim, around, '', `<iframe src="${aim.service}/" width="900" height="600"></iframe>`),
    }),
  },
  {
    ...FRAME,
    id: 'frame-dashboard-object',
    method: 'the dashboard in an `<object>`',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        '',
        `<object data="${aim.service}/" type="text/html" width="900" height="600"></object>`,
      ),
    }),
  },
];
