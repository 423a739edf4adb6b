"""The process that does the work for one library; ``tools/bench`` drives several of them in alternation.

    python worker.py LIBRARY

reads one JSON command a line and answers with one JSON line.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench_suite.cases import all_cases

MODULES = {"pillow": "PIL.Image"}


def import_library(library: str):
    return importlib.import_module(MODULES.get(library, library))


class Worker:
    def __init__(self, library: str):
        self.library = library
        self.module = import_library(library)
        self.cases = all_cases()
        self.work = None
        self.unit = "s"

    def version(self) -> str:
        owner = self.module if hasattr(self.module, "__version__") else sys.modules[self.module.__name__.split(".")[0]]
        return str(getattr(owner, "__version__", "?"))

    def prepare(self, name: str, threads: int) -> float:
        """Builds a case and returns the seconds one warm call takes."""
        if hasattr(self.module, "set_num_threads"):
            self.module.set_num_threads(threads)
        if hasattr(self.module, "manual_seed"):
            self.module.manual_seed(0)
        self.work = None
        gc.collect()
        self.unit = self.cases[name].unit
        self.work = self.cases[name].prepare_for(self.library, self.module)
        for _ in range(2):
            self.measure(1)
        return self.measure(1)

    def measure(self, calls: int) -> float:
        """Seconds a call, over ``calls`` calls in a row; of work that counts bytes, these."""
        work = self.work
        if self.unit == "B":
            return float(work())
        gc.disable()
        start = time.perf_counter()
        for _ in range(calls):
            work()
        spent = time.perf_counter() - start
        gc.enable()
        return spent / calls

    def answer(self, command: dict) -> dict:
        if command["do"] == "version":
            return {"version": self.version()}
        if command["do"] == "prepare":
            return {"seconds": self.prepare(command["case"], command["threads"])}
        return {"seconds": self.measure(command["calls"])}


def main() -> None:
    # Whatever a library prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        worker = Worker(sys.argv[1])
        error = None
    except ImportError as failure:
        worker, error = None, str(failure)
    for line in sys.stdin:
        try:
            reply = {"error": error} if worker is None else worker.answer(json.loads(line))
        except Exception as failure:
            reply = {"error": f"{type(failure).__name__}: {failure}"}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
