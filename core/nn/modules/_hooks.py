"""Hooks of a module: the tables, the handles that remove an entry, and the call that honours them.

Hook tables are `HookDict`s. The first entry ever put into one switches `HOOKS_SEEN` on; as long as a program
uses no hook at all, a module call looks at this one list and nothing else.
"""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import trine

HOOKS_SEEN: list[bool] = []


class HookDict(OrderedDict):
    """Hook table in order of execution; notes that hooks exist in this process."""

    def __setitem__(self, key: Any, value: Any) -> None:
        if not HOOKS_SEEN:
            HOOKS_SEEN.append(True)
        super().__setitem__(key, value)


def has_call_hooks(module: Any) -> bool:
    """Whether a call of `module` is more than its forward."""
    if not HOOKS_SEEN:
        return False
    tables = module.__dict__
    return bool(
        tables["_forward_hooks"]
        or tables["_forward_pre_hooks"]
        or tables["_backward_hooks"]
        or tables["_backward_pre_hooks"]
        or _global_forward_hooks
        or _global_forward_pre_hooks
        or _global_backward_hooks
        or _global_backward_pre_hooks
    )


_handle_ids = itertools.count()


class RemovableHandle:
    """Entry of one or several hook tables, removed by `remove()` or at the end of a `with` block."""

    def __init__(self, hooks: OrderedDict, *, extra_dict: Any = None) -> None:
        self.id = next(_handle_ids)
        self.hooks_dict_ref = weakref.ref(hooks)
        extras = () if extra_dict is None else extra_dict if isinstance(extra_dict, (list, tuple)) else (extra_dict,)
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extras)

    def remove(self) -> None:
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            table = ref()
            if table is not None:
                table.pop(self.id, None)

    def __getstate__(self) -> tuple:
        return self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref)

    def __setstate__(self, state: tuple) -> None:
        hooks, self.id, *rest = state
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        extras = rest[0] if rest else ()
        self.extra_dict_ref = tuple(weakref.ref(OrderedDict() if d is None else d) for d in extras)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def add_hook(table: OrderedDict, hook: Callable, prepend: bool = False, marks: tuple[OrderedDict, ...] = ()) -> RemovableHandle:
    """Put `hook` into `table` and the handle's id, as a flag, into every table of `marks`."""
    handle = RemovableHandle(table, extra_dict=marks)
    table[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


_global_forward_hooks: OrderedDict[int, Callable] = HookDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_forward_pre_hooks: OrderedDict[int, Callable] = HookDict()
_global_backward_hooks: OrderedDict[int, Callable] = HookDict()
_global_backward_pre_hooks: OrderedDict[int, Callable] = HookDict()
# Whether the global backward hooks are "full" ones (True), legacy ones (False) or not chosen yet (None).
_global_is_full_backward_hook: bool | None = None
_global_parameter_registration_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_buffer_registration_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_module_registration_hooks: OrderedDict[int, Callable] = OrderedDict()


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, args)` before the forward of every module; a result replaces the arguments."""
    return add_hook(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook: Callable, *, with_kwargs: bool = False, always_call: bool = False) -> RemovableHandle:
    """Call `hook(module, args, output)` after the forward of every module; a result replaces the output."""
    marks = (_global_forward_hooks_with_kwargs,) * with_kwargs + (_global_forward_hooks_always_called,) * always_call
    return add_hook(_global_forward_hooks, hook, marks=marks)


def register_module_backward_hook(hook: Callable) -> RemovableHandle:
    """Legacy form of `register_module_full_backward_hook`: sees the gradients of the last operator only."""
    return _register_global_backward(hook, False)


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_output)` before the backward of every module."""
    return add_hook(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` after the backward of every module."""
    return _register_global_backward(hook, True)


def _register_global_backward(hook: Callable, full: bool) -> RemovableHandle:
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of them."
        )
    _global_is_full_backward_hook = full
    return add_hook(_global_backward_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, param)` whenever a parameter is registered; a result replaces it."""
    return add_hook(_global_parameter_registration_hooks, hook)


def register_module_buffer_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, buffer)` whenever a buffer is registered; a result replaces it."""
    return add_hook(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, submodule)` whenever a child is registered; a result replaces it."""
    return add_hook(_global_module_registration_hooks, hook)


class HookRegistration:
    """The hook part of `Module`: registration on one module, and the call that runs the hooks."""

    def register_forward_pre_hook(self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        """Call `hook(module, args)`, or `hook(module, args, kwargs)` with `with_kwargs`, before `forward`.

        A result replaces the arguments: a tuple or a single value, or `(args, kwargs)` with `with_kwargs`.
        """
        marks = (self._forward_pre_hooks_with_kwargs,) if with_kwargs else ()
        return add_hook(self._forward_pre_hooks, hook, prepend, marks)

    def register_forward_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` (`hook(module, args, kwargs, output)`) after `forward`.

        A result other than None replaces the output. `always_call` runs the hook even when `forward` raised.
        """
        marks = ()
        if with_kwargs:
            marks += (self._forward_hooks_with_kwargs,)
        if always_call:
            marks += (self._forward_hooks_always_called,)
        return add_hook(self._forward_hooks, hook, prepend, marks)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` before the gradients of this module are computed."""
        return add_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` once the gradients of this module's inputs are known."""
        if self._is_full_backward_hook is False:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
            )
        self._is_full_backward_hook = True
        return add_hook(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Legacy hook over the gradients of the module's last operator; prefer `register_full_backward_hook`."""
        if self._is_full_backward_hook is True:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
            )
        self._is_full_backward_hook = False
        return add_hook(self._backward_hooks, hook)

    def _backward_hook_lists(self) -> tuple[list, list, list]:
        """(full hooks, legacy hooks, pre-hooks), the global ones first."""
        full: list = []
        legacy: list = []
        if _global_backward_hooks:
            (full if _global_is_full_backward_hook is True else legacy).extend(_global_backward_hooks.values())
        if self._backward_hooks:
            (full if self._is_full_backward_hook is True else legacy).extend(self._backward_hooks.values())
        return full, legacy, [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        if not has_call_hooks(self):
            return self.forward(*args, **kwargs)
        called: set[int] = set()
        try:
            return self._forward_between_hooks(args, kwargs, called)
        except Exception:
            self._run_always_called(args, kwargs, called)
            raise

    def _forward_between_hooks(self, args: tuple, kwargs: dict, called: set[int]) -> Any:
        args, kwargs = self._run_pre_hooks(args, kwargs)
        full, legacy, backward_pre = self._backward_hook_lists()
        backward = None
        if full or backward_pre:
            backward = BackwardHook(self, full, backward_pre)
            args = backward.setup_input_hook(args)

        result = self.forward(*args, **kwargs)

        for table, with_kwargs in (
            (_global_forward_hooks, _global_forward_hooks_with_kwargs),
            (self._forward_hooks, self._forward_hooks_with_kwargs),
        ):
            for key, hook in tuple(table.items()):
                called.add(key)
                replaced = hook(self, args, kwargs, result) if key in with_kwargs else hook(self, args, result)
                if replaced is not None:
                    result = replaced
        if backward is not None:
            if not isinstance(result, (trine.Tensor, tuple)):
                warnings.warn(
                    f"For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received {type(result)}",
                    stacklevel=4,
                )
            result = backward.setup_output_hook(result)
        if legacy:
            self._attach_legacy_backward(legacy, result)
        return result

    def _run_pre_hooks(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        for key, hook in (*_global_forward_pre_hooks.items(), *self._forward_pre_hooks.items()):
            if key in self._forward_pre_hooks_with_kwargs:
                replaced = hook(self, args, kwargs)
                if replaced is not None:
                    if not (isinstance(replaced, tuple) and len(replaced) == 2):
                        raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {replaced}.")
                    args, kwargs = replaced
            else:
                replaced = hook(self, args)
                if replaced is not None:
                    args = replaced if isinstance(replaced, tuple) else (replaced,)
        return args, kwargs

    def _run_always_called(self, args: tuple, kwargs: dict, called: set[int]) -> None:
        """After an exception: the hooks that were promised a call and have not had it; they see output None."""
        for table, always, with_kwargs in (
            (_global_forward_hooks, _global_forward_hooks_always_called, _global_forward_hooks_with_kwargs),
            (self._forward_hooks, self._forward_hooks_always_called, self._forward_hooks_with_kwargs),
        ):
            for key, hook in tuple(table.items()):
                if key not in always or key in called:
                    continue
                try:
                    if key in with_kwargs:
                        hook(self, args, kwargs, None)
                    else:
                        hook(self, args, None)
                except Exception as error:
                    # The exception of forward is the one the caller has to see.
                    warnings.warn(
                        "module forward hook with ``always_call=True`` raised an exception that was silenced "
                        f"as another error was raised in forward: {error}",
                        stacklevel=4,
                    )

    def _attach_legacy_backward(self, hooks: list, result: Any) -> None:
        tensor = result
        while not isinstance(tensor, trine.Tensor):
            if isinstance(tensor, dict):
                tensor = next((v for v in tensor.values() if isinstance(v, trine.Tensor)), None)
            elif isinstance(tensor, (list, tuple)) and tensor:
                tensor = tensor[0]
            else:
                return
        if tensor.grad_fn is not None:
            for hook in hooks:
                tensor.grad_fn.register_hook(_BoundHook(hook, self))


class _BoundHook:
    """`hook` with the module as first argument; holds the module weakly, as gradient nodes outlive modules."""

    def __init__(self, hook: Callable, module: Any) -> None:
        self.hook = hook
        self.module = weakref.ref(module)

    def __call__(self, *args: Any) -> Any:
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args)


class BackwardHook:
    """Runs full backward hooks of one module call.

    An identity node in front of the inputs reports grad_input, one behind the outputs reports grad_output.
    """

    def __init__(self, module: Any, hooks: list, pre_hooks: list) -> None:
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_outputs: tuple | None = None
        self.input_positions: list[int] | None = None
        self.input_count = -1
        self.output_positions: list[int] = []
        self.output_count = -1

    def setup_input_hook(self, args: tuple) -> tuple:
        def attach(node: Any) -> None:
            node.register_hook(self._on_input_grads)

        result, self.input_positions = _through_identity(args, attach)
        self.input_count = len(args)
        return result

    def setup_output_hook(self, result: Any) -> Any:
        def attach(node: Any) -> None:
            node.register_prehook(self._on_output_grads)

        single = not isinstance(result, tuple)
        outputs, positions = _through_identity((result,) if single else result, attach)
        self.output_count = len(outputs)
        self.output_positions = positions or []
        return outputs[0] if single else outputs

    def _on_output_grads(self, grad_output: tuple) -> tuple | None:
        full = self._unpack(grad_output, self.output_positions, self.output_count)
        for hook in self.pre_hooks:
            replaced = hook(self.module, full)
            if replaced is not None:
                full = self._checked(replaced, len(full), "Backward pre hook", "grad_output")
        self.grad_outputs = full
        changed = tuple(full[i] for i in self.output_positions) if self.pre_hooks else None
        # Without an input that needs a gradient no input node exists: the hooks run here, with no grad_input.
        if self.input_positions is None and self.hooks:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no "
                "inputs require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#"
                "torch.nn.Module.register_full_backward_hook for more details.",
                stacklevel=5,
            )
            nothing = (None,) * self.input_count
            for hook in self.hooks:
                replaced = hook(self.module, nothing, full)
                if replaced is not None and any(g is not None for g in _as_tuple(replaced)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None for all gradients."
                    )
            self.grad_outputs = None
        return changed

    def _on_input_grads(self, grad_input: tuple, _: tuple) -> tuple | None:
        if self.grad_outputs is None:
            raise RuntimeError(
                "Module backward hook for grad_input is called before the grad_output one. This happens because "
                "the gradient in your nn.Module flows to the Module's input without passing through the Module's output. "
                "Make sure that the output depends on the input and that the loss is computed based on the output."
            )
        grads = self._unpack(grad_input, self.input_positions, self.input_count)
        for hook in self.hooks:
            replaced = hook(self.module, grads, self.grad_outputs)
            if replaced is not None:
                grads = self._checked(replaced, len(grads), "Backward hook", "grad_input")
        self.grad_outputs = None
        return tuple(grads[i] for i in self.input_positions)

    @staticmethod
    def _unpack(grads: tuple, positions: list[int], count: int) -> tuple:
        full: list = [None] * count
        for position, grad in zip(positions, grads, strict=False):
            full[position] = grad
        return tuple(full)

    @staticmethod
    def _checked(replaced: Any, expected: int, who: str, what: str) -> tuple:
        values = _as_tuple(replaced)
        if len(values) != expected:
            raise RuntimeError(f"{who} returned an invalid number of {what}, got {len(values)}, but expected {expected}")
        return values


def _as_tuple(value: Any) -> tuple:
    return value if isinstance(value, tuple) else (value,)


_identity: Any = None


def _identity_function() -> Any:
    global _identity
    if _identity is None:

        class BackwardHookFunction(trine.autograd.Function):
            @staticmethod
            def forward(ctx: Any, *tensors: trine.Tensor) -> tuple:
                ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
                return tuple(t.view_as(t) for t in tensors)

            @staticmethod
            def backward(ctx: Any, *grads: trine.Tensor) -> tuple:
                return grads

        _identity = BackwardHookFunction
    return _identity


def _through_identity(values: tuple, attach: Callable[[Any], None]) -> tuple[tuple, list[int] | None]:
    """Pass the tensors among `values` through one identity node; None for positions when no node was made."""
    positions = [i for i, v in enumerate(values) if isinstance(v, trine.Tensor)]
    if not (trine.is_grad_enabled() and any(values[i].requires_grad for i in positions)):
        return values, None
    outputs = _identity_function().apply(*[values[i] for i in positions])
    nodes = [t.grad_fn for t in outputs if t.grad_fn is not None]
    if not nodes:
        raise RuntimeError("Error while setting up backward hooks: the identity node recorded no gradient.")
    attach(nodes[0])
    result = list(values)
    for position, tensor in zip(positions, outputs, strict=False):
        result[position] = tensor
    return tuple(result), positions
