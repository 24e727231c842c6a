"""SQL macros, one topic a file; `MACRO_FILES` is the order of installation."""

MACRO_FILES: tuple[str, ...] = ()
