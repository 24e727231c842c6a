"""Follows one parameter through the calls that hand it on, as text: nothing is imported or run.

Functions are walked depth first in the order in which the code is written, each once. A call hands
the value on where an argument names it, or a name that was given it, one of its attributes, or what
``replace`` or a class makes of it. What the program chooses as it runs (methods of an object) is
not followed, but, where that is asked for, the entries of a registry that a loop runs by
``entry.run(...)``: the function of each is entered, in order.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby, pairwise

RUN = "run"
"""By which a loop runs the entries of a registry."""
Function = tuple[str, str]
"""Module and name."""


@dataclass
class Route:
    """Where the value goes."""

    forward: list[str] = field(default_factory=list)
    """Modules, one an entered function."""
    with_returns: list[str] = field(default_factory=list)
    """The same, and the caller's again after each call."""

    @property
    def stops(self) -> int:
        """Moves between modules, there and back."""
        return len([module for module, _ in groupby(self.with_returns)])

    @property
    def rooms(self) -> int:
        """Different modules."""
        return len(set(self.forward))

    def climbs(self, imports: dict[str, set[str]]) -> list[str]:
        """Calls from a module into one that stands higher: one with a longer chain of imports."""

        @cache
        def floor(module: str) -> int:
            return 1 + max(map(floor, imports[module]), default=0)

        rooms = [module for module, _ in groupby(self.forward)]
        return [f"{one} -> {other}" for one, other in pairwise(rooms) if floor(other) > floor(one)]


class Walker:
    """All functions of a package, by module."""

    def __init__(self, trees: dict[str, ast.Module], packages: set[str]) -> None:
        self.functions = {
            module: {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
            for module, tree in trees.items()
        }
        self.names = {module: _names(module, tree, packages) for module, tree in trees.items()}
        self.values = {module: _values(tree) for module, tree in trees.items()}
        self.registries = False

    def walk(
        self, module: str, function: str, parameter: str, *, registries: bool = False
    ) -> Route:
        """The way of one parameter of one function; ``registries``: entries are entered as well."""
        route, seen = Route(), set[Function]()
        self.registries = registries
        self._enter(route, seen, (module, function), {parameter})
        return route

    def _enter(self, route: Route, seen: set[Function], entered: Function, known: set[str]) -> None:
        module, name = entered
        route.forward.append(module)
        route.with_returns.append(module)
        if entered in seen:
            return
        seen.add(entered)

        def visit(node: ast.AST) -> None:
            for child in ast.iter_child_nodes(node):
                visit(child)
            if isinstance(node, ast.Call):
                for called in self._called(module, node.func):
                    if handed := self._handed(called, node, known):
                        self._enter(route, seen, called, handed)
                        route.with_returns.append(module)
            elif (
                isinstance(node, ast.Assign | ast.AnnAssign)
                and node.value is not None
                and _is_part(node.value, known)
            ):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    known.update(n.id for n in ast.walk(target) if isinstance(n, ast.Name))

        for statement in self.functions[module][name].body:
            visit(statement)

    def _called(self, module: str, function: ast.expr) -> list[Function]:
        found = None
        if isinstance(function, ast.Name):
            if function.id in self.functions[module]:
                return [(module, function.id)]
            found = self._defined(*self.names[module].get(function.id, ("", "")))
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            if function.attr == RUN and function.value.id not in self.names[module]:
                return self._registered(module) if self.registries else []
            base, name = self.names[module].get(function.value.id, ("", ""))
            found = self._defined(f"{base}.{name}", function.attr)
        return [found] if found else []

    def _registered(self, module: str) -> list[Function]:
        """The functions of the entries of the registries that a module names, in their order."""
        return [
            function
            for home, name in [(module, name) for name in self.values[module]]
            + list(self.names[module].values())
            if isinstance(entries := self.values.get(home, {}).get(name), ast.Tuple)
            for entry in entries.elts
            if isinstance(entry, ast.Name)
            for function in self._of_entry(home, entry.id)
        ]

    def _of_entry(self, module: str, name: str) -> list[Function]:
        """The functions that an entry of a registry is made with."""
        home, name = self.names[module].get(name, (module, name))
        entry = self.values.get(home, {}).get(name)
        if not isinstance(entry, ast.Call):
            return []
        given = [*entry.args, *(keyword.value for keyword in entry.keywords)]
        named = [each.id for each in given if isinstance(each, ast.Name)]
        return [(home, each) for each in named if each in self.functions.get(home, {})]

    def _defined(self, module: str, name: str) -> Function | None:
        """Where a name is defined that packages may hand on."""
        while module in self.functions:
            if name in self.functions[module]:
                return module, name
            if name not in self.names[module]:
                return None
            module, name = self.names[module][name]
        return None

    def _handed(self, called: Function, call: ast.Call, known: set[str]) -> set[str]:
        """The parameters that get it."""
        arguments = self.functions[called[0]][called[1]].args
        names = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args]]
        by_place = zip(names, call.args, strict=False)
        by_name = ((keyword.arg or "", keyword.value) for keyword in call.keywords)
        return {
            name
            for name, value in [*by_place, *by_name]
            if any(isinstance(n, ast.Name) and n.id in known for n in ast.walk(value))
        }


def _values(tree: ast.Module) -> dict[str, ast.expr]:
    """What the names of a module are set to."""
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {each.id: node.value for each in targets if isinstance(each, ast.Name)}
    return found


def _names(module: str, tree: ast.Module, packages: set[str]) -> dict[str, Function]:
    """What imported names mean."""
    package = module if module in packages else module.rpartition(".")[0]
    found: dict[str, Function] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            found |= {alias.asname or alias.name: (base, alias.name) for alias in node.names}
    return found


def _is_part(value: ast.expr, known: set[str]) -> bool:
    """Whether it is one of the names, an attribute of it, or a copy made of it."""
    while isinstance(value, ast.Attribute):
        value = value.value
    if isinstance(value, ast.Name):
        return value.id in known
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        given = [*value.args, *(keyword.value for keyword in value.keywords)]
        if value.func.id == "replace":
            return _is_part(given[0], known)
        return value.func.id[0].isupper() and any(_is_part(each, known) for each in given)
    return False
