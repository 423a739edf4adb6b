"""The recorded graph: what is kept for the backward pass, and hooks on several gradients at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import trine
from trine import _C

__all__ = ["register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks"]

Tensor = _C.Tensor


class saved_tensors_hooks:
    """Inside the ``with`` block, tensors kept for a backward pass are kept as ``pack_hook(tensor)`` instead.

    ``unpack_hook`` gets that object when the backward pass wants the tensor, and must give a tensor of the same shape,
    dtype and values. Blocks may be nested; the innermost one is used.

    >>> import trine
    >>> x = trine.tensor([2.0], requires_grad=True)
    >>> with trine.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), lambda kept: trine.tensor(kept)):
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor([4.])
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        _C._push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exc: object) -> None:
        _C._pop_saved_tensors_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Inside the ``with`` block, tensors kept for a backward pass wait in main memory instead of on their device.

    ``pin_memory`` keeps them in page-locked memory, from where devices copy faster; without a device it changes nothing.

    >>> import trine
    >>> x = trine.ones(2, requires_grad=True)
    >>> with trine.autograd.graph.save_on_cpu():
    ...     y = (x * x).sum()
    >>> y.backward()
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple:
            kept = tensor.cpu()
            if pin_memory and tensor.device.type == device_type:
                kept = kept.pin_memory()
            return tensor.device, kept

        def unpack(packed: tuple) -> Tensor:
            device, kept = packed
            return kept.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


class _Handles:
    """Removes a hook that was registered in several places."""

    def __init__(self, handles: Sequence[Any]) -> None:
        self._handles = tuple(handles)

    def remove(self) -> None:
        """Take the hook off every tensor."""
        for handle in self._handles:
            handle.remove()

    def __enter__(self) -> _Handles:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all") -> _Handles:
    """Calls ``fn`` when gradients of ``tensors`` have been computed; returns a handle with ``remove()``.

    With ``mode="all"``, ``fn(list of gradients)`` runs once all of them have arrived, in the order of ``tensors``.
    With ``mode="any"``, ``fn(gradient)`` runs at the first that arrives in a backward pass; later ones do not count until every
    tensor has had its gradient.

    >>> import trine
    >>> a, b = trine.ones(1, requires_grad=True), trine.ones(1, requires_grad=True)
    >>> handle = trine.autograd.graph.register_multi_grad_hook((a, b), lambda grads: print(len(grads)))
    >>> (a * b).sum().backward()
    2
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    lock = threading.Lock()
    arrived: list[Tensor | None] = [None] * len(tensors)

    def arrival(position: int) -> Callable[[Tensor], None]:
        def hook(gradient: Tensor) -> None:
            with lock:
                first = all(g is None for g in arrived)
                arrived[position] = gradient
                gradients = list(arrived)
                complete = all(g is not None for g in gradients)
                if complete:
                    arrived[:] = [None] * len(arrived)
            if mode == "all" and complete:
                fn(gradients)
            elif mode == "any" and first:
                with trine.no_grad():
                    fn(gradient)

        return hook

    return _Handles([t.register_hook(arrival(i)) for i, t in enumerate(tensors)])
