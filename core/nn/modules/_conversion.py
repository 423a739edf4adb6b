"""Changing all tensors of a module at once: dtype, device, gradient flag, training mode."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import trine

from ..parameter import Parameter


def parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """(device, dtype, non_blocking, memory_format) from any form of `to(...)`'s arguments.

    Forms: `to(device=None, dtype=None, non_blocking=False)`, `to(dtype, non_blocking=False)`,
    `to(tensor, non_blocking=False)`, each with an optional `memory_format=`.
    """
    memory_format = kwargs.pop("memory_format", None)
    kwargs.pop("copy", None)
    names = ["device", "dtype", "non_blocking"]
    if args and isinstance(args[0], trine.dtype):
        names = ["dtype", "non_blocking"]
    elif (args and isinstance(args[0], trine.Tensor)) or (not args and "tensor" in kwargs):
        names = ["tensor", "non_blocking"]
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names) or any(name not in names or name in given for name in kwargs):
        got = ", ".join([type(a).__name__ for a in args] + [f"{k}={type(v).__name__}" for k, v in kwargs.items()])
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({got}), but expected one of:\n"
            " * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, *, "
            "torch.memory_format memory_format = None)\n"
            " * (torch.dtype dtype, bool non_blocking = False, *, torch.memory_format memory_format = None)\n"
            " * (Tensor tensor, bool non_blocking = False, *, torch.memory_format memory_format = None)\n"
        )
    given.update(kwargs)
    device, dtype = given.get("device"), given.get("dtype")
    if "tensor" in given:
        device, dtype = given["tensor"].device, given["tensor"].dtype
    if dtype is not None and not isinstance(dtype, trine.dtype):
        raise TypeError(f"to(): argument 'dtype' must be a dtype, not {type(dtype).__name__}")
    if device is not None:
        device = trine.device(device)
    return device, dtype, bool(given.get("non_blocking", False)), memory_format


def _keeps_identity(old: trine.Tensor, new: trine.Tensor) -> bool:
    """A meta tensor and a real one differ in kind: only a new parameter can take the other's place."""
    return type(new) is trine.Tensor and old.is_meta == new.is_meta


class Conversion:
    """The conversion part of `Module`."""

    def _apply(self, fn: Callable, recurse: bool = True) -> Any:
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is None:
                continue
            with trine.no_grad():
                applied = fn(param)
            grad = param.grad
            # Optimizers and users hold the parameter object: it stays, only its data changes.
            if applied is param or (_keeps_identity(param, applied) if type(applied) is trine.Tensor else False):
                param.data = applied
                kept = param
            else:
                kept = Parameter(applied, param.requires_grad)
                self._parameters[name] = kept
            if grad is not None:
                with trine.no_grad():
                    grad_applied = fn(grad)
                kept.grad = grad_applied.requires_grad_(grad.requires_grad)
        for name, buf in self._buffers.items():
            if buf is not None:
                self._buffers[name] = fn(buf)
        return self

    def apply(self, fn: Callable[[Any], None]) -> Any:
        """Call `fn` on every module of the tree, children first, and return this module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Move or cast all parameters and buffers in place; a dtype applies to the floating-point ones only.

        Forms: `to(device, dtype, non_blocking)`, `to(dtype)`, `to(tensor)`, `to(memory_format=channels_last)`.

        >>> import trine
        >>> trine.nn.Linear(2, 1).to(trine.float64).weight.dtype == trine.float64
        True
        """
        device, dtype, non_blocking, memory_format = parse_to(*args, **kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
            if dtype.is_complex:
                warnings.warn(
                    "Complex modules are a new feature under active development whose design may change, and some "
                    "modules might not work as expected when using complex tensors as parameters or buffers. "
                    "Please file an issue if a complex module does not work as expected.",
                    stacklevel=2,
                )

        def convert(t: trine.Tensor) -> trine.Tensor:
            target = dtype if t.is_floating_point() or t.is_complex() else None
            if device is not None and t.is_meta and device.type != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
                    "torch.nn.Module.to() when moving module from meta to a different device."
                )
            options: dict[str, Any] = {}
            if device is not None:
                options["device"] = device
            if target is not None:
                options["dtype"] = target
            if memory_format is not None and t.dim() in (4, 5):
                options["memory_format"] = memory_format
            if not options:
                return t
            return t.to(non_blocking=non_blocking, **options)

        return self._apply(convert)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Move to `device` with uninitialised memory, as needed after building a module on the meta device."""
        return self._apply(lambda t: trine.empty_like(t, device=device), recurse=recurse)

    def cpu(self) -> Any:
        """Move all parameters and buffers to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Any:
        """Move all parameters and buffers to a CUDA device."""
        return self._apply(lambda t: t.cuda(device))

    def xpu(self, device: Any = None) -> Any:
        """Move all parameters and buffers to an XPU device; RuntimeError where there is none."""
        return self._apply(lambda t: t.to(device if device is not None else "xpu"))

    def type(self, dst_type: Any) -> Any:
        """Cast all parameters and buffers, integer ones included, to `dst_type`."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Any:
        """Cast floating-point parameters and buffers to float32."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Any:
        """Cast floating-point parameters and buffers to float64."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Any:
        """Cast floating-point parameters and buffers to float16."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Any:
        """Cast floating-point parameters and buffers to bfloat16."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def share_memory(self) -> Any:
        """Move all tensors into memory that other processes can map."""
        return self._apply(lambda t: t.share_memory_())

    def train(self, mode: bool = True) -> Any:
        """Set training mode (dropout drops, batch norm uses batch statistics) on the whole tree."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Any:
        """Set evaluation mode; the same as `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Freeze (False) or unfreeze all parameters."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros when `set_to_none=False`."""
        for param in self.parameters():
            grad = param.grad
            if grad is None:
                continue
            if set_to_none:
                param.grad = None
            else:
                if grad.grad_fn is not None:
                    grad.detach_()
                else:
                    grad.requires_grad_(False)
                grad.zero_()
