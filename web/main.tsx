/** Entry point: shows the page and opens its one stream. */
import { render } from 'preact';
import { App } from './app.tsx';
import { CHARTS } from './cards/table.ts';
import { followKiosk } from './kiosk.ts';
import { begin } from './live.ts';
import { leaveLink } from './requests.ts';

if (!leaveLink()) {
  followKiosk();
  begin(CHARTS);
  render(<App />, document.body);
}
