"""Kernels within kernels: what a kernel calls is compiled with it, and not by itself as well.

Numba makes machine code of every function that compiled code calls, with all that this one calls
in turn, and then again of each of their callers: a function at the bottom of a search is optimized
as often as there are functions above it. Here a function that is called by a kernel is translated
once, and optimized where somebody calls that kernel from Python. A kernel that both call is
compiled for Python as any other.
"""

from __future__ import annotations

from typing import Any

from numba.core import sigutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering


class _Library(JITCodeLibrary):
    """Code that waits for what calls it."""

    def _optimize_functions(self, module: Any) -> None:
        """Whoever links it in does that."""

    def _optimize_final_module(self) -> None:
        """So it does that."""

    def _finalize_final_module(self) -> None:
        """No machine code is made."""
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Translation(NativeLowering):
    _name = "translation_within_kernels"

    def run_pass(self, state: Any) -> bool:
        """Lower a function for others to link in."""
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        asked, state.flags = state.flags, _within(state.flags)
        done = bool(super().run_pass(state))
        state.flags = asked
        known_by = object()  # what numba finds it by; nobody calls it
        state.targetctx.insert_user_function(known_by, state.cr.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state["cr"] = state.cr._replace(cfunc=known_by)
        return done


def _within(flags: Flags) -> Any:
    found: Any = flags.copy()
    found.no_compile = found.no_cpython_wrapper = found.no_cfunc_wrapper = True
    return found


class _Compiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        """Numba's own, with another end."""
        found = DefaultPassBuilder.define_nopython_pipeline(self.state)
        found.passes = [
            (_Translation if each is NativeLowering else each, said) for each, said in found.passes
        ]
        found.finalize()
        return [found]


class _Within(CPUDispatcher):
    """Translations of a function, by the types of its arguments; Python calls none of them."""

    def add_overload(self, made: Any) -> None:
        """Keep one where compiled code finds it."""
        self.overloads[tuple(made.signature.args)] = made


class KernelDispatcher(CPUDispatcher):
    """Compiles a function once for Python, and once for kernels, where these call it."""

    _own: Any = None

    def _for_kernels(self) -> Any:
        if self._own is None:
            self._own = _Within(
                self.py_func, self.locals, dict(self.targetoptions), pipeline_class=_Compiler
            )
        return self._own

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """How a kernel calls it. Numba would translate it again for each number that stands in the
        text of a caller."""
        plain = tuple(map(types.unliteral, args))
        named = {name: types.unliteral(each) for name, each in kws.items()}
        return self._for_kernels().get_call_template(plain, named)

    def get_overload(self, signature: Any) -> Any:
        """What numba finds the translation for kernels by."""
        args, _ = sigutils.normalize_signature(signature)
        return self._for_kernels().overloads[tuple(args)].entry_point
