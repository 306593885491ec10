"""Change the core in 500 random places, one at a time, and see whether the tests notice.

``python tools/mutants.py`` draws the sample from all mutants that cosmic-ray makes of
``src/semisquares/core``, with a seed, and runs for each the tests that execute the changed
statement, the fastest first, until one fails. Left out of the draw are mutants that do not compile,
and those that change only annotations, docstrings or code for type checkers.

All changes are made in a temporary copy of the checkout. Results are stored one by one in
``build/mutants``, and a second run goes on where the first was stopped; it also runs the tests of
every file that has changed since on the survivors. Processes are forked, so this needs POSIX.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import gc
import hashlib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import coverage
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

REPOSITORY = Path(__file__).resolve().parents[1]
CORE = Path("src/semisquares/core")
TESTS = (CORE, Path("tests/core"))
"""Folders with the doctests and the tests of the core."""
NOT_COPIED = shutil.ignore_patterns(".*", "build", "demo", "dist", "_build", "results")
WARM = (
    "array_api_strict", "click", "dask.array", "hypothesis", "joblib", "pandas", "pyarrow", "rich",
    "scipy.optimize", "scipy.sparse.linalg", "sklearn.linear_model", "sklearn.model_selection",
    "threadpoolctl",
)  # fmt: skip
"""What the tests import, apart from semisquares itself: imported once, before the forks."""
FIRST, ALL = 1.5, 8.0
"""Seconds of tests that run first, and in all, on a mutant that survives."""
PATIENCE = 10.0
"""Seconds of processor time that the tests of a mutant may take in any case."""
MEMORY = 8 * 2**30


@dataclass(frozen=True)
class Mutant:
    """A change of one file: the `occurrence`-th place where an operator of cosmic-ray applies."""

    module: str
    operator: str
    occurrence: int
    line: int

    def code(self) -> str | None:
        """Return the changed file."""
        return mutate_code(_source(self.module), get_operator(self.operator)(), self.occurrence)

    def difference(self) -> str:
        """Return the lines that differ, marked with - and +."""
        lines = difflib.unified_diff(
            _source(self.module).splitlines(), (self.code() or "").splitlines(), lineterm="", n=0
        )
        return "\n".join(list(lines)[3:])


@dataclass(frozen=True)
class Test:
    """A test: how long it takes, and which lines of which modules of the core it executes."""

    name: str
    seconds: float
    lines: dict[str, list[int]]

    @property
    def file(self) -> str:
        """Return the file that has it."""
        return self.name.partition("::")[0]


# --- the sample


def draw(seed: int, size: int) -> list[Mutant]:
    """Return a random sample of the mutants that change what the core does."""
    mutants = list(_all_mutants())
    random.Random(seed).shuffle(mutants)
    sample: list[Mutant] = []
    for mutant in mutants:
        if len(sample) == size:
            break
        if _changes_something(_source(mutant.module), mutant.code()):
            sample.append(mutant)
    return sample


def _all_mutants() -> Iterator[Mutant]:
    for module in _modules():
        nodes = list(ast_nodes(get_ast(_source(module))))
        for name in operator_names():
            operator = get_operator(name)
            if operator.arguments():  # would need names of variables
                continue
            starts = (start for node in nodes for start, _ in operator().mutation_positions(node))
            for occurrence, (line, _) in enumerate(starts):
                yield Mutant(module, name, occurrence, line)


def _changes_something(source: str, mutated: str | None) -> bool:
    """Return whether the mutant compiles and differs in more than annotations and docstrings."""
    try:
        return mutated is not None and _executed(mutated) != _executed(source)
    except SyntaxError:
        return False


def _executed(source: str) -> str:
    """Return the syntax tree without annotations, docstrings and code for type checkers."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if getattr(node, name, None) is not None:
                setattr(node, name, ast.Constant(None))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.test, node.body = ast.Constant(None), []
        if isinstance(node, ast.ClassDef) and "Protocol" in map(ast.unparse, node.bases):
            node.body = []
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(None)
    return ast.dump(tree)


def _modules() -> list[str]:
    paths = sorted((REPOSITORY / CORE).rglob("*.py"))
    return [path.relative_to(REPOSITORY).as_posix() for path in paths]


@cache
def _source(module: str) -> str:
    return (REPOSITORY / module).read_text(encoding="utf-8")


# --- which tests execute which lines


class _Timer:
    """A pytest plugin that notes which tests passed, their times, and the lines they executed."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self.measured = measured
        self.seconds: Counter[str] = Counter()
        self.bad: set[str] = set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.measured.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.outcome != "passed":
            self.bad.add(report.nodeid)


class _Chosen:
    """A pytest plugin that runs the chosen tests in their order, and notes which one failed."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        found = {item.nodeid: item for item in items}
        items[:] = [found[name] for name in self.names if name in found]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid


def measure(copy: Path, folder: Path) -> list[Test]:
    """Run every test file once, unless it is as when it was run before; return the tests."""
    tests: list[Test] = []
    for file in _test_files():
        stored = folder / f"{file.replace('/', '.')}.{_digest(file)}.json"
        if not stored.exists():
            _say(f"measuring {file}")
            _in_a_fork(copy, lambda file=file, stored=stored: _measure_file(copy, file, stored))
        if not stored.exists():
            sys.exit((copy.parent / "output").read_text(encoding="utf-8"))
        tests += [Test(**one) for one in json.loads(stored.read_text(encoding="utf-8"))]
    return tests


def _measure_file(copy: Path, file: str, stored: Path) -> int:
    measured = coverage.Coverage(None, config_file=False, include=[f"{copy / CORE}/*"])
    timer = _Timer(measured)
    measured.start()
    _pytest([file], timer)
    measured.stop()
    lines: dict[str, dict[str, list[int]]] = {name: {} for name in timer.seconds}
    for path in measured.get_data().measured_files():
        module = Path(path).relative_to(copy).as_posix()
        for line, names in measured.get_data().contexts_by_lineno(path).items():
            for name in set(names) & set(lines):
                lines[name].setdefault(module, []).append(line)
    passed = [
        Test(name, timer.seconds[name], lines[name]) for name in lines if name not in timer.bad
    ]
    _write(stored, json.dumps([asdict(test) for test in passed if test.lines]))
    return 0


def _test_files() -> list[str]:
    files = [path for part in TESTS for path in sorted((REPOSITORY / part).rglob("*.py"))]
    return [
        path.relative_to(REPOSITORY).as_posix()
        for path in files
        if path.name.startswith("test_") or ">>>" in path.read_text(encoding="utf-8")
    ]


def _digest(file: str) -> str:
    return hashlib.sha256((REPOSITORY / file).read_bytes()).hexdigest()[:12]


def _concerned(mutant: Mutant, tests: list[Test], kills: Counter[str]) -> list[Test]:
    """Return tests that execute the changed statement, those first that are fast and often fail.

    A statement that is executed at import, such as a default, concerns all tests of its function,
    or of its module.
    """
    for lines in _surroundings(mutant):
        found = [test for test in tests if not lines.isdisjoint(test.lines.get(mutant.module, ()))]
        if found:
            return sorted(found, key=lambda test: (0.01 + test.seconds) / (1 + kills[test.name]))
    return []


def _surroundings(mutant: Mutant) -> Iterator[set[int]]:
    """Yield the lines of the changed statement, of its function, and of the file."""
    source = _source(mutant.module)
    around = [  # from the outside to the inside
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and mutant.line in _lines(node)
    ]
    functions = [node for node in around if isinstance(node, ast.FunctionDef)]
    if functions and around[-1] is not functions[-1]:
        body = getattr(around[-1], "body", [])
        end = body[0].lineno if body else _lines(around[-1]).stop
        yield set(range(around[-1].lineno, max(end, mutant.line + 1)))
    for function in reversed(functions):
        yield set(range(function.body[0].lineno, _lines(function).stop))
    yield set(range(len(source.splitlines()) + 1))


def _lines(node: ast.stmt) -> range:
    decorators = getattr(node, "decorator_list", [])
    return range(min(one.lineno for one in [*decorators, node]), (node.end_lineno or 0) + 1)


# --- running them


def run(sample: list[Mutant], copy: Path, folder: Path, tests: list[Test]) -> dict[Mutant, dict]:
    """Run the tests on each mutant that has no result, and on survivors if there are new tests."""
    stored = folder / "results.jsonl"
    results = _read(stored)
    kills = Counter(result["test"] for result in results.values() if result["killed"])
    files = {test.file: _digest(test.file) for test in tests}
    for mutant in sorted(sample, key=lambda one: one in results):
        before = results.get(mutant, {"killed": False, "passed": {}})
        new = [test for test in tests if files[test.file] != before["passed"].get(test.file)]
        if before["killed"] or not new:
            continue
        result = _try(mutant, copy, _concerned(mutant, new, kills))
        results[mutant] = result | ({} if result["killed"] else {"passed": files})
        kills[result["test"]] += 1
        with stored.open("a", encoding="utf-8") as out:
            out.write(json.dumps(asdict(mutant) | results[mutant]) + "\n")
        outcome = f"killed by {result['test']}" if result["killed"] else "SURVIVED"
        place = f"{Path(mutant.module).relative_to(CORE)}:{mutant.line}"
        _say(f"{len(results)}/{len(sample)} {place} {outcome}, {result['seconds']:.0f} s")
    return {mutant: results[mutant] for mutant in sample}


def _read(stored: Path) -> dict[Mutant, dict]:
    """Return the last result of every mutant."""
    results = {}
    for line in stored.read_text(encoding="utf-8").splitlines() if stored.exists() else []:
        result = json.loads(line)
        fields = {name: result.pop(name) for name in Mutant.__dataclass_fields__}
        results[Mutant(**fields)] = result
    return results


def _try(mutant: Mutant, copy: Path, tests: list[Test]) -> dict:
    """Run tests on a mutant until one fails; a run without an end counts as a failure."""
    path = copy / mutant.module
    path.write_text(mutant.code() or "", encoding="utf-8")
    start = _processor_time()
    test = ""
    try:
        for batch in _batches(tests):
            test = test or _failed(copy, batch)
    finally:
        shutil.copy2(REPOSITORY / mutant.module, path)
    return {"killed": bool(test), "test": test, "seconds": _processor_time() - start, "passed": {}}


def _batches(tests: list[Test]) -> Iterator[list[Test]]:
    """Yield the first seconds of the tests, then those up to the limit."""
    total = 0.0
    parts: tuple[list[Test], list[Test]] = [], []
    files = set()
    for test in tests:
        total += test.seconds + (0 if test.file in files else 0.5)  # to collect the file
        files.add(test.file)
        if total < ALL:
            parts[total > FIRST].append(test)
    yield from (part for part in parts if part)


def _failed(copy: Path, tests: list[Test]) -> str:
    """Return the name of the first test that fails, or what else went wrong, or ""."""
    chosen = _Chosen([test.name for test in tests])
    report = copy.parent / "failed"
    report.write_text("", encoding="utf-8")

    def work() -> int:
        # as usual, doctests last: files of src would be imported a second time
        code = _pytest(sorted({test.file for test in tests}, reverse=True), chosen, "-x")
        report.write_text(
            chosen.failed or ("" if code == pytest.ExitCode.OK else "an import"), encoding="utf-8"
        )
        return code

    limit = PATIENCE + 2 * sum(test.seconds for test in tests)
    ended = _in_a_fork(copy, work, limit)
    return report.read_text(encoding="utf-8") or ("" if ended else "the time limit")


def _pytest(files: Iterable[str], plugin: object, *options: str) -> int:
    always = [
        "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=short",
        "-W", "ignore::pytest.PytestAssertRewriteWarning",  # of hypothesis, which is imported
    ]  # fmt: skip
    return int(pytest.main([*always, *options, *files], plugins=[plugin]))


def _in_a_fork(copy: Path, work: Callable[[], int], limit: float = 3600) -> bool:
    """Do work in the copy, in a process of its own; return whether it ended well or with 1, 2."""
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        output = os.open(copy.parent / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        os.chdir(copy)
        sys.path.insert(0, str(copy / "src"))
        os.environ["PYTHONPATH"] = str(copy / "src")
        code = 3
        try:
            code = work()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    end = time.monotonic() + 60 * limit  # a deadlock takes no processor time
    try:
        while not (done := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > end:
                os.killpg(child, signal.SIGKILL)
            time.sleep(0.02)
    except BaseException:
        os.killpg(child, signal.SIGKILL)
        raise
    return os.WIFEXITED(done[1])


def _processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _write(path: Path, text: str) -> None:
    """Write a file at once or not at all."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


# --- the command


def main(seed: int, size: int) -> None:
    """Run the sample; print the share that was killed, and the survivors."""
    sources = "".join(_source(module) for module in _modules())
    folder = REPOSITORY / "build/mutants" / hashlib.sha256(sources.encode()).hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    drawn = folder / f"sample-{seed}-{size}.json"
    if not drawn.exists():
        _write(drawn, json.dumps([asdict(mutant) for mutant in draw(seed, size)]))
    sample = [Mutant(**one) for one in json.loads(drawn.read_text(encoding="utf-8"))]
    for name in WARM:
        importlib.import_module(name)
    gc.freeze()  # pytest collects garbage at its end, which need not include all of this
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    with tempfile.TemporaryDirectory(prefix="semisquares-mutants-") as place:
        os.environ["TMPDIR"] = tempfile.tempdir = place
        copy = Path(place).resolve() / "semisquares"
        shutil.copytree(REPOSITORY, copy, ignore=NOT_COPIED)
        if (REPOSITORY.parent / "shared").exists():
            (copy.parent / "shared").symlink_to(REPOSITORY.parent / "shared")
        tests = measure(copy, folder)
        fastest = sorted(tests, key=lambda test: test.seconds)
        if failed := "".join(_failed(copy, batch) for batch in _batches(fastest)):
            printed = (copy.parent / "output").read_text(encoding="utf-8")
            sys.exit(f"Without any mutant, {failed} fails: {printed}")
        sys.dont_write_bytecode = True  # a mutant may be as long and as new as the original
        results = run(sample, copy, folder, tests)
    _summarise(results)


def _summarise(results: dict[Mutant, dict]) -> None:
    killed = [mutant for mutant, result in results.items() if result["killed"]]
    for mutant in sorted(set(results) - set(killed), key=lambda one: (one.module, one.line)):
        _say(f"\n{mutant.module}:{mutant.line} {mutant.operator}\n{mutant.difference()}")
    _say(f"\n{len(killed)} of {len(results)} killed")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=20261118)
    parser.add_argument("--size", type=int, default=500)
    try:
        main(**vars(parser.parse_args()))
    except KeyboardInterrupt:
        sys.exit("Stopped; `make mutants` goes on with what is missing.")
