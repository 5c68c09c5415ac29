/** Entry point of the hub's page of all machines. */
import { render } from 'preact';
import { App } from './app.tsx';
import { begin } from './live.ts';

begin();
render(<App />, document.body);
