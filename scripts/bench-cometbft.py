#!/usr/bin/env python3
"""Measures `devnet up` beside CometBFT, on this machine, in turns in one run.

    scripts/bench-cometbft.py DEVNET [--pairs N] [--version V] [--output FILE]

Both run four validators: devnet in one process and in processes, CometBFT in four processes with its key-value
application inside. CometBFT has its fastest settings: no commit timeout, gossip and flushes each 2 ms, no index. devnet
makes blocks as fast as it can. A start is the time until the HTTP API names height 1; a transaction is the time of
the HTTP request that waits for it. It prints a table in Markdown; nothing of it is a test. go builds CometBFT.
"""

import argparse
import http.client
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

VALIDATORS = 4
SECONDS = 5  # for which blocks are counted
TRANSACTIONS = 100
PATIENCE = 120  # seconds until a network has to make its first block
FIRST_PORT = 46100
SETTINGS = {  # of each CometBFT node, by section and key
    ("", "proxy_app"): '"kvstore"', ("", "log_level"): '"error"', ("p2p", "allow_duplicate_ip"): "true",
    ("p2p", "addr_book_strict"): "false", ("p2p", "flush_throttle_timeout"): '"2ms"',
    ("consensus", "timeout_commit"): '"0s"', ("consensus", "skip_timeout_commit"): "true",
    ("consensus", "peer_gossip_sleep_duration"): '"2ms"', ("tx_index", "indexer"): '"null"',
}


def ask(port, path, body=None):
    """The JSON that a node answers, or None while it answers nothing."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        if body is None:
            connection.request("GET", path)
        else:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        return json.loads(text) if answer.status == 200 else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


class Network:
    """A network that runs, in a folder of its own."""

    def start(self):
        self.folder = tempfile.mkdtemp(prefix="devnet-bench-")
        self.prepare_folder()
        began = time.monotonic()
        self.processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for command in self.commands()]
        while self.height() < 1:
            if time.monotonic() - began > PATIENCE or any(one.poll() is not None for one in self.processes):
                raise SystemExit("%s made no block; its folder is %s" % (self.name, self.folder))
            time.sleep(0.002)
        self.start_ms = (time.monotonic() - began) * 1000

    def stop(self):
        for one in self.processes:
            one.send_signal(signal.SIGINT)
        for one in self.processes:
            one.wait(timeout=60)
        shutil.rmtree(self.folder, ignore_errors=True)

    def blocks_a_second(self):
        first, began = self.height(), time.monotonic()
        time.sleep(SECONDS)
        return (self.height() - first) / (time.monotonic() - began)

    def transaction_ms(self):
        """The median of transactions, one after another."""
        took = []
        for number in range(TRANSACTIONS):
            began = time.monotonic()
            self.send(number)
            took.append((time.monotonic() - began) * 1000)
        return statistics.median(took)


class Devnet(Network):
    def __init__(self, binary, *flags):
        self.binary, self.flags = binary, flags
        self.name = " ".join(("devnet", *flags))

    def prepare_folder(self):
        pass

    def commands(self):
        return [[self.binary, "up", "--home", self.folder + "/home", "--http", "127.0.0.1:%d" % FIRST_PORT, "--block-time", "0s",
                 "--runners", "0", *self.flags]]

    def height(self):
        answer = ask(FIRST_PORT, "/height")
        return int(answer["height"]) if answer else 0

    def send(self, number):
        answer = ask(FIRST_PORT, "/devnet/send", {"from": "alice", "to": "bob", "value": str(number + 1)})
        if not answer or answer.get("status") != "ok":
            raise SystemExit("devnet took no transaction: %s" % answer)


class CometBFT(Network):
    name = "CometBFT"

    def __init__(self, binary):
        self.binary = binary

    def prepare_folder(self):
        subprocess.run([self.binary, "testnet", "--v", str(VALIDATORS), "--o", self.folder, "--populate-persistent-peers=false"],
                       stdout=subprocess.DEVNULL, check=True)
        peers = []
        for i in range(VALIDATORS):
            shown = subprocess.run([self.binary, "show-node-id", "--home", self.home(i)], capture_output=True, text=True, check=True)
            peers.append("%s@127.0.0.1:%d" % (shown.stdout.strip(), self.port(i) + 1))
        for i in range(VALIDATORS):
            others = ",".join(peer for j, peer in enumerate(peers) if j != i)
            own = dict(SETTINGS)
            own["rpc", "laddr"] = '"tcp://127.0.0.1:%d"' % self.port(i)
            own["p2p", "laddr"] = '"tcp://127.0.0.1:%d"' % (self.port(i) + 1)
            own["p2p", "persistent_peers"] = '"%s"' % others
            change_settings(self.home(i) + "/config/config.toml", own)

    def home(self, i):
        return "%s/node%d" % (self.folder, i)

    @staticmethod
    def port(i):
        return FIRST_PORT + 10 + 2 * i

    def commands(self):
        return [[self.binary, "node", "--home", self.home(i)] for i in range(VALIDATORS)]

    def height(self):
        answer = ask(self.port(0), "/status")
        return int(answer["result"]["sync_info"]["latest_block_height"]) if answer else 0

    def send(self, number):
        answer = ask(self.port(0), '/broadcast_tx_commit?tx="k%d=%d"' % (number, number))
        if not answer or answer["result"]["tx_result"]["code"] != 0:
            raise SystemExit("CometBFT took no transaction: %s" % answer)


def change_settings(path, settings):
    """Sets values of a TOML file, each of which it must have."""
    section, left, lines = "", dict(settings), []
    for line in open(path, encoding="utf-8"):
        header, assigned = re.match(r"\[(\S+)\]", line), re.match(r"(\w+) = ", line)
        if header:
            section = header.group(1)
        if assigned and (section, assigned.group(1)) in left:
            line = "%s = %s\n" % (assigned.group(1), left.pop((section, assigned.group(1))))
        lines.append(line)
    if left:
        raise SystemExit("%s has no setting %s" % (path, sorted(left)))
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(lines)


ROWS = [("start to height 1", "ms"), ("blocks a second", "/s"), ("a transaction, p50", "ms")]


def measure(network):
    network.start()
    try:
        return network.start_ms, network.blocks_a_second(), network.transaction_ms()
    finally:
        network.stop()


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("devnet", help="the command to measure, such as bin/devnet")
    asked.add_argument("--pairs", type=int, default=5, help="measurements of each (5)")
    asked.add_argument("--version", default="v0.38.26", help="of CometBFT (v0.38.26)")
    asked.add_argument("--output", help="a file for the table besides")
    asked = asked.parse_args()
    folder = tempfile.mkdtemp(prefix="devnet-bench-")
    print("building CometBFT", asked.version, file=sys.stderr)
    subprocess.run(["go", "install", "github.com/cometbft/cometbft/cmd/cometbft@" + asked.version],
                   env=dict(os.environ, GOBIN=folder, CGO_ENABLED="0"), check=True)
    binary = os.path.abspath(asked.devnet)
    networks = [CometBFT(folder + "/cometbft"), Devnet(binary), Devnet(binary, "--processes")]
    measured = {one.name: [] for one in networks}
    for i in range(asked.pairs):
        for one in networks if i % 2 else reversed(networks):
            measured[one.name].append(measure(one))
            print(one.name, " ".join("%.4g" % figure for figure in measured[one.name][-1]), file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    beside = measured[networks[0].name]
    lines = ["| what | CometBFT %s | devnet | times as fast | with `--processes` | times as fast |" % asked.version,
             "|---|---|---|---|---|---|"]
    for row, (what, unit) in enumerate(ROWS):
        cells = ["%.4g %s" % (statistics.median(one[row] for one in beside), unit)]
        for network in networks[1:]:
            figures = measured[network.name]
            ratios = [own[row] / other[row] for own, other in zip(figures, beside)]
            ratios = ratios if unit == "/s" else [1 / one for one in ratios]
            cells.append("%.4g %s" % (statistics.median(one[row] for one in figures), unit))
            cells.append("**%.3g** (%s)" % (statistics.median(ratios), " ".join("%.3g" % one for one in ratios)))
        lines.append("| %s | %s |" % (what, " | ".join(cells)))
    print("\n".join(lines))
    if asked.output:
        with open(asked.output, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
