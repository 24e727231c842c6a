"""Named tuples that compiled code gets by their address.

Numba hands each part of a named tuple from function to function by itself, an array as seven
numbers, and counts references to each: with dozens of arrays that is most of what there is to
compile. What is passed by its address is one number, and a part of it is read where it is used.

A tuple does not change, and whoever calls a kernel holds it until the kernel ends: nothing has to
be counted.
"""

from __future__ import annotations

from typing import Any, TypeVar

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.pythonapi import NativeValue, unbox
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.core.typing.typeof import typeof, typeof_impl
from numba.extending import lower_builtin, type_callable

Class = TypeVar("Class", bound=type)
Tuple = TypeVar("Tuple")


class Address(types.Type):
    """The type of a named tuple that is passed by its address."""

    def __init__(self, parts: types.NamedTuple) -> None:
        self.parts = parts
        super().__init__(f"Address({parts})")


@register_default(Address)
class _AddressModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Address) -> None:
        kinds = [dmm.lookup(part).get_value_type() for part in fe_type.parts.types]
        super().__init__(dmm, fe_type, ir.LiteralStructType(kinds).as_pointer())


@infer_getattr
class _Parts(AttributeTemplate):
    key = Address

    def generic_resolve(self, address: Address, name: str) -> Any:  # type: ignore[override]
        """The type of a part; a named tuple within it is passed by its address, too."""
        if name not in address.parts.fields:
            return None
        part = address.parts.types[address.parts.fields.index(name)]
        return Address(part) if isinstance(part, types.NamedTuple) else part


@lower_getattr_generic(Address)
def _part(context: Any, builder: Any, address: Address, value: Any, name: str) -> Any:
    place = address.parts.fields.index(name)
    kind = address.parts.types[place]
    where = cgutils.gep_inbounds(builder, value, 0, place)
    if isinstance(kind, types.NamedTuple):
        return where
    read = builder.load(where)
    return impl_ret_borrowed(context, builder, kind, read)


@unbox(Address)
def _unbox(address: Address, given: Any, c: Any) -> NativeValue:
    parts = c.unbox(address.parts, given)
    where = cgutils.alloca_once_value(c.builder, parts.value)
    return NativeValue(where, is_error=parts.is_error, cleanup=parts.cleanup)


def by_address(kind: Class) -> Class:
    """A class of named tuples that kernels get by their address when Python calls them.

    Kernels read parts of it by their names, and hand it on.
    """

    @typeof_impl.register(kind)
    def _(given: Any, _: Any) -> Address:
        found = [typeof(part) for part in given]
        parts = [part.parts if isinstance(part, Address) else part for part in found]
        return Address(types.NamedTuple(parts, kind))

    return kind


def addressed(given: Tuple) -> Tuple:
    """In a kernel that made a tuple: the tuple for what takes it by its address.

    What it is made of has to be held by others meanwhile, as parts of the caller's arrays are.
    """
    return given


@type_callable(addressed)
def _type_of_addressed(_: Any) -> Any:
    def resolved(given: Any) -> types.Type:
        return Address(given) if isinstance(given, types.NamedTuple) else given

    return resolved


@lower_builtin(addressed, types.NamedTuple)
def _addressed(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return cgutils.alloca_once_value(builder, values[0])


@lower_builtin(addressed, Address)
def _as_it_is(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return values[0]
