/** Entry point: shows the page and opens its one stream. */
import { render } from 'preact';
import { App } from './app.tsx';
import { pointsOf } from './cards/table.ts';
import { begin } from './live.ts';

begin(pointsOf);
render(<App />, document.body);
