# ruff: noqa: UP006, UP007, UP035, UP045 (programs write types in both ways)
"""Marks for a compiler leave the Python as it is; what needs one says so."""

from __future__ import annotations

import typing
from typing import Dict, List, Optional, Tuple, Union

import pytest
import trine
from trine import jit


def test_marked_functions_run_as_python():
    class Module(trine.nn.Module):
        limit: jit.Final[int] = 3

        @jit.unused
        @property
        def doubled(self):
            return self.limit * 2

        @jit.ignore
        def noted(self, x):
            return x + 1

        @jit.ignore(drop=True)
        def dropped(self, x):
            return x + 2

        @jit.export
        def other(self, x):
            return jit.annotate(List[int], [x])

        @jit.unused
        def forward(self, x):
            return x if jit.is_scripting() or jit.is_tracing() else self.noted(x)

    m = Module()
    assert (m(1), m.dropped(1), m.other(1), m.doubled) == (2, 3, [1], 6)
    assert jit.script_if_tracing(max)(1, 2) == 2
    assert jit.Attribute(3, int) == (3, int)
    with pytest.raises(RuntimeError, match="must be a bool or a function"):
        jit.ignore(3)


def test_set_module():
    def f():
        pass

    jit.set_module(f, "elsewhere")
    assert f.__module__ == "elsewhere"
    with pytest.raises(TypeError, match="should be a string"):
        jit.set_module(f, 3)


@pytest.mark.parametrize(
    "value, kind, fits",
    [
        ([1, 2], List[int], True), ([1, "a"], List[int], False), ([], List[int], True), ([1], list[int], True), ((1,), list[int], False),
        ({"a": 1}, Dict[str, int], True), ({"a": "b"}, dict[str, int], False), ((1, "a"), Tuple[int, str], True), ((1,), Tuple[int, str], False),
        ((1, 2, 3), tuple[int, ...], True), (None, Optional[int], True), ("a", Optional[int], False), (1, Union[int, str], True), (1.0, int | str, False),
        (1, (float, int), True), (1, int, True), ({"a": [trine.ones(1)]}, Dict[str, List[trine.Tensor]], True), (object(), typing.Any, True),
    ],
)  # fmt: skip
def test_isinstance_looks_into_containers(value, kind, fits):
    assert jit.isinstance(value, kind) is fits


@pytest.mark.parametrize("kind", [list, dict, tuple, List, Dict, Tuple])
def test_containers_have_to_say_of_what(kind):
    with pytest.raises(RuntimeError, match="without a contained type"):
        jit.isinstance([], kind)


def test_what_needs_a_compiler_is_missing_with_the_reason():
    assert not hasattr(jit, "script")
    with pytest.raises(AttributeError, match="no compiler"):
        jit.trace  # noqa: B018


def test_there_are_no_process_groups_and_programs_can_ask():
    assert not trine.distributed.is_available() and not trine.distributed.is_initialized()
    with pytest.raises(AttributeError, match=r"is_available\(\) is False"):
        trine.distributed.init_process_group("gloo")
    with pytest.raises(RuntimeError, match="no process group"):
        trine.utils.data.DistributedSampler(range(4))
