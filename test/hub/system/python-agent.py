"""A machine of a hub, from docs/websocket.md and docs/hub.md alone: python-agent.py HUB_PORT ID, its key in the variable KEY."""
import base64, json, os, socket, struct, sys, threading, time

port, name, wanted = sys.argv[1], sys.argv[2], threading.Event()
line = socket.create_connection(("127.0.0.1", int(port)))
line.sendall("\r\n".join([
    f"GET /api/agent?id={name} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Authorization: Bearer {os.environ['KEY']}",
    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
    f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}", "", ""]).encode())
stream, sending = line.makefile("rb"), threading.Lock()
status = stream.readline().decode()
while stream.readline().strip():
    pass
if " 101 " not in status:
    sys.exit(status)

def frame(opcode, payload):
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else bytes([0x80 | 126]) + struct.pack(">H", size)
    with sending:
        line.sendall(bytes([0x80 | opcode]) + length + bytes(4) + payload)  # Masked with zeros.

def send(kind, data, number=None):
    message = {"type": kind, "data": data} if number is None else {"type": kind, "id": number, "data": data}
    frame(1, json.dumps(message).encode())

def clock():
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * 1000)

def sample_each_second():
    while wanted.wait():
        cpu = {"current_load": round(os.getloadavg()[0], 1), "current_temp": 0, "current_speed": 0}
        send("system_stats", {"timestamp": int(time.time()), "uptime": clock() // 1000, "cpu": cpu,
                              "memory": {"used": 1, "free": 1, "used_percent": 50.0}, "gpu": None, "disks": [],
                              "network": {"bytesRecv": 0, "bytesSent": 0}})
        time.sleep(1)

threading.Thread(target=sample_each_second, daemon=True).start()
machine = {"id": name, "name": "python", "labels": {}, "version": "0.1", "os": None, "model": None, "addresses": []}
send("connected", {"version": "0.1", "protocol": 2, "run": str(os.getpid()), "clock": clock(), "machine": machine,
                   "features": {}, "message": "An agent in 60 lines."})
while head := stream.read(2):
    size = head[1] & 127
    payload = stream.read(struct.unpack(">H", stream.read(2))[0] if size == 126 else size)
    if head[0] & 15 == 9:
        frame(10, payload)
    message = json.loads(payload) if head[0] & 15 == 1 else {"op": None}
    op, data, number = message["op"], message.get("data", {}), message.get("id")
    if op == "ping":
        send("pong", {"clock": clock()}, number)
    elif op in ("subscribe", "unsubscribe"):
        topics = data["topics"] if op == "subscribe" else []
        send("subscribed", {"topics": topics, "unknown": []}, number)
        wanted.set() if any(topic.startswith("stats") for topic in topics) else wanted.clear()
    elif op == "request" and data["name"] == "media.play":
        print("played", flush=True)
        send("answer", {"body": {"status": "ok"}, "delivered": "true"}, number)
    elif op == "request":
        send("answer", {"error": {"code": "not_supported", "message": "It can only play."}}, number)
