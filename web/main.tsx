/** Begins: shows the page and opens its one stream. */
import { render } from 'preact';
import { App } from './app.tsx';
import { begin } from './live.ts';

begin();
render(<App />, document.body);
