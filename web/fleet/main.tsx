/** Entry point of the hub's page of all machines. */
import { render } from 'preact';
import { leaveLink } from '../requests.ts';
import { App } from './app.tsx';
import { begin } from './live.ts';

if (!leaveLink()) {
  begin();
  render(<App />, document.body);
}
