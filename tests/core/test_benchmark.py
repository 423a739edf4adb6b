"""Timings: figures that can be believed, tables that compare like with like, counts that repeat."""

from __future__ import annotations

import itertools
import math
import shutil

import pytest
import trine
from trine.utils import benchmark
from trine.utils.benchmark import (
    CallgrindStats,
    Compare,
    CopyIfCallgrind,
    FunctionCount,
    FunctionCounts,
    FuzzedParameter,
    FuzzedTensor,
    Fuzzer,
    Measurement,
    ParameterAlias,
    TaskSpec,
    Timer,
)  # fmt: skip

needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs Valgrind")


class Clock:
    """A clock that advances by 3 ms at each execution of ``tick``."""

    def __init__(self) -> None:
        self.now, self.step = 0.0, 3e-3

    def __call__(self) -> float:
        return self.now

    def tick(self) -> None:
        self.now += self.step


def spec(**names) -> TaskSpec:
    return TaskSpec("x + 1", "pass", **names)


def test_a_timer_divides_by_the_number_of_executions():
    clock = Clock()
    result = Timer("tick()", timer=clock, globals={"tick": clock.tick}).timeit(50)
    assert result.number_per_run == 50 and len(result.times) == 1
    assert result.median == pytest.approx(3e-3)


def test_blocks_go_on_until_the_time_is_over():
    clock, seen = Clock(), []
    timer = Timer("tick()", timer=clock, globals={"tick": clock.tick})
    result = timer.blocked_autorange(callback=lambda number, seconds: seen.append((number, seconds)), min_run_time=0.5)
    assert sum(result.raw_times) >= 0.5 > sum(result.raw_times[:-1])
    assert seen == [(result.number_per_run, t) for t in result.raw_times]
    assert result.times == pytest.approx([3e-3] * len(result.times))


def test_adaptive_blocks_end_when_the_times_agree_and_at_the_latest_in_time():
    clock = Clock()
    timer = Timer("tick()", timer=clock, globals={"tick": clock.tick})
    assert timer.adaptive_autorange().meets_confidence()

    steps = itertools.cycle([0.2, 0.05])

    def uneven():
        clock.now += next(steps)

    noisy = Timer("tick()", timer=clock, globals={"tick": uneven}).adaptive_autorange(threshold=1e-6, max_run_time=2.0)
    assert 2.0 <= sum(noisy.raw_times) < 4.0


def test_the_statement_sees_the_globals_the_setup_and_trine():
    Timer("assert trine.equal(x + y, torch.ones(2) * 3)", setup="y = 1", globals={"x": trine.full((2,), 2.0)}).timeit(1)


needs_compiler = pytest.mark.skipif(not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="needs a C++ compiler")


@needs_compiler
def test_a_statement_in_cpp_is_timed():
    timer = Timer("volatile double y = half(x);", "double x = 3;", "static double half(double x) { return x / 2; }", language="c++")
    assert 0 < timer.timeit(1000).median < 1e-3
    assert timer.blocked_autorange(min_run_time=0.01).number_per_run > 1000


@needs_compiler
def test_what_the_compiler_says_is_in_the_error():
    with pytest.raises(RuntimeError, match="no_such_function"):
        Timer("no_such_function();", language="cpp").timeit(1)


def test_without_a_compiler_the_error_says_so(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(RuntimeError, match="C\\+\\+ compiler"):
        Timer("", language="c++")


def test_a_timer_limits_the_threads_and_gives_them_back():
    before = trine.get_num_threads()
    Timer("assert trine.get_num_threads() == 1").timeit(1)
    assert trine.get_num_threads() == before


@pytest.mark.parametrize(
    ("arguments", "error"),
    [({"stmt": len}, ValueError), ({"language": "fortran"}, ValueError), ({"global_setup": "x"}, ValueError)],
)
def test_what_a_timer_refuses(arguments, error):
    with pytest.raises(error, match="Timer"):
        Timer(**arguments)


def test_statistics_are_those_of_numpy():
    np = pytest.importorskip("numpy")
    times = [3.0, 1.0, 7.5, 2.25, 9.0, 4.0]
    result = Measurement(2, times, spec())
    each = np.array(times) / 2
    assert result.median == pytest.approx(np.median(each)) and result.mean == pytest.approx(each.mean())
    assert result.iqr == pytest.approx(np.percentile(each, 75) - np.percentile(each, 25))


# Real PyTorch 2.13's answers for these times.
@pytest.mark.parametrize(
    ("times", "figures"),
    [
        ([1e-6 * i for i in range(10, 20)], 1),
        ([1e-3 + 1e-6 * i for i in range(40)], 2),
        ([1.0 + 1e-5 * i for i in range(100)], 4),
        ([1.0] * 5, 4),
        ([1e-7] * 5, 1),
    ],
)
def test_significant_figures_are_pytorchs(times, figures):
    assert Measurement(1, times, spec()).significant_figures == figures


def test_repetitions_of_one_task_are_merged():
    parts = [Measurement(10, [1.0, 2.0], spec()), Measurement(1, [5.0], spec(label="other")), Measurement(5, [1.5], spec())]
    first, second = Measurement.merge(parts)
    assert first.times == pytest.approx([0.1, 0.2, 0.3]) and first.number_per_run == 1
    assert second.task_spec.label == "other"


def test_a_measurement_tells_when_it_cannot_be_trusted():
    steady, wild = Measurement(1, [1.0, 1.01, 1.02, 1.0], spec()), Measurement(1, [1.0, 2.0, 3.0, 9.0], spec(num_threads=2))
    assert "WARNING" not in repr(steady) and not steady.has_warnings
    assert "WARNING" in repr(wild) and "2 threads" in repr(wild) and wild.has_warnings


@pytest.mark.parametrize(
    ("seconds", "unit"), [(1e-9, "ns"), (5e-7, "ns"), (1e-6, "us"), (9.9e-4, "us"), (1e-3, "ms"), (0.5, "ms"), (1, "s"), (1e4, "s")]
)
def test_units_are_pytorchs(seconds, unit):
    name, scale = benchmark.select_unit(seconds)
    assert name == unit and math.isclose(scale, {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit])


def test_small_helpers():
    assert (
        benchmark.trim_sigfig(123456, 3) == 123000 and benchmark.trim_sigfig(0.0012345, 2) == 0.0012 and benchmark.trim_sigfig(0.0, 2) == 0
    )
    assert benchmark.ordered_unique("abcab") == ["a", "b", "c"]
    assert benchmark.unit_to_english("us") == "microsecond"


def rows():
    return [
        Measurement(1, [scale * t, scale * t, scale * t * 1.01], spec(label="add", sub_label=sub, description=column, env=env, num_threads=threads))
        for threads in (1, 2) for env in ("here", "there") for sub in ("4", "1024 x 2") for column, t in (("old", 2e-6), ("new", 1e-6))
        for scale in [1 if sub == "4" else 100]
    ]  # fmt: skip


def test_a_table_has_a_row_for_each_input_and_a_column_for_each_contender():
    lines = str(Compare(rows())).splitlines()
    assert "add" in lines[0]
    assert [part.strip() for part in lines[1].split("|")][1:] == ["old", "new"]
    assert sum("thread" in line for line in lines) == 2
    cells = [line.split("|") for line in lines if "1024 x 2" in line]
    assert len(cells) == 4 and all([c.strip() for c in row[1:]] == ["200.0", "100.0"] for row in cells)
    assert lines[-1].endswith("microseconds (us).")


def test_tables_colour_the_best_of_a_row_and_trim_what_is_noise():
    table = Compare(rows()[:4])
    table.colorize(rowwise=True)
    line = next(line for line in str(table).splitlines() if "1024 x 2" in line)
    assert "\033[92m" in line.split("|")[2] and "\033[92m" not in line.split("|")[1]
    trimmed = Compare([Measurement(1, [1.23456e-3, 1.5e-3, 1.9e-3, 1.1e-3], spec(label="l", sub_label="s", description="d"))])
    trimmed.trim_significant_figures()
    trimmed.highlight_warnings()
    line = next(line for line in str(trimmed).splitlines() if line.startswith("      s"))
    assert line.split("|")[1].split()[-1] == "1" and "%" in line


def test_an_unnamed_measurement_is_a_table_too():
    assert "x + 1" in str(Compare([Measurement(1, [1e-3], spec())]))


def test_only_measurements_are_compared():
    with pytest.raises(ValueError, match="Compare"):
        Compare([1.0])


def fuzzer(seed=0, **arguments):
    parameters = [
        FuzzedParameter("n", 1, 100, "loguniform"),
        [FuzzedParameter("step", 1, 3, "uniform"), FuzzedParameter("m", distribution={ParameterAlias("n"): 0.5, 7: 0.5})],
        FuzzedParameter("dim", distribution={2: 0.5, 3: 0.5}),
    ]
    tensor = FuzzedTensor("x", ("n", "m", 3), steps=("step", 1, 2), min_elements=4, max_elements=2000, dim_parameter="dim")
    return Fuzzer(parameters, [tensor], seed=seed, **arguments)


def test_fuzzed_tensors_meet_their_limits():
    pytest.importorskip("numpy")
    source = fuzzer(constraints=[lambda n, m, **_: n >= m])
    layouts = set()
    for tensors, properties, drawn in source.take(40):
        x = tensors["x"]
        assert tuple(x.shape) == (drawn["n"], drawn["m"], 3)[: drawn["dim"]]
        assert 4 <= x.numel() <= 2000 and drawn["n"] >= drawn["m"] and drawn["m"] in (7, drawn["n"])
        assert properties["x"]["is_contiguous"] == x.is_contiguous() and properties["x"]["numel"] == x.numel()
        layouts.add(properties["x"]["order"])
    assert len(layouts) > 2 and 0 < source.rejection_rate < 1


def test_a_seed_repeats_the_draws():
    pytest.importorskip("numpy")
    first, second, other = ([p for _, _, p in fuzzer(seed).take(5)] for seed in (1, 1, 2))
    assert first == second != other


@pytest.mark.parametrize("dtype", [trine.bool, trine.int64, trine.complex64, trine.float64])
def test_fuzzed_tensors_of_any_type(dtype):
    pytest.importorskip("numpy")
    ((tensors, properties, _),) = Fuzzer([], [FuzzedTensor("x", (3, 4), dtype=dtype)], seed=0).take(1)
    assert tensors["x"].dtype is dtype and properties["x"]["dtype"] == str(dtype)


def test_what_a_fuzzer_refuses():
    pytest.importorskip("numpy")
    with pytest.raises(ValueError, match="add up"):
        FuzzedParameter("p", distribution={1: 0.5})
    with pytest.raises(ValueError, match="bounds"):
        FuzzedParameter("p", 0, 1, "loguniform")
    with pytest.raises(ValueError, match="twice"):
        Fuzzer([FuzzedParameter("p", 1, 2, "uniform"), FuzzedParameter("p", 1, 2, "uniform")], [])
    with pytest.raises(ValueError, match="none of"):
        next(Fuzzer([FuzzedParameter("p", 1, 2, "uniform")], [], constraints=[lambda p: p > 2]).take(1))
    with pytest.raises(ValueError, match="leads to no"):
        next(Fuzzer([FuzzedParameter("p", distribution={ParameterAlias("q"): 1.0})], []).take(1))


def counts(inclusive=False, **named) -> FunctionCounts:
    return FunctionCounts(tuple(sorted((FunctionCount(c, n) for n, c in named.items()), reverse=True)), inclusive)


def test_function_counts_are_joined_by_name():
    a, b = counts(f=7, g=3), counts(f=2, h=4)
    assert (a - b)._data == (FunctionCount(5, "f"), FunctionCount(3, "g"), FunctionCount(-4, "h"))
    assert (a + b).sum() == 16 and a.filter(lambda name: name != "f").sum() == 3
    assert a.transform(lambda name: "both")._data == (FunctionCount(10, "both"),)
    assert counts(lookdict=5, f=1).denoise().sum() == 1
    assert a[0] == FunctionCount(7, "f") and a[1:].sum() == 3 and len(a) == 2
    assert "Total: 10" in repr(a)
    with pytest.raises(ValueError, match="inclusive"):
        a + counts(inclusive=True, f=1)


def test_callgrinds_file_is_read_by_its_specification():
    """The example of Callgrind's documentation, spelled out, with a recursion added."""
    from trine.utils.benchmark.callgrind import parse_counts

    text = """events: Ir
fl=file1.c
fn=main
16 20
cfn=func1
calls=1 50
16 400
cfi=file2.c
cfn=func2
calls=3 20
16 400

fn=func1
51 100
cfi=file2.c
cfn=func2
calls=2 20
51 300

fl=file2.c
fn=func2
20 700

fn=func2'2
20 30
"""
    inclusive, exclusive = parse_counts(text)
    assert {n: c for c, n in exclusive} == {"file1.c:main": 20, "file1.c:func1": 100, "file2.c:func2": 730}
    assert {n: c for c, n in inclusive} == {"file1.c:main": 820, "file1.c:func1": 400, "file2.c:func2": 700}


@needs_valgrind
@pytest.mark.slow
def test_more_work_takes_more_instructions():
    one = Timer("x.exp_()", globals={"x": trine.zeros(1000), "step": CopyIfCallgrind({"a": 1})}).collect_callgrind(20)
    ten = Timer("x.exp_()", globals={"x": trine.zeros(10_000)}).collect_callgrind(20, collect_baseline=False, retain_out_file=True)
    assert isinstance(one, CallgrindStats) and one.number_per_run == 20
    assert 0 < one.baseline_exclusive_stats.sum() < one.counts() < ten.counts()
    assert one.counts(denoise=True) <= one.counts() == one.stats().sum()
    assert len(ten.stats()) > 10
    assert max(c for c, _ in ten.stats(inclusive=True)) == ten.counts()
    assert ten.delta(one).sum() == ten.counts() - one.counts()
    assert "callgrind format" in ten.stmt_callgrind_out and one.stmt_callgrind_out is None
    assert "Instructions:" in repr(one.as_standardized())


@needs_valgrind
def test_values_are_not_copied_to_another_process_unasked():
    with pytest.raises(ValueError, match="CopyIfCallgrind"):
        Timer("x", globals={"x": [1]}).collect_callgrind(1)


def test_without_valgrind_the_error_says_so(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RuntimeError, match="Valgrind is not installed"):
        Timer("1").collect_callgrind(1)
