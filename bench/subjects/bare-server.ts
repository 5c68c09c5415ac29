/** Node's HTTP server with a constant answer on the port of its argument: the floor of the start. */
import http from 'node:http';
import process from 'node:process';

http
  .createServer((_request, response) => {
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.end('{"status":"ok"}');
  })
  .listen(Number(process.argv[2]), '127.0.0.1');
