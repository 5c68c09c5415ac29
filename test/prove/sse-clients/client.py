"""Reads an event stream with one Python library: client.py LIBRARY URL. Prints a line per event: the time of arrival in
Unix milliseconds, a space, the payload. An event counts when its blank line has been read, as the standard says."""
import codecs
import os
import re
import sys
import time


def of_urllib3(url):
    import urllib3

    # The one that does not look for the certificates of OpenSSL by itself.
    pool = urllib3.PoolManager(cert_reqs="CERT_REQUIRED", ca_certs=os.environ["SSL_CERT_FILE"])
    answer = pool.request("GET", url, preload_content=False)
    return pieces_to_events(answer.stream())


def get(url):
    import requests

    return requests.get(url, stream=True, timeout=60)


def of_requests_content(url):
    return pieces_to_events(get(url).iter_content(chunk_size=None))


def of_requests_lines(url):
    return lines_to_events(line.decode() for line in get(url).iter_lines())


def of_httpx(url):
    import httpx

    with httpx.stream("GET", url, timeout=60) as answer:
        # With their ends in some versions, without in others.
        yield from lines_to_events(line.rstrip("\n") for line in answer.iter_lines())


# sseclient is neither a Debian package nor an npm one. It reads the bytes below the chunk decoding, as they arrive, and
# hands out whatever lies between two blank lines: an event without data for a comment.
def of_sseclient(url):
    answer = get(url)
    decoder = codecs.getincrementaldecoder(answer.encoding)(errors="replace")
    text = ""
    while piece := answer.raw._fp.fp.read1(1024):
        text += decoder.decode(piece)
        while blank := re.search(r"\r\n\r\n|\r\r|\n\n", text):
            block, text = text[: blank.start()], text[blank.end() :]
            yield "\n".join(data_of(line) for line in block.splitlines() if line.startswith("data:"))


# sseclient-py is neither a Debian package nor an npm one. It iterates over a response, 128 bytes at most with requests,
# and hands out an event when a piece has its blank line.
def of_sseclient_py(url):
    return pieces_to_events(get(url))


def data_of(line):
    return line[len("data:") :].removeprefix(" ")


def pieces_to_events(pieces):
    """Events from pieces of the body; the rest of a piece waits for the next one."""
    rest = b""
    for piece in pieces:
        rest += piece
        *blocks, rest = rest.split(b"\n\n")
        for block in blocks:
            yield from lines_to_events([*block.decode().split("\n"), ""])


def lines_to_events(lines):
    data = []
    for line in lines:
        if line.startswith("data:"):
            data.append(data_of(line))
        elif line == "" and data:
            yield "\n".join(data)
            data = []


def of_aiohttp(url):
    import asyncio

    import aiohttp

    async def read():
        async with aiohttp.ClientSession() as session:
            async with session.get(url) as answer:
                data = []
                async for line in answer.content:
                    text = line.decode().rstrip("\n")
                    for payload in lines_to_events([*data, text]):
                        show(payload)
                    data = [] if text == "" else [*data, text]

    asyncio.run(read())
    return ()


def show(payload):
    print(f"{time.time() * 1000:.1f} {payload}", flush=True)


if __name__ == "__main__":
    _, library, address = sys.argv
    for event in globals()[f"of_{library}"](address):
        show(event)
