"""The pytest plugin: the fixture chain, seeds, and the gas report. A wheel registers it; `devnet test` names it by -p."""

import os

import pytest

from cowboy_sdk.testing import explain, gas, holding
from cowboy_sdk.testing.chain import Chain
from cowboy_sdk.testing.seeds import replay_words, skip_reason

MAX_OPEN = 8  # networks that are kept for the next test: a process each
opened = {}  # options and seed → Chain, the least recently used first
costs = gas.Costs()


def pytest_addoption(parser):
    group = parser.getgroup("devnet", "tests of actors on a simulated network")
    group.addoption("--devnet-seed", type=lambda text: int(text, 0), default=1, metavar="N", help="the seed of chains, or the first")
    group.addoption("--devnet-seeds", type=int, default=1, metavar="N", help="run each test that uses a chain with so many seeds")
    group.addoption("--devnet-http", metavar="HOST:PORT", default=os.environ.get("DEVNET_TEST_HTTP"), help="a live network for all tests")
    group.addoption("--devnet-hold", action="store_true", help="stop at each failed test, and serve its network over HTTP")
    group.addoption("--devnet-gas-report", action="store_true", help="list what each handler cost")
    group.addoption("--devnet-gas-snapshot", metavar="FILE", help="fail where medians differ from FILE; write it where it is missing")


def pytest_configure(config):
    config.addinivalue_line("markers", "devnet(validators, block_time, params, policy, apart, runners, live): a test's network")
    if config.getoption("--devnet-seeds") < 1:
        raise pytest.UsageError("--devnet-seeds: a number from 1 on")
    if config.getoption("--devnet-hold") and hasattr(config, "workerinput"):
        raise pytest.UsageError("--devnet-hold: tests in several processes cannot be held: leave -n out")
    if config.getoption("--devnet-gas-report") or config.getoption("--devnet-gas-snapshot"):
        gas.report = costs
    if config.getoption("--devnet-gas-snapshot"):
        try:
            gas.read_snapshot(config.getoption("--devnet-gas-snapshot"))  # before tests run for minutes
        except ValueError as error:
            raise pytest.UsageError("gas snapshot: %s" % error) from None


def pytest_generate_tests(metafunc):
    if "devnet_seed" in metafunc.fixturenames:
        first, count = metafunc.config.getoption("--devnet-seed"), metafunc.config.getoption("--devnet-seeds")
        if count > 1:
            metafunc.parametrize("devnet_seed", range(first, first + count), ids=lambda n: "seed%d" % n, indirect=True)


@pytest.fixture
def devnet_seed(request):
    """The seed of this test's chain."""
    return getattr(request, "param", request.config.getoption("--devnet-seed"))


@pytest.fixture
def chain(request, devnet_seed):
    """A network at genesis, separate for this test; the marker devnet says which one. Deploys that come first are made once."""
    marker = request.node.get_closest_marker("devnet")
    options = dict(marker.kwargs) if marker else {}
    if marker and marker.args:
        raise pytest.UsageError("the marker devnet takes names: devnet(validators=4)")
    http = request.config.getoption("--devnet-http")
    if http:
        if options.pop("live", False) and not options:
            pass  # the one that runs is live
        elif options:
            pytest.skip(skip_reason(options, http))
        options["http"] = http
    key = (devnet_seed, repr(sorted(options.items())))
    network = opened.pop(key, None)
    if network is None:
        network = Chain(devnet_seed, **options)
        while len(opened) >= MAX_OPEN:
            opened.pop(next(iter(opened))).close()
    opened[key] = network
    try:
        network.restart()
    except Exception:  # its process is gone, by the doing of the test before
        del opened[key]
        network.close()
        network = opened[key] = Chain(devnet_seed, **options)
        network.restart()
    return network


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    seed = getattr(item, "funcargs", {}).get("devnet_seed")
    if report.failed and seed is not None:
        test = item.nodeid.replace("[seed%d]" % seed, "").replace("[seed%d-" % seed, "[")
        chain = item.funcargs.get("chain")
        report.sections.append(("devnet", "\n".join([replay_words(seed, test)] + (explain.trace_lines(chain) if chain else []))))
        if call.when == "call" and item.config.getoption("--devnet-hold") and holding.can_hold(chain):
            hold_network(item.config, report, chain)


def hold_network(config, report, chain):
    """Stop the run at a failed test, and serve its network until somebody has looked."""
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture:
        capture.suspend_global_capture(in_=True)
    try:
        lines = [report.longreprtext] + [text for title, text in report.sections if title == "devnet"]
        print("\n" + "\n".join(lines + holding.introduction_lines(holding.serve_network(chain))), flush=True)
        holding.wait_for_enter()
    finally:
        if capture:
            capture.resume_global_capture()


def pytest_sessionfinish(session, exitstatus):
    for network in opened.values():
        network.close()
    opened.clear()
    config = session.config
    output = getattr(config, "workeroutput", None)
    if output is not None:  # a worker of xdist tells its controller
        output["devnet_costs"] = costs.calls
        return
    path = config.getoption("--devnet-gas-snapshot")
    # What tests cost that failed says nothing, and is not to be kept.
    changed = costs.compare(path) if path and costs.calls and not exitstatus else []
    if changed:
        config.stash[CHANGED] = changed
        session.exitstatus = max(int(exitstatus), pytest.ExitCode.TESTS_FAILED)


CHANGED = pytest.StashKey()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    costs.merge(getattr(node, "workeroutput", {}).get("devnet_costs", {}))


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    if config.getoption("--devnet-gas-report") and costs.calls:
        terminalreporter.section("gas report")
        for line in costs.table():
            terminalreporter.write_line(line)
    changed = config.stash.get(CHANGED, None)
    if changed:
        terminalreporter.section("gas snapshot: %s differs" % config.getoption("--devnet-gas-snapshot"))
        for line in changed:
            terminalreporter.write_line(line)
        terminalreporter.write_line("Where this is meant, remove the file: the next run writes it anew.")
