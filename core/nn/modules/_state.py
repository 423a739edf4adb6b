"""state_dict and load_state_dict of a module: what is written, what is matched, what is said when it does not fit."""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import trine

from ..parameter import Parameter, is_lazy, is_parameter
from ._hooks import RemovableHandle, add_hook

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(NamedTuple("IncompatibleKeys", [("missing_keys", list), ("unexpected_keys", list)])):
    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class _WrappedHook:
    """A hook that survives pickling and, when a module is given, receives it first (held weakly)."""

    def __init__(self, hook: Callable, module: Any = None) -> None:
        self.hook = hook
        self.with_module = module is not None
        if module is not None:
            self.module = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict:
        state = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state: dict) -> None:
        self.hook = state["hook"]
        self.with_module = state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{k}"' for k in keys)


class StateDict:
    """The state_dict part of `Module`."""

    def get_extra_state(self) -> Any:
        """Value to store beside parameters and buffers; override together with `set_extra_state`."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called. Please file an issue to report this bug."
        )

    def set_extra_state(self, state: Any) -> None:
        """Receive what `get_extra_state` returned when the state_dict was made."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called. Please file an issue to report this bug."
        )

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before this module writes its state."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after this module wrote its state."""
        hook._from_public_api = True
        return add_hook(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered "
                "via register_state_dict_post_hook"
            )
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable, with_module: bool = False) -> RemovableHandle:
        return add_hook(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after loading; the hook may change the two lists in place."""
        return add_hook(self._load_state_dict_post_hooks, hook)

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars else param.detach()
        for name, buf in self._buffers.items():
            if buf is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buf if keep_vars else buf.detach()
        if type(self).get_extra_state is not StateDict.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def state_dict(self, *args: Any, destination: dict | None = None, prefix: str = "", keep_vars: bool = False) -> dict:
        """Parameters and persistent buffers by dotted name, sharing storage with the module.

        `prefix` is put in front of every name; `keep_vars=True` keeps the tensors attached to autograd.

        >>> import trine
        >>> list(trine.nn.Linear(2, 1).state_dict(prefix="head."))
        ['head.weight', 'head.bias']
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            destination = args[0] if destination is None else destination
            if len(args) > 1 and prefix == "":
                prefix = args[1]
            if len(args) > 2 and keep_vars is False:
                keep_vars = args[2]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, local_metadata)
            if getattr(hook, "_from_public_api", False):
                if replaced is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif replaced is not None:
                destination = replaced
        return destination

    def _load_from_state_dict(
        self,
        state_dict: dict,
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take this module's own entries (not the children's) out of `state_dict`; problems go into the lists."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

        assign = local_metadata.get("assign_to_params_buffers", False)
        persistent = ((n, b) for n, b in self._buffers.items() if n not in self._non_persistent_buffers_set)
        local = {n: t for n, t in itertools.chain(self._parameters.items(), persistent) if t is not None}
        for name, current in local.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            problem = self._load_entry(name, key, current, state_dict[key], assign)
            if problem is not None:
                error_msgs.append(problem)

        extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not StateDict.set_extra_state:
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)

        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra_key:
                    first, *rest = key[len(prefix) :].split(".", 1)
                    if rest:
                        if first not in self._modules:
                            unexpected_keys.append(key)
                    elif first not in local:
                        unexpected_keys.append(key)

    def _load_entry(self, name: str, key: str, current: Any, value: Any, assign: bool) -> str | None:
        """Load one tensor; the sentence that describes the problem, or None when it fitted."""
        if not isinstance(value, trine.Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(value)}"
            )
        if is_lazy(current):
            if not is_lazy(value):
                return f"{key}: an uninitialized parameter cannot take values; call forward first, or load into a lazy module"
            return None
        if is_lazy(value):
            return f"While copying the parameter named \"{key}\", the checkpoint's parameter is uninitialized and the model's is not."
        # Checkpoints written before 0-dim tensors existed hold scalars as one element vectors.
        if current.dim() == 0 and value.dim() == 1 and value.shape[0] == 1:
            value = value[0]
        if value.shape != current.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
                f"the shape in current model is {current.shape}."
            )
        if current.is_meta and not value.is_meta and not assign:
            warnings.warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current "
                "model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary "
                "to their corresponding key in the module instead of copying them in place?)",
                stacklevel=2,
            )
        try:
            with trine.no_grad():
                if assign:
                    if is_parameter(current):
                        if is_parameter(value):
                            value.requires_grad_(current.requires_grad)
                        else:
                            value = Parameter(value, requires_grad=current.requires_grad)
                    setattr(self, name, value)
                elif not current.is_meta:
                    current.copy_(value)
        except Exception as error:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are {current.size()} and '
                f"whose dimensions in the checkpoint are {value.size()}, an exception occurred : {error.args}."
            )
        return None

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> _IncompatibleKeys:
        """Copy parameters and buffers from `state_dict` into this module and its children.

        With `strict` every key has to match, otherwise RuntimeError lists all that do not. `assign=True` puts the
        given tensors in place (dtype and device included) instead of copying their values.
        Returns the pair `(missing_keys, unexpected_keys)`.

        >>> import trine
        >>> a, b = trine.nn.Linear(2, 1), trine.nn.Linear(2, 1)
        >>> b.load_state_dict(a.state_dict())
        <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        # Hooks may add and remove keys; the caller's mapping stays as it is.
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata

        def load(module: Any, entries: dict, prefix: str) -> None:
            local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
            if assign:
                local_metadata["assign_to_params_buffers"] = assign
            module._load_from_state_dict(entries, prefix, local_metadata, True, missing, unexpected, errors)
            for name, child in module._modules.items():
                if child is not None:
                    below = prefix + name + "."
                    load(child, {k: v for k, v in entries.items() if k.startswith(below)}, below)
            incompatible = _IncompatibleKeys(missing, unexpected)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, incompatible) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                        "values, if incompatible_keys need to be modified, it should be done inplace."
                    )

        load(self, state_dict, "")
        if strict:
            if unexpected:
                errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
            if missing:
                errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if errors:
            raise RuntimeError("Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(errors)))
        return _IncompatibleKeys(missing, unexpected)
