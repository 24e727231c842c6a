"""Signals of disproportionate reporting: the originals against what was released of them.

``rules`` reads what is asked for, ``asked`` finds out what can be counted, ``cases`` loads the
cases of both sides, ``run`` has the statements, and ``results`` holds what one call finds;
``signals`` is the call. The measures themselves (PRR, ROR, IC with their intervals, EBGM) are
macros in ``sql_macros/signals``.

Only the steward's form reads raw tables; ``released_only`` reads the released views, since
differences from the originals disclose what was withheld.
"""
