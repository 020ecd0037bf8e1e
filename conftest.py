# SPDX-License-Identifier: Apache-2.0
"""What tests of several folders need."""

import os
import shutil
import signal
import subprocess
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator

import nic_hosts
import pytest
from needs import left_out
from tollbar import children
from tollbar.machine import nic_daemons, paths

_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars",
)  # fmt: skip

#: Files whose tests are long and share nothing.
SPREAD = ("tests/docs/docs_test.py", "tests/mutants/mutants_test.py")


#: Fixtures whose values are doors of MPI, or MPIs.
DOORS = {"door", "open_mpi_door", "mpi"}
#: A test that waits for so long hangs. It fails then, and says where all threads are.
LIMIT_S, DEEP_LIMIT_S = 600, 7200


def pytest_configure() -> None:
    """Has what tests start hear every signal. A shell's background jobs ignore interrupts and nohup's ignore SIGHUP,
    and what they start inherits that; a handler is not inherited.

    And has the MPIs that they start use the loopback alone: UCX fails when a network device that it has listed
    vanishes, as those of the hosts do that tests make and remove."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    os.environ["UCX_NET_DEVICES"] = "lo"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """A file's tests stay in one process, for what they share, unless it is in SPREAD.

    Not by marks of groups: with pytest 9.2 xdist 3.8 takes no notice of them.
    """
    from xdist.scheduler import LoadScopeScheduling

    if "DEEP_UNTIL" in os.environ:
        config.option.loadscopereorder = False  # or else it begins with the files that have the most tests

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return nodeid if file in SPREAD else file

    return ByFile(config, log)


#: Seconds since 1970 after which no deep test begins (scripts/test).
DEEP_UNTIL = int(os.environ.get("DEEP_UNTIL") or 1 << 62)


def _through_one_door(items: list[pytest.Item]) -> None:
    """Leaves all but one door of each test to the deep ones: each test's in turn, so that every door has many."""
    cases = defaultdict(list)
    for item in items:
        given = item.callspec.params if hasattr(item, "callspec") else {}
        if not item.get_closest_marker("deep") and not item.get_closest_marker("every_door"):
            for name in DOORS & given.keys():
                cases[item.nodeid.replace(str(given[name]), "", 1)].append(item)
    for case, through in cases.items():
        del through[zlib.crc32(case.encode()) % len(through)]
        for item in through:
            item.add_marker(pytest.mark.deep)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    _through_one_door(items)  # before pytest chooses by marks
    for item in items:
        item.add_marker(pytest.mark.timeout(DEEP_LIMIT_S if item.get_closest_marker("deep") else LIMIT_S))
    yield
    if "DEEP_UNTIL" in os.environ:
        items.sort(key=lambda item: not item.nodeid.startswith("tests/mutants/"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if time.time() > DEEP_UNTIL and item.get_closest_marker("deep"):
        pytest.skip("there was no time left for it: make test-deep")
    for mark in item.iter_markers("needs"):
        there, why = mark.args
        if not there:
            left_out(why)


@pytest.fixture(autouse=True)
def process_stays() -> Iterator[None]:
    """Fails where a test leaves this process changed so that a later one ends, or hangs: which one that is is chance.

    A signal may end this process. And where it takes in what has lost its parent, nobody hears of the ends of those: a
    namespace does not end before its processes have been heard of, and a test waits for it for ever."""
    yield
    if children.is_subreaper():
        children.be_subreaper(False)
        pytest.fail("the test leaves this process as the parent of what has lost its own")
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.SIG_IGN)  # the next tests are not to blame
            pytest.fail(f"the test leaves {number.name} as it is in a program that is none of Python's")


@pytest.fixture(scope="session")
def hosts_can_have_nics() -> None:
    """Skips where hosts and the daemons of their NICs cannot be started."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("no NICs: not root, or no command ip, so hosts cannot be made")
    try:
        paths.program(nic_daemons.DAEMON)
    except FileNotFoundError as error:
        left_out(f"no NICs: {error}")


@pytest.fixture(scope="module")
def network():
    """Hosts with a daemon each."""
    with nic_hosts.network() as made:
        yield made


@pytest.fixture
def key() -> str:
    """A job's, in hexadecimal digits."""
    return nic_hosts.new_key()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """One browser for all tests; it tells what pages load and what goes wrong in them."""
    try:
        from selenium import webdriver
    except ImportError:
        left_out("selenium is not installed: scripts/setup")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        left_out("no browser here: install Debian's chromium and chromium-driver (scripts/setup)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    except Exception as error:  # whatever keeps a browser from starting is no fault of the page
        pytest.skip(f"{chromium} does not start here: {str(error).splitlines()[0]}")
    yield opened
    opened.quit()


@pytest.fixture(scope="session")
def archive() -> str:
    """The archive of Debian that apt takes packages from here."""
    if shutil.which("apt-get") is None:
        pytest.skip("no apt-get to take packages with")
    debian = ("Created-By: Packages", "Label: Debian", "Component: main")
    command = ("apt-get", "indextargets", "--format", "$(REPO_URI)", *debian)
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[0]
