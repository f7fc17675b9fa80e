"""A Cowboy network in a container, for a test in Python.

    pip install testcontainers pytest
    make image
    TESTCONTAINERS_RYUK_DISABLED=true pytest testcontainers/python

TESTCONTAINERS_RYUK_DISABLED is needed where Docker can pull no images. The network
answers to HTTP as /openapi.json tells; urllib is enough for it.
"""

import json
import os
import time
import urllib.request

import pytest
from testcontainers.core.container import DockerContainer

IMAGE = os.environ.get("DEVNET_IMAGE", "cowboy-devnet")
COUNTER = """
import pvm_host

def init(payload):
    pvm_host.set_state(b"count", b"0")

def add(payload):
    count = int(pvm_host.get_state(b"count")) + int(payload)
    pvm_host.set_state(b"count", str(count).encode())
    return str(count).encode()
"""


class Network:
    """The HTTP API of a network."""

    def __init__(self, url):
        self.url = url

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return json.load(answer)

    def post(self, path, **body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def wait_ready(self, seconds=60):
        """Wait until blocks become final and every runner is present."""
        until = time.monotonic() + seconds
        while True:
            try:
                return self.get("/ready")  # 503, an HTTPError, while something is missing
            except OSError as error:
                if time.monotonic() > until:
                    raise TimeoutError(f"the network at {self.url} is not ready: {error}") from error
                time.sleep(0.1)


@pytest.fixture(scope="session")
def network():
    command = "up --http 0.0.0.0:4000 --ephemeral --block-time 200ms"
    with DockerContainer(IMAGE).with_command(command).with_exposed_ports(4000) as container:
        n = Network(f"http://{container.get_container_host_ip()}:{container.get_exposed_port(4000)}")
        n.wait_ready()
        yield n


def test_an_actor_counts(network):
    network.post("/devnet/deploy", **{"from": "alice", "code": COUNTER, "name": "counter"})
    receipt = network.post("/devnet/send", **{"from": "bob", "to": "counter", "handler": "add", "payload": "3"})
    assert receipt["status"] == "ok"
    assert bytes.fromhex(receipt["output"][2:]) == b"3"


def test_a_runner_does_a_job(network):
    network.post("/devnet/fault", verb="drop", node="r1")
    job = network.post("/devnet/job/submit", kind="custom", executor="echo", params="hello")
    while job["status"] not in ("Completed", "Failed"):
        network.post("/devnet/advance", blocks=1)
        job = network.get("/job/" + job["id"])
    assert bytes.fromhex(job["result"][2:]) == b"hello"
