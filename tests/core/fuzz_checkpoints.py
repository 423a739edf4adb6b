"""Feeds mutated checkpoints to the readers and reports what they do with them.

    python tests/core/fuzz_checkpoints.py --kind zip-pickle --iterations 100000 --seed 1

The process watches itself: an address-space limit makes unbounded memory an error, an alarm makes an endless loop one, and
an audit hook notes every attempt to run a program, to execute code or to write a file. Each problem is printed with the
case number; ``--case N`` repeats that one. The exit status is 1 when there was one.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import pickle
import random
import resource
import signal
import struct
import sys
import zipfile
from pathlib import Path

CHECKPOINTS = Path(__file__).resolve().parent / "checkpoints"
KINDS = ("zip", "zip-pickle", "zip-deflated", "legacy", "safetensors", "safetensors-header")
MEMORY_ALLOWED = 1 << 30
SECONDS_ALLOWED = 5
FORBIDDEN_EVENTS = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "exec", "pickle.find_class", "os.remove")
COMMAND = "touch canary"

# Opcodes that would create the canary in a reader that obeys them.
ATTACKS = [
    f"cos\nsystem\n(X{{n}}{COMMAND}tR.",
    f"cposix\nsystem\n(S'{COMMAND}'\ntR.",
    f"(S'{COMMAND}'\nios\nsystem\n.",
    'cbuiltins\neval\n(S\'open("canary","w")\'\ntR.',
    'c__builtin__\nexec\n(S\'open("canary","w")\'\ntR.',
    f"csubprocess\ncheck_call\n(S'{COMMAND}'\ntR.",
    "cbuiltins\ngetattr\n(cbuiltins\nopen\nS'__call__'\ntR.",
    "ctorch.storage\n_load_from_bytes\n(C\x02ab\x85R.",
    "ccollections\nOrderedDict\n)R}S'items'\ncos\nsystem\nsb.",
]
OPCODES = b"2|0|(|}|]|)|R|b|u|e|s|a|Q|\x93|\x81|\x94|h\x01|q\x01|\x85|\x8f".split(b"|")
NUMBERS = (0, 1, 2, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)


def attack(rng: random.Random) -> bytes:
    text = rng.choice(ATTACKS).replace("{n}", struct.pack("<I", len(COMMAND)).decode("latin-1"))
    return text.encode("latin-1")


def mutate(data: bytes, rng: random.Random, pickled: bool) -> bytes:
    """``data`` with one to four small changes."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(out) + 1)
        choice = rng.randrange(9 if pickled else 7)
        if choice == 0 and out:
            out[at % len(out)] ^= 1 << rng.randrange(8)
        elif choice == 1 and out:
            out[at % len(out)] = rng.randrange(256)
        elif choice == 2:
            del out[at : at + rng.randrange(1, 64)]
        elif choice == 3:
            out[at:at] = out[(start := rng.randrange(len(out) + 1)) : start + rng.randrange(1, 64)]
        elif choice == 4:
            width = rng.choice((1, 2, 4, 8))
            out[at : at + width] = (rng.choice(NUMBERS) & ((1 << 8 * width) - 1)).to_bytes(width, rng.choice(("little", "big")))
        elif choice == 5:
            del out[at:]
        elif choice == 6:
            out[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 16)))
        elif choice == 7:
            out[at : at + rng.choice((0, 0, 8))] = attack(rng)
        else:
            out[at:at] = rng.choice(OPCODES) * rng.choice((1, 2, 50))
    return bytes(out)


def repack(pickled: bytes, rng: random.Random, method: int = zipfile.ZIP_STORED) -> bytes:
    """A sound archive around a mutated pickle, so that the pickle is what is tested."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("x/data.pkl", pickled)
        for name, data in records().items():
            archive.writestr(name, data)
    return buffer.getvalue()


_cache: dict = {}


def sample() -> dict:
    import trine

    base = trine.arange(12.0).reshape(3, 4)
    return {"a": base, "v": base[1:, ::2], "p": trine.nn.Parameter(trine.ones(3)), "i": [1, 2**40, 1.5, "text"], "t": (None, {1, 2})}


def saved() -> bytes:
    if "saved" not in _cache:
        import trine

        buffer = io.BytesIO()
        trine.save(sample(), buffer)
        _cache["saved"] = buffer.getvalue()
    return _cache["saved"]


def records() -> dict:
    if "records" not in _cache:
        with zipfile.ZipFile(io.BytesIO(saved())) as archive:
            names = [name for name in archive.namelist() if not name.endswith("data.pkl")]
            _cache["records"] = {"x/" + name.partition("/")[2]: archive.read(name) for name in names}
    return _cache["records"]


def pickles() -> list:
    """Pickles of real checkpoints, in all protocols, and of our own."""
    if "pickles" not in _cache:
        with zipfile.ZipFile(io.BytesIO(saved())) as archive:
            found = [archive.read(next(n for n in archive.namelist() if n.endswith("data.pkl")))]
        for path in sorted(CHECKPOINTS.glob("zip_*.pt")):
            with zipfile.ZipFile(path) as archive:
                found.append(archive.read(next(n for n in archive.namelist() if n.endswith("data.pkl"))))
        _cache["pickles"] = found
    return _cache["pickles"]


def safetensors() -> bytes:
    if "safetensors" not in _cache:
        import tempfile

        import trine

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x"
            tensors = {"a": trine.ones(2, 3), "b": trine.zeros(4, dtype=trine.int8), "c": trine.tensor(1.0)}
            trine.serialization.save_safetensors(tensors, path, metadata={"k": "v"})
            _cache["safetensors"] = path.read_bytes()
    return _cache["safetensors"]


def mutate_header(rng: random.Random) -> bytes:
    """A safetensors file whose header is sound JSON with wrong contents."""
    whole = safetensors()
    length = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + length])
    record = header[rng.choice(("a", "b", "c"))]
    values = [*NUMBERS, -1, 1.5, None, "F32", "I8", "", [], [0], [1 << 62, 4], {}, True]
    key = rng.choice(("dtype", "shape", "data_offsets", "other"))
    if isinstance(record.get(key), list) and record[key] and rng.random() < 0.6:
        record[key][rng.randrange(len(record[key]))] = rng.choice(values)
    else:
        record[key] = rng.choice(values)
    raw = json.dumps(header).encode()
    return len(raw).to_bytes(8, "little") + raw + whole[8 + length :]


def make_case(kind: str, rng: random.Random) -> bytes:
    if kind == "zip":
        return mutate(saved(), rng, pickled=False)
    if kind in ("zip-pickle", "zip-deflated"):
        method = zipfile.ZIP_DEFLATED if kind == "zip-deflated" else zipfile.ZIP_STORED
        return repack(mutate(rng.choice(pickles()), rng, pickled=True), rng, method)
    if kind == "legacy":
        return mutate((CHECKPOINTS / "legacy.pt").read_bytes(), rng, pickled=True)
    if kind == "safetensors":
        return mutate(safetensors(), rng, pickled=False)
    return mutate_header(rng)


class Watch:
    """Notes what no reader of data has a reason to do, while ``active``."""

    def __init__(self) -> None:
        self.active = False
        self.seen: list = []
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple) -> None:
        if not self.active:
            return
        if event in FORBIDDEN_EVENTS or (event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")):
            self.seen.append(f"{event} {arguments!r:.200}")


class TooSlow(BaseException):
    """One case took longer than any file of its size may."""


def _alarm(signum: int, frame: object) -> None:
    raise TooSlow


def touch(value: object, depth: int = 0) -> None:
    """Use what was loaded, so that a tensor that points outside its storage is found out."""
    import trine

    if isinstance(value, trine.Tensor):
        if value.device.type != "meta" and value.numel() < 100_000:
            value.clone()
    elif depth < 20 and isinstance(value, dict):
        for item in value.values():
            touch(item, depth + 1)
    elif depth < 20 and isinstance(value, (list, tuple)):
        for item in value:
            touch(item, depth + 1)


def run_case(data: bytes, path: Path, by_path: bool, watch: Watch) -> str | None:
    """What went wrong with one file; None when it loaded or was refused as documented."""
    import trine

    path.write_bytes(data)
    watch.seen.clear()
    watch.active = True
    signal.setitimer(signal.ITIMER_REAL, SECONDS_ALLOWED)
    try:
        for read in (trine.load, trine.serialization.inspect):
            try:
                found = read(path if by_path else io.BytesIO(data))
                if read is trine.load:
                    touch(found)
            except (pickle.UnpicklingError, EOFError):
                pass  # UnsafeFileError and CorruptFileError are UnpicklingErrors
            except RuntimeError as error:
                # The documented answer to a storage of a device that this machine lacks.
                if "restore data location" not in str(error) and "CUDA" not in str(error):
                    return f"{read.__name__}: {type(error).__name__}: {error}"
    except TooSlow:
        return f"longer than {SECONDS_ALLOWED} seconds"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        watch.active = False
    return f"did {watch.seen}" if watch.seen else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int)
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="where the files and the canary go")
    options = parser.parse_args()

    import encodings.latin_1
    import encodings.raw_unicode_escape
    import encodings.unicode_escape  # noqa: F401  what a reader may import is there before it is watched

    import numpy  # noqa: F401
    import trine

    make_case(options.kind, random.Random(0))
    trine.load(CHECKPOINTS / "zip_protocol2.pt")
    os.chdir(options.folder)
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_ALLOWED,) * 2)
    signal.signal(signal.SIGALRM, _alarm)
    watch = Watch()
    problems = 0
    cases = range(options.iterations) if options.case is None else [options.case]
    for case in cases:
        rng = random.Random(f"{options.kind} {options.seed} {case}")
        data = make_case(options.kind, rng)
        problem = run_case(data, options.folder / "case.bin", case % 2 == 0, watch)
        if problem is None and (options.folder / "canary").exists():
            problem = "the canary exists: something in the file was executed"
        if problem is not None:
            problems += 1
            print(f"{options.kind} seed {options.seed} case {case}: {problem}", flush=True)
    print(f"{options.kind}: {len(cases)} files, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
