"""A second implementation of mDNS (python-zeroconf): prints the services of one type as JSON."""
import json
import socket
import sys
import time

from zeroconf import ServiceBrowser, Zeroconf

TYPE = "_hostwire._tcp.local."


class Names:
    def __init__(self):
        self.names = set()

    def add_service(self, _zc, _type, name):
        self.names.add(name)

    def remove_service(self, _zc, _type, name):
        self.names.discard(name)

    def update_service(self, _zc, _type, _name):
        pass


zeroconf = Zeroconf(interfaces=[sys.argv[1]])
names = Names()
ServiceBrowser(zeroconf, TYPE, names)
deadline = time.monotonic() + float(sys.argv[2])
while time.monotonic() < deadline and len(names.names) < int(sys.argv[3]):
    time.sleep(0.05)
found = []
for name in sorted(names.names):
    info = zeroconf.get_service_info(TYPE, name, 3000)
    if info is None:
        continue
    found.append(
        {
            "name": name.removesuffix("." + TYPE),
            "port": info.port,
            "addresses": [socket.inet_ntoa(a) for a in info.addresses if len(a) == 4],
            "texts": {k.decode(): v.decode() for k, v in info.properties.items()},
        }
    )
print(json.dumps(found))
zeroconf.close()
