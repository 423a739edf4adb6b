"""`Module`: the base class of all layers and models."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, TypeVar

import trine

from ..parameter import Buffer, Parameter, is_parameter
from . import _hooks
from ._conversion import Conversion
from ._hooks import (
    HOOKS_SEEN,
    HookDict,
    HookRegistration,
    _global_buffer_registration_hooks,
    _global_module_registration_hooks,
    _global_parameter_registration_hooks,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ._state import _EXTRA_STATE_KEY_SUFFIX, StateDict, _IncompatibleKeys
from ._traversal import Traversal

__all__ = [
    "_EXTRA_STATE_KEY_SUFFIX",
    "Module",
    "_IncompatibleKeys",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

_set = object.__setattr__


def typename(value: object) -> str:
    """Name of a value's type as error messages show it: `FloatTensor` kinds for tensors, else module and class."""
    if isinstance(value, trine.Tensor):
        return value.type()
    kind = value if isinstance(value, type) else type(value)
    module = kind.__module__
    return kind.__qualname__ if module in (None, "builtins") else f"{module}.{kind.__qualname__}"


def weight_and_bias(module: Module) -> tuple[Any, Any]:
    """`module.weight, module.bias` without two failed look-ups of attributes, which cost more than a small layer."""
    own = module._parameters
    try:
        return own["weight"], own["bias"]
    except KeyError:
        # Parametrised weights are attributes or properties, not parameters of the module.
        return module.weight, module.bias


def _addindent(text: str, spaces: int) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * spaces + line for line in rest)])


# Tables that exist on every module and hold hooks; `_is_full_backward_hook` tells which kind `_backward_hooks` are.
_HOOK_TABLES = ("_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_pre_hooks")
_PLAIN_TABLES = (
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class Module(HookRegistration, StateDict, Traversal, Conversion):
    """Base class of layers and models: assign parameters, buffers and child modules as attributes.

    Subclasses call `super().__init__()` first and define `forward`.

    >>> import trine
    >>> class Scale(trine.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = trine.nn.Parameter(trine.ones(1))
    ...     def forward(self, x):                         # (...) -> (...)
    ...         return x * self.factor
    >>> tuple(Scale()(trine.zeros(2, 3)).shape)
    (2, 3)
    """

    dump_patches: bool = False
    T_destination = TypeVar("T_destination", bound=dict[str, Any])
    # Written into the metadata of a state_dict; raise it when the layout of a layer's entries changes.
    _version: int = 1
    # True makes `__init__` hand its arguments on to the next class of a multiple inheritance.
    call_super_init: bool = False

    training: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            if kwargs:
                raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
            if args:
                raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        # Straight into the instance dict: __setattr__ would check each of these names against tables not there yet.
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_non_persistent_buffers_set"] = set()
        own["_is_full_backward_hook"] = None
        for name in _HOOK_TABLES:
            own[name] = HookDict()
        for name in _PLAIN_TABLES:
            own[name] = OrderedDict()
        own["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *input: Any) -> Any:
        """The computation of the module; every subclass defines it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if HOOKS_SEEN:
            return self._call_impl(*args, **kwargs)
        return self.forward(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if "_parameters" in own:
            if name in own["_parameters"]:
                return own["_parameters"][name]
            if name in own["_buffers"]:
                return own["_buffers"][name]
            if name in own["_modules"]:
                return own["_modules"][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _forget(self, name: str, *tables: str) -> None:
        """Remove `name` from everything that would hide or double a new registration."""
        own = self.__dict__
        own.pop(name, None)
        for table in tables:
            own[table].pop(name, None)
        own["_non_persistent_buffers_set"].discard(name)

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        params = own.get("_parameters")
        if is_parameter(value):
            if params is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif params is not None and name in params:
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if params is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, "_parameters", "_buffers")
            own["_modules"][name] = self._run_registration_hooks(_global_module_registration_hooks, name, value)
        elif params is not None and name in own["_modules"]:
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)")
            own["_modules"][name] = self._run_registration_hooks(_global_module_registration_hooks, name, value)
        elif isinstance(value, Buffer):
            if params is None:
                raise AttributeError("cannot assign buffer before Module.__init__() call")
            self._forget(name, "_parameters", "_modules", "_buffers")
            self.register_buffer(name, value, value.persistent)
        elif params is not None and name in own["_buffers"]:
            if value is not None and not isinstance(value, trine.Tensor):
                raise TypeError(f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)")
            own["_buffers"][name] = self._run_registration_hooks(_global_buffer_registration_hooks, name, value)
        else:
            if name in _HOOK_TABLES and value and not HOOKS_SEEN:
                HOOKS_SEEN.append(True)
            _set(self, name, value)

    def __delattr__(self, name: str) -> None:
        own = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            if name in own.get(table, ()):
                del own[table][name]
                own["_non_persistent_buffers_set"].discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        own = self.__dict__
        names = [*dir(type(self)), *own, *own["_parameters"], *own["_modules"], *own["_buffers"]]
        # Children of a container are called "0", "1": no attribute syntax reaches them.
        return sorted(name for name in names if not name[:1].isdigit())

    def __getstate__(self) -> dict:
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state: dict) -> None:
        own = self.__dict__
        own.update(state)
        own.setdefault("_is_full_backward_hook", None)
        own.setdefault("_non_persistent_buffers_set", set())
        for name in _PLAIN_TABLES:
            own.setdefault(name, OrderedDict())
        for name in _HOOK_TABLES:
            if type(own.get(name)) is not HookDict:  # an object pickled by PyTorch has plain tables
                own[name] = HookDict(own.get(name, ()))
        if any(own[name] for name in _HOOK_TABLES) and not HOOKS_SEEN:
            HOOKS_SEEN.append(True)

    def _run_registration_hooks(self, hooks: OrderedDict, name: str, value: Any) -> Any:
        for hook in hooks.values():
            replaced = hook(self, name, value)
            if replaced is not None:
                value = replaced
        return value

    def _check_new_name(self, kind: str, name: object, table: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in self.__dict__[table]:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')

    def register_buffer(self, name: str, tensor: trine.Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module's state but is not trained.

        `persistent=False` keeps it out of `state_dict`. KeyError for a name that is taken, empty or dotted.

        >>> import trine
        >>> m = trine.nn.Module()
        >>> m.register_buffer("mean", trine.zeros(3))
        >>> tuple(m.mean.shape)
        (3,)
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_new_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, trine.Tensor):
            raise TypeError(f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._buffers[name] = self._run_registration_hooks(_global_buffer_registration_hooks, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter; None reserves the name. KeyError for a name that is taken, empty or dotted."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_new_name("parameter", name, "_parameters")
        if param is not None:
            if not is_parameter(param):
                raise TypeError(f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)")
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                    f"To express '{name}' as a function of another Tensor, compute the value in the forward() method."
                )
            param = self._run_registration_hooks(_global_parameter_registration_hooks, name, param)
        self._parameters[name] = param

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child module; None reserves the name. KeyError for a name that is taken, empty or dotted."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_new_name("module", name, "_modules")
        self._modules[name] = self._run_registration_hooks(_global_module_registration_hooks, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """Alias of `add_module`."""
        self.add_module(name, module)

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the brackets of `repr`; layers override it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): " + _addindent(repr(module), 2) for name, module in self._modules.items()]
        if not lines and not children:
            return self._get_name() + "()"
        # A module with one line of options and no children fits on one line.
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({lines[0]})"
        return self._get_name() + "(\n  " + "\n  ".join(lines + children) + "\n)"


def __getattr__(name: str) -> Any:
    # The global hook tables are reached through this module, as users of them expect.
    if name.startswith("_global_"):
        return getattr(_hooks, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
