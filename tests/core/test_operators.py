"""Every operator of the tables, in every form a user can call it in.

The values come from real PyTorch (tests/data/operators/, made by tools/reference) and from the NumPy or SciPy
function that a table entry names. Adding an operator adds its tests.
"""

from __future__ import annotations

import importlib

import execute
import numpy as np
import operators
import pytest
import trine
from compare import difference
from operators import ALL_DTYPES, ROOT, Operator
from samples import NUMPY_DTYPES, Sample, T
from stored import Stored

OPERATORS = operators.all_operators()
STORED_PATH = ROOT / "tests" / "data" / "operators"


@pytest.fixture(scope="module")
def stored() -> Stored:
    return Stored(STORED_PATH)


def each(condition=lambda operator: True):
    chosen = [operator for operator in OPERATORS if condition(operator)]
    return pytest.mark.parametrize("operator", chosen, ids=[operator.name for operator in chosen])


def is_error(result) -> bool:
    return isinstance(result, dict)


def is_random(operator: Operator) -> bool:
    return any(argument.type == "Generator?" for argument in operator.op.schema.args)


def runs(operator: Operator, dtypes=("float32",)):
    """(dtype, sample, result as arrays) of each sample that the operator accepts."""
    for dtype in dtypes:
        for _, sample in operator.samples(dtype):
            result = execute.run(trine, operator.path, sample)
            if not is_error(result):
                yield dtype, sample, result


def native(name: str):
    """An operator as a method, or by its own name where `nn.functional` alone offers it."""
    return getattr(trine.Tensor, name, None) or trine._C.ops[name]


def report(problems: list[str]) -> None:
    assert not problems, "\n".join(problems)


def theirs_of(stored: Stored, operator: Operator, dtype: str, index: int, sample: Sample):
    try:
        return stored.get(operator.table, operator.key(dtype, index), sample.digest())
    except KeyError:
        return None


@pytest.mark.parametrize("dtype", ALL_DTYPES)
@each()
def test_result_equals_pytorch(operator, dtype, stored):
    problems, samples = [], list(operator.samples(dtype))
    if samples and is_error(theirs_of(stored, operator, dtype, *samples[0])):
        pytest.skip(f"PyTorch has no {operator.name} of {dtype}")  # where nothing is to compute it may answer
    for index, sample in samples:
        theirs = theirs_of(stored, operator, dtype, index, sample)
        if theirs is None:
            problems.append(f"{operator.name}({sample.text}): no stored result: run tools/reference")
            continue
        if is_error(theirs):
            continue  # PyTorch does not take this dtype, or has no such name; Trine may
        ours = execute.run(trine, operator.path, sample)
        if is_error(ours):
            problems.append(f"{operator.name}({sample.text}) of {dtype}: {ours}")
            continue
        found = operator.difference(ours, theirs)
        if found:
            problems.append(f"{operator.name}({sample.text}) of {dtype}: {found}")
    report(problems)


def named_function(path: str):
    """``scipy.special.erf`` as a function."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


@each(lambda operator: "reference" in operator.tests)
def test_result_equals_numpy_or_scipy(operator):
    reference = named_function(operator.tests["reference"])
    problems = []
    for _, sample, ours in runs(operator, ["float64"]):
        if sample.kwargs or not all(isinstance(arg, (T, int, float)) for arg in sample.args):
            continue
        if "special" in sample.text:
            continue  # NumPy and PyTorch differ at NaN and at infinity; the stored results tell what is right
        with np.errstate(all="ignore"):
            expected = reference(*[arg.array if isinstance(arg, T) else arg for arg in sample.args])
        expected = T(np.asarray(expected).astype(NUMPY_DTYPES[ours.dtype]), ours.dtype)
        found = difference(ours, expected, operator.tolerance)
        if found:
            problems.append(f"{operator.name}({sample.text}): {found}")
    report(problems)


def strided(tensor):
    """The same values with other strides: every second element of a larger tensor, last two dims swapped."""
    if tensor.dim() == 0:
        return tensor
    if tensor.dim() >= 2:
        tensor = tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
    wide = trine.empty([*tensor.shape, 2], dtype=tensor.dtype)
    view = wide[..., 1]
    view.copy_(tensor)
    return view


def map_tensors(function, value):
    if isinstance(value, trine.Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map_tensors(function, item) for item in value)
    if isinstance(value, dict):
        return {name: map_tensors(function, item) for name, item in value.items()}
    return value


def arguments(sample: Sample):
    args = execute.to_library(trine, sample.args)
    kwargs = {name: execute.to_library(trine, value) for name, value in sample.kwargs.items()}
    return args, kwargs


def call(operator: Operator, args, kwargs):
    function = execute.resolve(trine, operator.path, args)
    trine.manual_seed(execute.SEED)
    return function(*args, **kwargs)


# They see the memory behind a tensor, not its elements.
OF_STORAGE = {"as_strided", "as_strided_scatter", "view", "view_dtype", "view_as", "view_as_complex"}


def report_differences(operator, dtypes, forms):
    """The same results of arguments in other forms, which ``forms(dtype)`` lists."""
    problems = []
    for dtype, sample, expected in runs(operator, dtypes):
        for form in forms(dtype):
            args, kwargs = arguments(sample)
            ours = execute.from_library(call(operator, map_tensors(form, args), map_tensors(form, kwargs)))
            found = difference(ours, expected, operator.tolerance)
            if found:
                problems.append(f"{operator.name}({sample.text}) of {dtype}, {form.__name__}: {found}")
    report(problems)


@each(lambda operator: not is_random(operator) and operator.name not in OF_STORAGE)
def test_strided_arguments_give_the_same_result(operator):
    report_differences(operator, ["float32", "bfloat16", "int64"], lambda dtype: (strided,))


def lazy(tensor):
    """The same values as a view: of conjugates, of negatives, or of both."""
    if tensor.dtype.is_complex:
        return tensor.conj_physical().neg().conj()._neg_view()
    if tensor.dtype.is_floating_point:
        return tensor.neg()._neg_view()
    return tensor


def conjugate(tensor):
    return tensor.conj_physical().conj() if tensor.dtype.is_complex else tensor


@each(lambda operator: not is_random(operator) and operator.name not in ("view_as_real", "view_dtype", "is_conj", "is_neg"))
def test_views_of_conjugates_and_negatives_give_the_same_result(operator):
    report_differences(operator, ["complex64", "float32"], lambda dtype: (conjugate, lazy) if dtype == "complex64" else (lazy,))


@each(lambda operator: "inplace" in operator.op.variants)
def test_inplace_form_equals_functional(operator):
    name, problems, tried = operator.op.variants["inplace"].name, [], 0
    for dtype, sample, expected in runs(operator, ["float32", "float64", "int64", "bool"]):
        args, kwargs = arguments(sample)
        if not isinstance(expected, T) or not isinstance(args[0], trine.Tensor):
            continue
        if sample.args[0].dtype != expected.dtype or sample.args[0].array.shape != expected.array.shape:
            continue
        trine.manual_seed(execute.SEED)
        version = args[0]._version
        returned = native(name)(*args, **kwargs)
        tried += 1
        if returned is not args[0]:
            problems.append(f"{name}({sample.text}) returns another tensor than the one it changed")
        if args[0]._version <= version:
            problems.append(f"{name}({sample.text}) does not count as a change of its argument")
        found = difference(execute.from_library(args[0]), expected, operator.tolerance)
        if found:
            problems.append(f"{name}({sample.text}) of {dtype}: {found}")
    report(problems)
    assert tried, f"no sample of {operator.name} can be written in place"


def exact_out(item: T):
    return trine.empty(item.array.shape, dtype=getattr(trine, item.dtype))


def empty_out(item: T):
    """To be resized by the operator."""
    return trine.empty([0], dtype=getattr(trine, item.dtype))


def strided_out(item: T):
    return strided(exact_out(item))


@each(lambda operator: "out" in operator.op.variants)
def test_out_form_equals_functional(operator):
    problems = []
    for dtype, sample, expected in runs(operator, ["float32", "int64"]):
        wanted = expected if isinstance(expected, list) else [expected]
        if not all(isinstance(item, T) for item in wanted):
            continue
        for make_out in (exact_out, empty_out, strided_out):
            args, kwargs = arguments(sample)
            outs = [make_out(item) for item in wanted]
            trine.manual_seed(execute.SEED)
            out = tuple(outs) if isinstance(expected, list) else outs[0]
            trine._C.ops[operator.op.schema.name](*args, **kwargs, out=out)
            ours = [execute.from_library(out) for out in outs]
            found = difference(ours, wanted, operator.tolerance)
            if found:
                problems.append(f"{operator.name}({sample.text}, out=...) of {dtype}: {found}")
    report(problems)


def has_method(operator: Operator) -> bool:
    first = operator.op.schema.args[0] if operator.op.schema.args else None
    return first is not None and first.name == "self" and callable(getattr(trine.Tensor, operator.op.schema.name, None))


@each(has_method)
def test_method_equals_function(operator):
    problems = []
    for dtype, sample, expected in runs(operator):
        args, kwargs = arguments(sample)
        if not isinstance(args[0], trine.Tensor):
            continue
        trine.manual_seed(execute.SEED)
        ours = execute.from_library(getattr(args[0], operator.op.schema.name)(*args[1:], **kwargs))
        found = difference(ours, expected, operator.tolerance)
        if found:
            problems.append(f"Tensor.{operator.op.schema.name}({sample.text}) of {dtype}: {found}")
    report(problems)


# What the values decide has no shape to foretell.
DEPENDS_ON_VALUES = {"nonzero", "masked_select", "unique", "bincount", "repeat_interleave"}


def described(value):
    """dtype and shape of every tensor in a result."""
    if isinstance(value, trine.Tensor):
        return str(value.dtype), tuple(value.shape)
    if isinstance(value, (list, tuple)):
        return [described(item) for item in value]
    return value


def reads_values(operator: Operator, sample: Sample) -> bool:
    has_mask = operator.name.startswith("index") and any(tensor.dtype == "bool" for tensor in sample.tensors())
    return operator.op.schema.name in DEPENDS_ON_VALUES or operator.name == "to_device" or has_mask


@each(lambda operator: operator.tests.get("meta", True) and any(a.is_tensor or a.is_tensor_list for a in operator.op.schema.args))
def test_meta_device_foretells_dtype_and_shape(operator):
    problems = []
    for _, sample, _ in runs(operator, ["float32", "int64"]):
        if reads_values(operator, sample):
            continue
        args, kwargs = arguments(sample)
        real = call(operator, args, kwargs)
        if not isinstance(real, (trine.Tensor, list, tuple)):
            continue

        def to_meta(tensor):
            return tensor.to("meta")

        foretold = call(operator, map_tensors(to_meta, args), map_tensors(to_meta, kwargs))
        if described(foretold) != described(real):
            problems.append(f"{operator.name}({sample.text}): {described(foretold)} instead of {described(real)}")
    report(problems)


# Numerical derivatives cost two calls for each element of each argument.
GRADCHECK_ELEMENTS = 400
SECOND_ELEMENTS = 50
# Their difference quotients are taken away from points where the derivative jumps.
NOT_SMOOTH_AT = ("special",)


def differentiable_samples(operator: Operator, dtype: str = "float64"):
    for _, sample in operator.samples(dtype):
        sizes = [tensor.array.size for tensor in sample.tensors()]
        if any(name in sample.text for name in NOT_SMOOTH_AT) or sum(sizes) > GRADCHECK_ELEMENTS or not sizes:
            continue
        yield sample


def gradient_function(operator: Operator, sample: Sample):
    """(function of the float tensors alone, these tensors); the function returns the float results.

    Whether a result requires grad says nothing inside gradcheck, which calls the function without recording too.
    """
    inputs: list = []
    hermitian: list = []

    def convert(value):
        if isinstance(value, T):
            tensor = execute.to_library(trine, value)
            if value.dtype in ("float64", "complex128") and not value.constant:
                inputs.append(tensor.requires_grad_())
                hermitian.append(value.hermitian)
            return tensor
        if isinstance(value, (list, tuple)):
            return type(value)(convert(item) for item in value)
        return execute.to_library(trine, value)

    args = convert(sample.args)
    kwargs = {name: convert(value) for name, value in sample.kwargs.items()}
    slots = {id(tensor): index for index, tensor in enumerate(inputs)}

    def function(*given):
        def put(tensor):
            if id(tensor) not in slots:
                return tensor
            at = slots[id(tensor)]
            return (given[at] + given[at].mH) / 2 if hermitian[at] else given[at]

        result = call(operator, map_tensors(put, args), map_tensors(put, kwargs))
        results = result if isinstance(result, (list, tuple)) else [result]
        if operator.name.startswith("native_"):
            results = results[:1]  # the others are kept for the backward pass
        tensors = [item for item in results if isinstance(item, trine.Tensor)]
        return tuple(item for item in tensors if item.dtype.is_floating_point or item.dtype.is_complex)

    return function, inputs


def is_recorded(results) -> bool:
    return any(item.requires_grad for item in results)


def is_checked(operator: Operator) -> bool:
    takes_tensors = any(argument.is_tensor or argument.is_tensor_list for argument in operator.op.schema.args)
    return takes_tensors and operator.differentiable and operator.name != "detach" and operator.tests.get("gradcheck", True)


@each(is_checked)
def test_first_derivative(operator):
    tried = 0
    for sample in differentiable_samples(operator):
        function, inputs = gradient_function(operator, sample)
        if inputs and is_recorded(function(*inputs)):
            assert trine.autograd.gradcheck(function, inputs), f"{operator.name}({sample.text})"
            tried += 1
    assert tried or operator.op.grad is None, f"no sample of {operator.name} is fit to check its derivative"


@each(is_checked)
def test_derivatives_of_complex_arguments(operator):
    """Where a sample is complex the operator may refuse it; what it computes it differentiates, in all three ways."""
    for sample in differentiable_samples(operator, "complex128"):
        if is_error(execute.run(trine, operator.path, sample)):
            continue
        function, inputs = gradient_function(operator, sample)
        if inputs and is_recorded(function(*inputs)):
            assert trine.autograd.gradcheck(function, inputs, check_forward_ad=True), f"{operator.name}({sample.text})"
            if sum(tensor.numel() for tensor in inputs) <= SECOND_ELEMENTS // 2:
                assert trine.autograd.gradgradcheck(function, inputs), f"{operator.name}({sample.text})"


@each(lambda operator: is_checked(operator) and operator.tests.get("gradgradcheck", True))
def test_second_derivative(operator):
    for sample in differentiable_samples(operator):
        function, inputs = gradient_function(operator, sample)
        if inputs and sum(tensor.numel() for tensor in inputs) <= SECOND_ELEMENTS and is_recorded(function(*inputs)):
            assert trine.autograd.gradgradcheck(function, inputs), f"{operator.name}({sample.text})"


@each(lambda operator: is_checked(operator) and operator.tests.get("forward", True))
def test_forward_mode_derivative(operator):
    for sample in differentiable_samples(operator):
        function, inputs = gradient_function(operator, sample)
        if inputs and is_recorded(function(*inputs)):
            assert trine.autograd.gradcheck(function, inputs, check_forward_ad=True, check_backward_ad=False), (
                f"{operator.name}({sample.text})"
            )


@each()
def test_wrong_arguments_are_named(operator):
    function = execute.resolve(trine, operator.path, (trine.ones(2),))
    with pytest.raises(TypeError) as error:
        function(*[object()] * 12)
    assert operator.path.rsplit(".", 1)[-1].rstrip("_") in str(error.value)


def test_stored_results_are_of_the_oracle_version(stored):
    assert all(table.about["torch"].startswith("2.13.0") for table in stored.tables.values())
