"""Connections with a receive buffer of 2 KiB that read nothing, or one byte per second.

readers.py PORT PATH COUNT never|byte: ends when its standard input closes.
"""

import select
import socket
import sys

port, path, count, mode = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
readers = []
for index in range(count):
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    reader.bind((f"127.0.0.{66 + index % 16}", 0))
    try:
        reader.connect(("127.0.0.1", port))
        reader.sendall(request)
        reader.setblocking(False)
    except OSError:
        continue
    readers.append(reader)
print("connected", flush=True)
while not select.select([sys.stdin], [], [], 1.0)[0]:
    for reader in readers if mode == "byte" else []:
        try:
            reader.recv(1)
        except OSError:
            pass
