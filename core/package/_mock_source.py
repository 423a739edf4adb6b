"""What a package holds instead of a module that was mocked: this text, as the module ``_mock``."""

__all__ = ["MOCK_SOURCE", "MODULE_SOURCE"]

MOCK_SOURCE = '''"""Stands for modules that were left out of this package: they can be imported, and nothing in them can be used."""

_FREE = ("_name", "__class__", "__dict__", "__doc__", "__module__", "__reduce_ex__", "__reduce__", "__init_subclass__", "__mro_entries__")


class MockedObject:
    """Anything from a mocked module. Importing and subclassing it works, using it says that it was mocked."""

    _name: str

    def __new__(cls, *args, **kwargs):
        if not kwargs.get("_suppress_err"):
            raise NotImplementedError(f"an object of {cls.__module__}.{cls.__name__} is wanted, which was mocked when this package was made")
        return super().__new__(cls)

    def __init__(self, name, _suppress_err=False):
        self.__dict__["_name"] = name

    def __repr__(self):
        return f"MockedObject({self._name})"

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        raise _refusal(self._name)

    def __mro_entries__(self, bases):
        return (MockedObject,)


def _refusal(name):
    return NotImplementedError(f"{name} was mocked when this package was made, and is used now")


def _refuse(name):
    def method(self, *args, **kwargs):
        raise _refusal(self._name)

    method.__name__ = name
    return method


for _method in (
    "call delattr getitem setitem delitem len iter next contains enter exit bool int float index complex abs neg pos invert round "
    "add sub mul truediv floordiv mod divmod pow matmul lshift rshift and or xor radd rsub rmul rtruediv rfloordiv rmod rpow rmatmul "
    "iadd isub imul itruediv ifloordiv imod ipow imatmul lt le gt ge setattr await aiter anext aenter aexit reversed"
).split():
    setattr(MockedObject, f"__{_method}__", _refuse(f"__{_method}__"))
'''

MODULE_SOURCE = """from _mock import MockedObject


def __getattr__(attr: str):
    if attr == "__path__":
        raise AttributeError(attr)
    return MockedObject(__name__ + "." + attr, _suppress_err=True)
"""
