// Prints the time of arrival (Unix milliseconds) and the payload of each event that Node's EventSource reports.
import process from 'node:process';

new EventSource(process.argv[2]).onmessage = ({ data }) => console.log(Date.now(), data);
